"""Encode any name as a folder name for every file system, and decode it again unless it was cut.

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
_ENCODED = re.compile(r"(?:[a-z0-9_-]|%[0-9a-f]{2})+")
_EMPTY = "%"
_CUT = "~"
_DIGEST_CHARACTERS = 64


class LongName(ValueError):
    """The folder contains only a digest of a long name; the header of its files contains the full name."""


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


def decode_name(folder: str) -> str:
    """Return the name of `folder`.

    Raises LongName if the folder contains only a digest of the name, and ValueError if no name has this encoding.
    """
    if folder == _EMPTY:
        return ""
    if _CUT in folder:
        raise LongName(f"{folder}: the full name stands in the first line of the files in this folder")
    if not _ENCODED.fullmatch(folder):
        raise ValueError(f"{folder!r:.80} is not the folder of a name")
    raw = re.sub(r"%([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), folder)
    name = raw.encode("latin-1").decode("utf-8", "surrogatepass")
    if encode_name(name) != folder:
        raise ValueError(f"{folder!r:.80} is not how a name is encoded; {encode_name(name)!r} is meant")
    return name


def scope_folder(tenant: str, kind: str, name: str) -> PurePosixPath:
    """Return a scope's folder below the root, such as `default/agent/maya`. kind: agent, room or team."""
    return PurePosixPath(encode_name(tenant), encode_name(kind), encode_name(name))


def _encode(character: str) -> str:
    return character if _PLAIN.fullmatch(character) else _bytes(character)


def _bytes(character: str) -> str:
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
