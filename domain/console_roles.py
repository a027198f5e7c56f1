"""What people may do at the console: three roles, each of which may do all that the one before it may.

    viewer     reads
    curator    decides what waits for a person: review, conflicts, memories
    operator   undoes, forgets, flushes, maintains

Must not know: passwords, pages, who is at the console.
"""

from typing import Literal

from slowwave.errors import InvalidName

UserRole = Literal["viewer", "curator", "operator"]

ORDER: tuple[UserRole, ...] = ("viewer", "curator", "operator")
EVERY_TENANT = "*"
"""In place of the names of tenants: all there are, and all that come."""


def may(role: UserRole, needed: UserRole) -> bool:
    """Whether who has `role` may do what needs `needed`."""
    return ORDER.index(role) >= ORDER.index(needed)


def role_of(word: str) -> UserRole:
    """The role of this name. Raises InvalidName."""
    for role in ORDER:
        if word == role:
            return role
    raise InvalidName(f"a role is one of {', '.join(ORDER)}, not {word!r:.60}")
