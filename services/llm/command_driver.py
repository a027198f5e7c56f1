"""The driver for a program that reads the prompt from stdin and writes the answer to stdout, such as any CLI of a
model.

    exit status 0      its output is the answer
    exit status 75     EX_TEMPFAIL: retry later (`Unanswered`)
    anything else      `ModelFailed`

The program runs without a shell, in its own process group, which is killed at the end of the call or after the time
limit. Its stderr is discarded, because it may contain the prompt.
"""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from threading import Thread
from typing import IO

from slowwave.recall.tokens import estimate
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt, Unanswered
from slowwave_server.services.llm.answers import read_answer, schema_words

MAX_ANSWER_BYTES = 4_000_000
_BAD_SETTING = "the command can't be read ({}): look at memory.llm.command, or the job's llm_command"


@dataclass(frozen=True)
class CommandDriver:
    """Runs `command`, split as a shell would split it, once for every question. model: the model's name, or ""."""

    command: str = field(repr=False)
    model: str = ""
    monotonic: Callable[[], float] = field(default=time.monotonic, repr=False)

    @property
    def name(self) -> str:
        return f"command {self.model or self._program}"

    @property
    def endpoint(self) -> str:
        return f"command-{self._program}-{sha256(self.command.encode()).hexdigest()[:12]}"

    @property
    def _program(self) -> str:
        """The program without its folder and its arguments, which may contain a key."""
        try:
            return PurePath(shlex.split(self.command)[0]).name
        except (ValueError, IndexError):
            return "unreadable"

    def complete(self, prompt: Prompt, *, max_output_tokens: int, timeout_seconds: float) -> Answer:
        """Send the prompt once. The program itself limits its answer: its environment contains max_output_tokens as
        MAX_OUTPUT_TOKENS.

        The number of tokens is estimated. Raises Unanswered, UnfitAnswer, ModelFailed.
        """
        asked = prompt.system + ("" if prompt.schema is None else schema_words(prompt.schema)) + "\n\n" + prompt.user
        spent = estimate(asked)
        run = _Run(self._started(max_output_tokens), asked.encode("utf-8", "replace"))
        try:
            status = run.wait(self.monotonic, timeout_seconds)
        finally:
            run.end()
        if status is None:
            raise Unanswered(f"{self._program} gave no answer within {timeout_seconds:g} s", tokens=None)
        said = run.answer.decode("utf-8", "replace")
        wrote = estimate(said)
        if status == os.EX_TEMPFAIL:
            raise Unanswered(f"{self._program} can't answer now (exit status {status})", tokens=spent + wrote)
        if status != 0:
            how = f"exit status {status}" if status > 0 else f"signal {-status}"
            raise ModelFailed(f"{self._program} ended with {how}", spent + wrote)
        if len(run.answer) > MAX_ANSWER_BYTES:
            raise ModelFailed(f"{self._program} wrote more than {MAX_ANSWER_BYTES:,} bytes", spent + wrote)
        text, data = read_answer(prompt, said, spent + wrote)
        return Answer(text, data, spent, wrote, self.model or self._program)

    def _started(self, max_output_tokens: int) -> "subprocess.Popen[bytes]":
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise ModelFailed(_BAD_SETTING.format(error)) from None
        if not words:
            raise ModelFailed(_BAD_SETTING.format("it is empty"))
        try:
            return subprocess.Popen(  # noqa: S603 (the operator's own command, without a shell)
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "MAX_OUTPUT_TOKENS": str(max_output_tokens)},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "its name holds a NUL"
            raise ModelFailed(f"{self._program} can't be run: {why}") from None


class _Run:
    """One process, and two threads that write its input and read its output, so that neither pipe blocks the other."""

    def __init__(self, process: "subprocess.Popen[bytes]", question: bytes) -> None:
        self.process = process
        self.answer = b""
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process has no pipes")
        self._threads = [
            Thread(target=self._feed, args=(process.stdin, question), daemon=True),
            Thread(target=self._read, args=(process.stdout,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, monotonic: Callable[[], float], seconds: float) -> int | None:
        """Return its exit status after it has closed its output and ended; None if the time is up."""
        deadline = monotonic() + seconds
        self._threads[1].join(seconds)
        if self._threads[1].is_alive():
            return None
        if len(self.answer) > MAX_ANSWER_BYTES:
            return 0
        try:
            return self.process.wait(max(deadline - monotonic(), 0))
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Kill the rest of the group. Its id can't be reused before the first process has been waited for."""
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for thread in self._threads:
            thread.join()

    def _feed(self, stdin: IO[bytes], question: bytes) -> None:
        try:
            with stdin:
                stdin.write(question)
        except BrokenPipeError:
            pass  # a program may answer before it has read the whole prompt

    def _read(self, stdout: IO[bytes]) -> None:
        with stdout:
            self.answer = stdout.read(MAX_ANSWER_BYTES + 1)
