"""The names of tenants, agents and sessions, and the rules for such names."""

import unicodedata
from dataclasses import dataclass

from slowwave.errors import InvalidName, shown

MAX_NAME_CHARACTERS = 200
SHARED_KINDS = ("room", "team")


def check_name(what: str, value: str) -> str:
    """Return `value` unchanged if it is a valid name of a `what` ("agent", "session" …).

    A name has 1 to 200 characters. Control characters (including NUL) and halves of surrogate pairs are not allowed;
    spaces, slashes, braces and all scripts are. Raises InvalidName.
    """
    if not isinstance(value, str):
        raise InvalidName(f"{what}: a name must be text, got {type(value).__name__}")
    if not value:
        raise InvalidName(f"{what}: a name can't be empty")
    if len(value) > MAX_NAME_CHARACTERS:
        raise InvalidName(f"{what}: a name has at most {MAX_NAME_CHARACTERS} characters, this one has {len(value)}")
    if value.isascii() and value.isprintable():
        return value
    for position, character in enumerate(value):
        # Cc: control characters. Cs: lone surrogates, which UTF-8 can't encode.
        if unicodedata.category(character) in {"Cc", "Cs"}:
            raise InvalidName(f"{what}: character {position + 1} (U+{ord(character):04X}) can't be part of a name")
    return value


def shared_scope(scope: str) -> tuple[str, str]:
    """Return ("room" or "team", name) for "room:NAME" or "team:NAME". Raises `InvalidName`."""
    kind, colon, name = scope.partition(":") if isinstance(scope, str) else ("", "", "")
    if not colon or kind not in SHARED_KINDS:
        raise InvalidName(f"scope must be room:NAME or team:NAME, got {shown(scope)}")
    return kind, check_name(kind, name)


def scope_of(agent: str | None, scope: str | None) -> tuple[str, str]:
    """Return (kind, name) of "room:NAME" or "team:NAME", or of the agent's own scope for None. Raises InvalidName."""
    return shared_scope(scope) if scope is not None else ("agent", check_name("agent", agent or ""))


@dataclass(frozen=True, slots=True)
class SessionRef:
    """One conversation of one agent by its names, as Redis, messages and callers use them."""

    tenant: str
    agent: str
    session: str

    def checked(self) -> "SessionRef":
        """Return this reference. Raises `InvalidName` if one of its names is invalid."""
        check_name("tenant", self.tenant)
        check_name("agent", self.agent)
        check_name("session", self.session)
        return self
