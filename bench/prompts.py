"""Let a reader extract memories from windows of every data set, through the `command` driver, and check them.

The program of the driver (`bench/hand_over.py`) writes each prompt to a file in FOLDER and waits for the file with the
answer. All windows are sent at the same time. A reader, a person or a model without an API, answers the files in any
order; then the results are printed. The same command prints them again as long as FOLDER keeps the answers.

FOLDER/facts.json is optional: it maps the name of a window to a list of facts, each a list of regular expressions. A
fact is kept if one memory matches each of its expressions. Write the file before you answer.

Run: python -m bench.prompts FOLDER [--seed 7] [--each 5] [--hours 12]
"""

import argparse
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import hand_over
from bench.prompt_windows import Drawn, drawn
from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.model_calls import Answer, Prompt, Spender
from slowwave_server.domain.model_extraction import KnownContext, read_answer, read_window
from slowwave_server.services.extraction.model_extractor import ModelExtractor
from slowwave_server.services.llm.command_driver import CommandDriver

MAX_OUTPUT_TOKENS = 32_000
NO_REPLY = "NO_REPLY"

Facts = Sequence[Sequence[str]]


@dataclass(slots=True)
class Driven:
    """An AskModel without a budget: only the driver. data: its last answer."""

    driver: CommandDriver
    seconds: float
    data: Any = field(default=None)

    @property
    def name(self) -> str:
        return self.driver.name

    def ask(self, prompt: Prompt, spender: Spender) -> Answer:  # noqa: ARG002 - the contract's
        """Send the prompt once."""
        answer = self.driver.complete(prompt, max_output_tokens=MAX_OUTPUT_TOKENS, timeout_seconds=self.seconds)
        self.data = answer.data
        return answer


@dataclass(frozen=True, slots=True)
class Knows:
    """The known memories of a drawn window's scope."""

    known: KnownContext

    def read(self, context: ExtractionContext, words: str, before: object) -> KnownContext:  # noqa: ARG002 - the contract's
        """Return the same memories for every window."""
        return self.known


@dataclass(frozen=True, slots=True)
class Read:
    """A window with its answer. refused: each memory that the checks dropped, with the reason."""

    drawn: Drawn
    extraction: Extraction
    written: int
    refused: tuple[tuple[str, str], ...]

    def kept(self, facts: Facts) -> list[bool]:
        """Return for each fact True if a memory contains it."""
        texts = [memory.content for memory in self.extraction.candidates]
        return [any(all(re.search(word, text, re.IGNORECASE) for word in fact) for text in texts) for fact in facts]


def read(one: Drawn, folder: Path, seconds: float) -> Read:
    """Send one window as a flush does, and wait for the answer."""
    program = shlex.join([sys.executable, hand_over.__file__, str(folder), one.name])
    model = Driven(CommandDriver(program), seconds)
    extractor = ModelExtractor(model, RulesExtractor(), Knows(one.known), NO_REPLY)
    extraction = extractor.extract(one.window, one.context, one.window.events[-1].happened_at)
    items = model.data["memories"] if isinstance(model.data, Mapping) else model.data or []
    return Read(one, extraction, len(items), tuple(_refused(items, one)))


def _refused(items: Sequence[Any], one: Drawn) -> list[tuple[str, str]]:
    """Check each memory separately, because the extraction only counts the reasons."""
    asked = read_window(one.window, one.context)
    checked = [(item, read_answer([item], asked, one.context, one.known).dropped) for item in items]
    return [(why, str(item.get("content", item))) for item, dropped in checked for why in dropped]


def tell(found: Sequence[Read], facts: Mapping[str, Facts]) -> None:
    """Print every refused memory, each missing fact, and the totals."""
    refused: Counter[str] = Counter()
    kept: list[bool] = []
    memories: list[Candidate] = []
    for one in found:
        memories += one.extraction.candidates
        refused.update(why for why, _ in one.refused)
        for why, content in one.refused:
            print(f"{one.drawn.name}: {why}: {content}")
        if (made := one.extraction.made) is not None and made.fallback:
            print(f"{one.drawn.name}: left to the rules: {made.why}")
        of_window = facts.get(one.drawn.name, ())
        is_kept = one.kept(of_window)
        kept += is_kept
        for fact, there in zip(of_window, is_kept, strict=True):
            if not there:
                print(f"{one.drawn.name}: missing: {' & '.join(fact)}")
    print(f"windows {len(found)}, memories written {sum(one.written for one in found)}, accepted {len(memories)}")
    print(f"refused: {dict(refused)}")
    print(f"facts kept: {sum(kept)} of {len(kept)}")
    print(f"repeats of known memories: {sum(memory.repeats is not None for memory in memories)}")
    print(f"corrections of known memories: {sum(memory.corrects is not None for memory in memories)}")
    dated = Counter(signal for memory in memories for signal in memory.signals if signal.startswith("dated"))
    print(f"dated: {dict(dated)}")


def main() -> int:
    """Pass the prompts on, wait for the answers, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--each", type=int, default=5, help="windows of each data set")
    parser.add_argument("--hours", type=float, default=12, help="how long an answer may take")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    windows = drawn(options.seed, options.each)
    facts = options.folder / "facts.json"
    print(f"{len(windows)} prompts are written to {options.folder}: answer each one", flush=True)
    with ThreadPoolExecutor(len(windows)) as pool:
        found = list(pool.map(lambda one: read(one, options.folder, options.hours * 3600), windows))
    tell(found, json.loads(facts.read_text(encoding="utf-8")) if facts.is_file() else {})
    return 0


if __name__ == "__main__":
    sys.exit(main())
