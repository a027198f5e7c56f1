"""Files of the hooks on this machine, and the settings that hooks use.

    ~/.config/slowwave/hosts.json            the settings with which `slowwave connect` was called; mode 0600
    ~/.local/state/slowwave/hosts/DIGEST/    one folder for each distinct settings: socket, lock, log, inbox, sessions

A file `slowwave.yaml` in the working directory is never read, because a file in a foreign repository could redirect
conversations.
"""

# The import of pathlib takes longer than all of the hook's own modules.
# ruff: noqa: PTH103, PTH111, PTH116, PTH118, PTH123

import json
import os
import sys
from collections.abc import Mapping
from hashlib import blake2b

from slowwave.version import VERSION

PREFIX = "SLOWWAVE_"
CONFIG = "SLOWWAVE_CONFIG"
URL, KEY = "SLOWWAVE_URL", "SLOWWAVE_KEY"
"""A gateway and an API key for it, for who has no login of the database."""

MAX_SAVED_BYTES = 65_536

SOCKET = "socket"
LOCK = "lock"
LOG = "helper.log"
INBOX = "inbox"
SESSIONS = "sessions"
UNUSABLE = "unusable"
"""A file that is there if the settings can't be used; it holds the sentence that says why."""


def saved_file(environment: Mapping[str, str]) -> str:
    """The file of saved settings."""
    folder = environment.get("XDG_CONFIG_HOME") or os.path.join(_home(environment), ".config")
    return os.path.join(folder, "slowwave", "hosts.json")


def state_folder(environment: Mapping[str, str]) -> str:
    """Return the parent folder of all settings' folders."""
    return os.path.join(_home(environment), ".local", "state", "slowwave", "hosts")


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of Slowwave: the saved ones, overridden by those of this process."""
    settings = _saved(saved_file(environment))
    settings |= {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    return settings


def place_of(environment: Mapping[str, str], settings: Mapping[str, str]) -> str:
    """Return the folder for these settings. Another interpreter, version or settings file gives another folder."""
    parts = [VERSION, sys.executable, *(f"{name}={value}" for name, value in sorted(settings.items()))]
    if file := settings.get(CONFIG):
        try:
            parts.append(str(os.stat(file).st_mtime_ns))
        except OSError:
            parts.append("missing")
    digest = blake2b("\0".join(parts).encode(errors="replace"), digest_size=8).hexdigest()
    return os.path.join(state_folder(environment), digest)


def make_place(place: str) -> None:
    """Make the folder of a helper, readable by its owner only. Raises OSError."""
    os.makedirs(place, mode=0o700, exist_ok=True)
    os.makedirs(os.path.join(place, INBOX), mode=0o700, exist_ok=True)
    os.makedirs(os.path.join(place, SESSIONS), mode=0o700, exist_ok=True)


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")


def _saved(file: str) -> dict[str, str]:
    try:
        with open(file, "rb") as opened:
            saved = json.loads(opened.read(MAX_SAVED_BYTES))["settings"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}
    if not isinstance(saved, dict):
        return {}
    return {name: value for name, value in saved.items() if name.startswith(PREFIX) and isinstance(value, str)}
