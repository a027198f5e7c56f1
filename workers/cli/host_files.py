"""Drafts of changed files, shown before they are written, each written in one step."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slowwave_server.domain.host_configs.jsonc import BrokenFile
from slowwave_server.workers.cli.host_entries import Change

MAX_FILE_BYTES = 20_000_000
_PASSWORD = re.compile(r"(://[^/@:\s]*:)[^\s@]*@|((?:KEY|PASSWORD|SECRET|TOKEN)\": \")[^\"]*")


class Broken(Exception):
    """A file cannot be changed; the message names the file and the reason. The file is unchanged."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file's content before and after (None: remove it). private: only its owner may read it."""

    path: Path
    old: str | None
    new: str | None
    private: bool = False

    @property
    def changed(self) -> bool:
        return self.old != self.new

    @property
    def removes(self) -> bool:
        return self.new is None

    def shown(self) -> tuple[str, str]:
        """Both contents for display; settings without passwords."""
        old, new = self.old or "", self.new or ""
        if not self.private:
            return old, new
        return _PASSWORD.sub(r"\1\2***", old), _PASSWORD.sub(r"\1\2***", new)

    def write(self) -> None:
        """Write or remove the file. Raises OSError, and Broken if the file has changed since it was read."""
        if _text(self.path) != self.old:
            raise Broken(f"{self.path} was changed in the meantime")
        if self.new is None:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if self.private else self.path.stat().st_mode & 0o777 if self.path.exists() else 0o644
        hidden = self.path.with_name(f".{self.path.name}.{os.getpid()}.slowwave")
        descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(self.new)
                file.flush()
                os.fsync(file.fileno())
            hidden.chmod(mode)
            hidden.replace(self.path)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise


def draft_of(change: Change) -> Draft:
    """Make the change in memory. Raises Broken; the file stays unchanged."""
    path = change.path.resolve()  # write to the link's target, and keep the link
    old = _text(path)
    try:
        new = change.edit(old or "")
        gone = new != old and change.empty(new)
    except BrokenFile as error:
        raise Broken(f"{path}: {error}") from None
    return Draft(path, old, None if gone or (old is None and not new) else new)


def settings_draft(environment: Mapping[str, str], folder: Path) -> list[Draft]:
    """Return a draft of this call's settings for hooks that a host starts elsewhere; [] for defaults."""
    from slowwave.hosts.places import CONFIG, KEY, PREFIX, URL, saved_file
    from slowwave.settings import DEFAULT_FILE, OTHER_VARIABLES

    left_out = OTHER_VARIABLES - {URL, KEY}
    settings = {
        name: value for name, value in sorted(environment.items()) if name.startswith(PREFIX) and name not in left_out
    }
    file = environment.get(CONFIG) or (DEFAULT_FILE if (folder / DEFAULT_FILE).is_file() else None)
    if file:
        settings[CONFIG] = str((folder / file).resolve())
    if not settings:
        return []
    path = Path(saved_file(environment))
    text = json.dumps({"settings": settings}, indent=2, ensure_ascii=False) + "\n"
    return [Draft(path, _text(path), text, private=True)]


def _text(path: Path) -> str | None:
    """The content of a file; None if the file does not exist. Raises Broken."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Broken(f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Broken(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise Broken(f"{path} cannot be read: {error}") from None
