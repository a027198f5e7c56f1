"""Record messages that hosts send, and new lines of their conversation files.

The idempotency key of a message is the id that the host's program gave it. So it is recorded once, however often a hook
runs.
"""

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from slowwave.errors import shown
from slowwave.hosts import claude_code, codex, opencode
from slowwave.hosts.sinks import Place, Sink
from slowwave.hosts.transcripts import Mark, new_lines
from slowwave.memory import Memory
from slowwave.spool import replace_file

log = logging.getLogger(__name__)

BATCH_MESSAGES = 50
BATCH_CHARACTERS = 500_000
MAX_MARKS = 5000
"""Conversations whose place is remembered; an older one is read again from its beginning, and adds nothing."""

Reader = Callable[[Mapping[str, Any], int, str], dict[str, Any] | None]
_READERS: Mapping[str, Reader] = {"claude-code": claude_code.message_of, "codex": codex.message_of}


class Recorder:
    """Records requests of the kind "record". folder: holds one file per conversation for the read position."""

    def __init__(self, memory: Memory, sink: Sink, folder: Path) -> None:
        self._memory = memory
        self._sink = sink
        self._folder = folder

    def record(self, request: Mapping[str, Any]) -> None:
        """Record all messages of a request. Raises a sink's errors; KeyError or TypeError for a malformed request."""
        reader = _READERS.get(request["host"])
        path = request.get("transcript")
        if path and reader is not None:
            self._read_on(request, path, reader)
        if given := request.get("messages"):
            # Only OpenCode sends messages in its own form; the hook itself builds those of Cursor.
            plain = [opencode.messages_of(one) for one in given] if request["host"] == "opencode" else [given]
            messages = [message for several in plain for message in several]
            for begin in range(0, len(messages), BATCH_MESSAGES):
                self._send(request, messages[begin : begin + BATCH_MESSAGES])
        if trigger := request.get("trigger"):
            self._sink.ends(_place(request), trigger)
        if request.get("boost"):
            self._memory.prompt_arrived(request["agent"], request["session"])

    def _read_on(self, request: Mapping[str, Any], path: str, reader: Reader) -> None:
        name = blake2b(f"{request['agent']}\0{request['session']}\0{path}".encode(errors="replace"), digest_size=12)
        file = self._folder / f"{name.hexdigest()}.json"
        batch: list[dict[str, Any]] = []
        characters, mark = 0, None
        try:
            for line, mark in new_lines(path, _read_mark(file)):
                message = None if line.content is None else reader(line.content, line.begin, request["session"])
                if message is not None:
                    batch.append(message)
                    characters += line.end - line.begin
                if len(batch) >= BATCH_MESSAGES or characters >= BATCH_CHARACTERS:
                    self._send(request, batch)
                    _keep_mark(file, mark)
                    batch, characters = [], 0
        except OSError as error:
            log.warning("the conversation in %s can't be read: %s", shown(path), error)
        if batch:
            self._send(request, batch)
        if mark is not None:
            _keep_mark(file, mark)

    def _send(self, request: Mapping[str, Any], messages: list[dict[str, Any]]) -> None:
        details = {"host": request["host"]} | ({"branch": request["branch"]} if request.get("branch") else {})
        self._sink.messages(_place(request), [{**message, "metadata": details} for message in messages])


def _place(request: Mapping[str, Any]) -> Place:
    return Place(request["agent"], request["session"], request["taken"])


def _read_mark(file: Path) -> Mark | None:
    try:
        number, offset = json.loads(file.read_bytes())
    except (OSError, ValueError, TypeError):
        return None
    return Mark(number, offset) if type(number) is int and type(offset) is int and offset >= 0 else None


def _keep_mark(file: Path, mark: Mark) -> None:
    try:
        replace_file(file, json.dumps(list(mark)).encode())
    except OSError as error:
        log.warning("the place in a conversation can't be kept, it will be read again: %s", error)


def forget_old_marks(folder: Path) -> None:
    """Delete all marks but the newest MAX_MARKS."""
    with suppress(OSError):
        found = sorted((path.stat().st_mtime, path) for path in folder.iterdir())
        for _, path in found[:-MAX_MARKS]:
            path.unlink()
