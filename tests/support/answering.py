"""A model for tests of what is made of answers: it says what it is told to, and remembers who asked what."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from slowwave_server.domain.model_calls import Answer, Prompt, Spender

Reply = Callable[[Prompt], Any]


@dataclass
class Oracle:
    """Answers a prompt with `reply(prompt)`: text, JSON for a prompt with a schema, or an exception that is raised."""

    reply: Reply
    name: str = "test oracle-1"
    asked: list[tuple[Prompt, Spender]] = field(default_factory=list)

    def ask(self, prompt: Prompt, spender: Spender) -> Answer:
        self.asked.append((prompt, spender))
        said = self.reply(prompt)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        data = None if prompt.schema is None else json.loads(text)
        return Answer(text, data, len(prompt.user) // 4, len(text) // 4, self.name)

    def asked_for(self, purpose: str) -> list[Prompt]:
        return [prompt for prompt, _ in self.asked if prompt.purpose == purpose]
