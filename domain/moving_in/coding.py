"""Read session logs of coding agents, one entry per line, with the hooks' parser and the same keys.

So the import of a log recognises a conversation that a hook recorded, and a hook recognises an imported one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from slowwave.hosts import claude_code, codex
from slowwave_server.domain.moving_in.records import Broken, Entries, ImportedMessage, LeftOut, Piece, clean_name, id_of

Host = Literal["claude-code", "codex"]
_MESSAGES: Mapping[Host, Callable[[Mapping[str, Any], int, str], dict[str, Any] | None]] = {
    "claude-code": claude_code.message_of,
    "codex": codex.message_of,
}


class LogReader:
    """Reads one host's logs. A log names its session and its folder once, in a line before the others."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._path: str | None = None
        self._session = ""
        self._folder: str | None = None

    def read(self, piece: Piece) -> Entries:
        """Yield the entry of a log line."""
        line = piece.value
        if piece.path != self._path:
            self._path, self._session, self._folder = piece.path, _stem(piece.path), None
        if not isinstance(line, Mapping):
            yield Broken(piece.where, "it is not an object")
            return
        self._notice(line)
        message = _MESSAGES[self._host](line, piece.begin, self._session)
        if message is None:
            yield LeftOut("line that holds nothing that was said or done")
            return
        provenance = {"from": self._host, "conversation": self._session}
        yield ImportedMessage(self._session, message | {"metadata": provenance}, None, self._folder)

    def _notice(self, line: Mapping[str, Any]) -> None:
        payload = line.get("payload")
        meta = line.get("type") == "session_meta" and isinstance(payload, Mapping)
        fields: Mapping[str, Any] = payload if meta and isinstance(payload, Mapping) else line
        session = id_of(fields.get("id" if meta else "sessionId")) if self._host == "claude-code" or meta else None
        self._session = clean_name(session) or self._session
        folder = fields.get("cwd")
        if isinstance(folder, str) and folder:
            self._folder = folder


def _stem(path: str) -> str:
    """Return a session name for a log that names none: the id at the end of the log's file name."""
    stem = path.rsplit("/", 1)[-1].removesuffix(".jsonl")
    uuid_characters = 36
    return clean_name(stem[-uuid_characters:] if stem.startswith("rollout-") else stem) or "log"
