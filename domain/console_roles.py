"""Roles of console users: three roles, and each role includes the rights of the role before it.

viewer     reads
curator    decides reviews, conflicts and changes of memories
operator   undoes, forgets, flushes, maintains
"""

from typing import Literal

from slowwave.errors import InvalidName

UserRole = Literal["viewer", "curator", "operator"]

ORDER: tuple[UserRole, ...] = ("viewer", "curator", "operator")
EVERY_TENANT = "*"
"""Replaces a list of tenant names: all present and future tenants."""


def may(role: UserRole, needed: UserRole) -> bool:
    """Return True if a user with `role` may perform an action that requires `needed`."""
    return ORDER.index(role) >= ORDER.index(needed)


def role_of(word: str) -> UserRole:
    """Return the role of this name. Raises InvalidName."""
    for role in ORDER:
        if word == role:
            return role
    raise InvalidName(f"a role is one of {', '.join(ORDER)}, not {word!r:.60}")
