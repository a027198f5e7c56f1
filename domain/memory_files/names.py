"""Encode any name as a folder name for every file system. A URL decoder finds the name again, unless it was cut.

Small letters, digits, `_` and an inner `-` stay; every byte of any other character is written as `%xx`. So a folder
name has no separator, no dot, no device name, and no character that a file system folds (case, composed characters),
and no two names share a folder.
A longer folder name than 255 bytes is cut and ends in a digest of the name.
"""

import re
from hashlib import sha256
from pathlib import PurePosixPath

MAX_FOLDER_BYTES = 255
"""The limit of common file systems for one component of a path."""

_PLAIN = re.compile(r"[a-z0-9_-]")
# `con`, `nul` and similar names open a device on Windows, in every folder.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])")
_EMPTY = "%"
_CUT = "~"
_DIGEST_CHARACTERS = 64


def encode_name(name: str) -> str:
    """Return the folder of `name`: at most 255 bytes of ASCII. A longer one ends in `~` and a digest of the name."""
    if not name:
        return _EMPTY
    parts = [_encode(character) for character in name]
    if name[0] == "-" or _DEVICE.fullmatch(name):
        parts[0] = _bytes(name[0])
    folder = "".join(parts)
    if len(folder) <= MAX_FOLDER_BYTES:
        return folder
    room = MAX_FOLDER_BYTES - _DIGEST_CHARACTERS - len(_CUT)
    kept = ""
    for part in parts:
        if len(kept) + len(part) > room:
            break
        kept += part
    return f"{kept}{_CUT}{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def scope_folder(tenant: str, kind: str, name: str) -> PurePosixPath:
    """Return a scope's folder below the root, such as `default/agent/maya`. kind: agent, room or team."""
    return PurePosixPath(encode_name(tenant), encode_name(kind), encode_name(name))


def _encode(character: str) -> str:
    return character if _PLAIN.fullmatch(character) else _bytes(character)


def _bytes(character: str) -> str:
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
