"""Edits of aliases by hand: add one, or remove one so that it is not learned again.

Each edit is a separate run, so that people can see and undo it (I6). It wins over what flushes learn.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, or_, select, update

from slowwave.errors import InvalidMessage, SlowwaveError
from slowwave.postgres_text import clean_text
from slowwave_server.domain.aliases import MAX_NAME_CHARACTERS, clean_name, key_of
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import AliasChange, AliasPair
from slowwave_server.services.lookup import UnknownName, require_scope
from slowwave_server.services.memories.changes import Author, as_json
from slowwave_server.services.review.cases import lock_scopes
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run

DECIDED = ("status", "decided_by", "decided_at")
"""The columns that a person's edit sets, and that an undo restores."""
Place = tuple[str, str]


class CannotRename(SlowwaveError):
    """The edit would change nothing; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class AliasEdit:
    """The result of an edit. run: for an undo; pairs: (name, alias) of each pair that it changed."""

    run: int
    action: str
    pairs: tuple[tuple[str, str], ...]


def add_alias(engine: Engine, tenant: str, scope: Place, name: str, alias: str, *, by: str, now: datetime) -> AliasEdit:
    """Make `alias` another name for `name` in one scope, ("agent", "room" or "team", name). Return the run and the
    pair.

    Raises UnknownName without the scope, InvalidMessage if one is not a name or both are equal, and CannotRename if
    they are already aliases.
    """
    one, other = _checked("name", name), _checked("alias", alias)
    if key_of(one) == key_of(other):
        raise InvalidMessage(f"name and alias must be two names, got {one!r} twice")

    def change(connection: Connection, scope_id: int, author: Author) -> list[Row[Any]]:
        known = _pairs(connection, scope_id, one, other)
        if any(row.status != "removed" for row in known):
            raise CannotRename(f"{other!r} is an alias of {one!r} already")
        if known:
            return [_decide(connection, row, "added", author, now) for row in known]
        return [_insert(connection, scope_id, one, other, author, now)]

    return _in_a_run(engine, tenant, scope, "added", change, by=by, now=now)


def remove_alias(
    engine: Engine, tenant: str, scope: Place, name: str, alias: str | None, *, by: str, now: datetime
) -> AliasEdit:
    """Remove an alias of a name, or all pairs with a name if `alias` is None. It is not learned again.

    Args and raises as `add_alias`; UnknownName also if the pair does not exist.
    """
    one, other = _checked("name", name), None if alias is None else _checked("alias", alias)

    def change(connection: Connection, scope_id: int, author: Author) -> list[Row[Any]]:
        known = [row for row in _pairs(connection, scope_id, one, other) if row.status != "removed"]
        if not known:
            what = f"no name {one!r}" if other is None else f"no pair of the names {one!r} and {other!r}"
            raise UnknownName(f"{scope[0]} {scope[1]} has {what}; `slowwave alias list` shows the pairs")
        return [_decide(connection, row, "removed", author, now) for row in known]

    return _in_a_run(engine, tenant, scope, "removed", change, by=by, now=now)


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        yield connection


def _in_a_run(
    engine: Engine,
    tenant: str,
    scope: Place,
    action: str,
    change: Callable[[Connection, int, Author], list[Row[Any]]],
    *,
    by: str,
    now: datetime,
) -> AliasEdit:
    with _transaction(engine) as connection:
        scope_id = require_scope(connection, tenant, scope)
        lock_scopes(connection, [scope_id])
        run = start_run(connection, kind="review", now=now, lease_seconds=LEASE_SECONDS, scope_id=scope_id, by=by)
        rows = change(connection, scope_id, Author(run.id, by))
        summary = f"{pluralize(len(rows), 'alias', 'aliases')} {action} by hand"
        finish_run(connection, run, status="completed", summary=summary, stats={"changes": len(rows)}, now=now)
        return AliasEdit(run.id, action, tuple((row.name, row.alias) for row in rows))


def _checked(what: str, text: str) -> str:
    name = clean_name(clean_text(text))
    if not key_of(name):
        raise InvalidMessage(f"{what} must have letters or digits, got {text!r:.60}")
    if len(name) > MAX_NAME_CHARACTERS:
        raise InvalidMessage(f"{what} must have at most {MAX_NAME_CHARACTERS} characters, got {len(name)}")
    return name


def _pairs(connection: Connection, scope_id: int, name: str, alias: str | None) -> list[Row[Any]]:
    """Lock and return the pairs of these names in both directions; for one name alone, all its pairs."""
    one = key_of(name)
    if alias is None:
        which = or_(AliasPair.name_key == one, AliasPair.alias_key == one)
    else:
        other = key_of(alias)
        which = ((AliasPair.name_key == one) & (AliasPair.alias_key == other)) | (
            (AliasPair.name_key == other) & (AliasPair.alias_key == one)
        )
    query = select(AliasPair.__table__).where(AliasPair.scope_id == scope_id, which)
    return list(connection.execute(query.order_by(AliasPair.name_key, AliasPair.alias_key).with_for_update()))


def _insert(connection: Connection, scope_id: int, name: str, alias: str, author: Author, now: datetime) -> Row[Any]:
    values = {"scope_id": scope_id, "name": name, "alias": alias, "name_key": key_of(name), "alias_key": key_of(alias)}
    decided = {"status": "added", "decided_by": author.by, "decided_at": now}
    row = connection.execute(
        insert(AliasPair).values(**values, **decided, created_at=now).returning(AliasPair.__table__)
    ).one()
    _note(connection, row, author, "added", None, decided, now)
    return row


def _decide(connection: Connection, row: Row[Any], status: str, author: Author, now: datetime) -> Row[Any]:
    decided = {"status": status, "decided_by": author.by, "decided_at": now}
    connection.execute(update(AliasPair).where(AliasPair.id == row.id).values(**decided))
    _note(connection, row, author, status, {name: getattr(row, name) for name in DECIDED}, decided, now)
    return row


def _note(
    connection: Connection,
    row: Row[Any],
    author: Author,
    action: str,
    before: dict[str, Any] | None,
    after: dict[str, Any],
    now: datetime,
) -> None:
    connection.execute(
        insert(AliasChange).values(
            alias_id=row.id,
            scope_id=row.scope_id,
            run_id=author.run_id,
            action=action,
            before=None if before is None else as_json(before),
            after=as_json(after),
            made_by=author.by,
            made_at=now,
        )
    )
