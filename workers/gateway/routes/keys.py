"""API keys over HTTP: create, list and revoke them with the right `administer`. No key can create a more
powerful one.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from slowwave_server.services.access.api_keys import Key as KnownKey
from slowwave_server.services.access.api_keys import NewKey, list_keys, make_key, revoke_key
from slowwave_server.services.access.audit_log import ActDetails, note_act
from slowwave_server.services.access.reach import Reach
from slowwave_server.workers.gateway.caller import nothing
from slowwave_server.workers.gateway.curating import Cursor, Limit, responses
from slowwave_server.workers.gateway.cursors import page_of, read_cursor
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import keys as shapes
from slowwave_server.workers.gateway.visit import Visit, administers, makes_secrets

router = APIRouter(route_class=GatewayRoute, tags=["administration"])


@router.get("/v1/keys")
def list_keys_of_tenant(
    visit: Annotated[Visit, administers], limit: Limit = 50, cursor: Cursor = None
) -> shapes.KeyPage:
    """List the keys with at most this key's rights, the newest first, including revoked keys."""
    before = read_cursor(cursor, lambda moment, key: (datetime.fromisoformat(moment), UUID(key)))
    with visit.reading() as connection:
        known = [one for one in list_keys(connection, visit.tenant) if _below(visit, one)]
    found = [one for one in known if before is None or (one.created_at, one.id) < before]
    keys, more = page_of(found, limit, lambda one: (one.created_at.isoformat(), one.id))
    return shapes.KeyPage(items=[shapes.Key.model_validate(one) for one in keys], next_cursor=more)


@router.post("/v1/keys", status_code=201, responses=responses(403))
def make(body: shapes.NewKey, visit: Annotated[Visit, makes_secrets]) -> shapes.MadeKey:
    """Create a key. Only this answer contains the key itself."""
    with visit.writing() as connection:
        own = next(one for one in list_keys(connection, visit.tenant) if one.id == visit.key_id)
        wanted = NewKey(
            name=body.name,
            rights=list(body.rights),
            agents=own.agents if body.agents is None else tuple(body.agents),
            scopes=own.scopes if body.scopes is None else tuple(body.scopes),
            expires_at=own.expires_at if body.expires_at is None else body.expires_at,
        )
        _check_within(visit, own, wanted)
        made, secret = make_key(connection, visit.tenant, wanted, by=visit.by, now=visit.now)
        note_act(connection, "key", visit.by, f"made key {made.name} ({made.prefix})", **_noted(visit))
    return shapes.MadeKey(**shapes.Key.model_validate(made).model_dump(), key=secret)


@router.delete("/v1/keys/{key}", responses=responses(404))
def revoke(key: UUID, visit: Annotated[Visit, administers]) -> shapes.Key:
    """Revoke a key at once."""
    with visit.writing() as connection:
        known = next((one for one in list_keys(connection, visit.tenant) if one.id == key), None)
        if known is None or not _below(visit, known):
            raise nothing("key", key)
        # Write the audit entry first, because a key that revokes itself can't write afterwards.
        note_act(connection, "key", visit.by, f"revoked key {known.name} ({known.prefix})", **_noted(visit))
        revoked = revoke_key(connection, visit.tenant, key, now=visit.now)
    if revoked is None:
        raise nothing("key", key)
    return shapes.Key.model_validate(revoked)


def _below(visit: Visit, key: KnownKey) -> bool:
    """Return True if a key has at most the rights of the caller's key."""
    return set(key.rights) <= visit.caller.rights and visit.reach.covers(Reach(key.agents, key.scopes))


def _check_within(visit: Visit, own: KnownKey, wanted: NewKey) -> None:
    """Raise Problem if a requested key would have more rights than the key that makes it."""
    excess = sorted(set(wanted.rights) - visit.caller.rights)
    told = None
    if excess:
        told = f"this key does not have the right {excess[0]!r}, so it can't give it"
    elif not visit.reach.covers(Reach(tuple(wanted.agents), tuple(wanted.scopes))):
        told = "agents and scopes must lie within those of the key that asks"
    elif own.expires_at is not None and (wanted.expires_at is None or wanted.expires_at > own.expires_at):
        told = f"expires_at must not be later than that of the key that asks, {own.expires_at.isoformat()}"
    if told is not None:
        raise Problem(403, "exceeds-key", told)


def _noted(visit: Visit) -> ActDetails:
    return {"tenant": None, "via": "http", "now": visit.now}
