"""A small judge of meaning that runs offline: how useful a statement is to remember, and how two statements relate.

Both models are fine-tuned from all-MiniLM-L6-v2 and run with int8 weights on one core. README.md names the training
data and the accuracy on held-out data.

The package imports nothing of Slowwave; the caller passes plain text.
"""

import json
from collections.abc import Sequence

from slowwave_judge.pairs import PAIRS_NAME, PairJudge, Relation
from slowwave_judge.runtime import PACKAGE, Network

__all__ = ["NAME", "PAIRS_NAME", "Judge", "PairJudge", "Relation"]

NAME: str = json.loads((PACKAGE / "card.json").read_text("utf-8"))["name"]
"""The name of the model: it changes with the weights."""


class Judge:
    """The model of usefulness. The constructor loads it, which takes 0.2 seconds; create it after a fork.

    Example:
        >>> useful, junk = Judge().worth([("Maya is allergic to nuts.", "agent, user, fact"),
        ...                               ("Maya thinks that's great.", "agent, user, fact")])
        >>> useful > junk
        True
    """

    def __init__(self) -> None:
        self._network = Network("model.onnx", "tokenizer.json", shorten="only_first", output="worth")

    def worth(self, statements: Sequence[tuple[str, str]]) -> list[float]:
        """Judge how useful statements will be later to an agent that reads them without their conversation.

        Args:
            statements: the text of each statement, and "TALK, ROLE, TYPE": the kind of talk ("agent", "pair" or
                "group"), the speaker's role, and the type of the memory.

        Returns:
            A number from 0 (useless) to 1 for each, in the order of the statements.
        """
        return [self._network(text, about)[0] for text, about in statements]
