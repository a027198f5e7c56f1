"""A model behind a command: the prompt on its stdin, one sentence on its stdout. For jobs that name an `llm_command`.

A command that is missing, fails, or takes too long gives no sentence, and nothing else happens: the two memories stay
as they are. What was said in conversations stands fenced in the prompt, as data.

Must not know: which memories are alike, what becomes of the answer.
"""

import shlex
import subprocess
from dataclasses import dataclass

from services.consolidation.synthesis import ModelFailed, Sentence
from slowwave.recall.rendering import Block, fenced

TIMEOUT_SECONDS = 60.0
MAX_ANSWER_CHARACTERS = 4000
MAX_CALLS_PER_RUN = 20
"""A run asks no more often than this: what is left stays linked as related, and the next run may go on."""

_CHARACTERS_A_TOKEN = 4
_TASK = (
    "Two notes about the same are given below. Answer with ONE sentence that says what both say, with their names, "
    "numbers and dates, and nothing else. Answer NONE if they do not speak of the same or contradict each other.\n\n"
)


@dataclass(frozen=True, slots=True)
class CommandModel:
    """Runs `command` (as a shell would split it, without a shell) once for every question."""

    command: str
    timeout_seconds: float = TIMEOUT_SECONDS

    def synthesise(self, first: str, second: str) -> Sentence:
        """Ask for one sentence. Raises ModelFailed."""
        prompt = _TASK + fenced([Block("The notes", [first, second])])
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise ModelFailed(f"llm_command can't be read ({error}): {self.command}") from None
        if not words:
            raise ModelFailed("llm_command is empty")
        try:
            done = subprocess.run(  # noqa: S603 (the operator's own command, without a shell)
                words, input=prompt, capture_output=True, text=True, timeout=self.timeout_seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise ModelFailed(f"{words[0]} gave no answer within {self.timeout_seconds:g} s", _tokens(prompt)) from None
        except (OSError, UnicodeError) as error:
            raise ModelFailed(f"{words[0]} can't be run: {error}") from None
        spent = _tokens(prompt + done.stdout)
        if done.returncode:
            raise ModelFailed(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()[:200]}", spent)
        answer = done.stdout.strip()
        if not answer or answer.upper().rstrip(".") == "NONE" or len(answer) > MAX_ANSWER_CHARACTERS:
            raise ModelFailed(f"{words[0]} found no sentence for the two", spent)
        return Sentence(answer, spent)


@dataclass
class CallsPerRun:
    """A budget of calls: each one counts, whether it succeeds or not."""

    left: int = MAX_CALLS_PER_RUN

    def reserve(self, tokens: int) -> "CallsPerRun | None":  # noqa: ARG002 (calls are what is counted here)
        """Take one call, where one is left."""
        if self.left <= 0:
            return None
        self.left -= 1
        return self

    def settle(self, tokens: int) -> None:
        """Nothing to give back: a call that failed was a call."""


def _tokens(text: str) -> int:
    return len(text) // _CHARACTERS_A_TOKEN + 1
