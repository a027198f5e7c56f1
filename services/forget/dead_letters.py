"""Forget dead letters: payloads in any state that name the forgotten target.

A dead letter may have any form, so the search looks for names in every part of a payload: in its values, its positional
and named arguments, and in the text of a shortened one.
"""

from sqlalchemy import Connection, text

from slowwave_server.services.forget.gather import parameters
from slowwave_server.services.forget.target import Target

_NAMES = (
    "(jsonb_path_exists(l.payload, CAST('$.* ? (@ == $n)' AS jsonpath), jsonb_build_object('n', {0}))"
    " OR jsonb_path_exists(l.payload, CAST('$.args[*] ? (@ == $n)' AS jsonpath), jsonb_build_object('n', {0}))"
    " OR jsonb_path_exists(l.payload, CAST('$.kwargs.* ? (@ == $n)' AS jsonpath), jsonb_build_object('n', {0}))"
    " OR position(CAST(to_jsonb({0}) AS text) IN coalesce(l.payload ->> 'cut', '')) > 0)"
)
_AGENT = _NAMES.format("CAST(:agent AS text)")
_SESSION = _NAMES.format("CAST(:session AS text)")
_SCOPE = _NAMES.format("CAST(:label AS text)")
_SESSIONS_OF_SCOPE = (
    "EXISTS (SELECT FROM gone_sessions g JOIN slowwave.agents a ON a.id = g.agent_id WHERE "
    + _NAMES.format("a.name")
    + " AND "
    + _NAMES.format("g.name")
    + ")"
)
_WHICH = {
    "agent": _AGENT,
    "session": f"{_AGENT} AND {_SESSION}",
    "scope": f"({_SCOPE} OR {_SESSIONS_OF_SCOPE} OR CAST(:own AS boolean) AND l.payload ->> 'scope' IS NULL AND "
    + _NAMES.format("CAST(:name AS text)")
    + ")",
    "import": _SESSIONS_OF_SCOPE,
    "memory": "false",
}


def take_dead_letters(connection: Connection, target: Target) -> int:
    """Delete the letters of this tenant that name the target. Return their number."""
    values = parameters(target) | {
        "label": target.scope_label,
        "own": target.scope is not None and target.scope[0] == "agent",
    }
    statement = (
        "DELETE FROM slowwave.dead_letters l WHERE (l.tenant = :tenant OR l.tenant IS NULL) AND " + _WHICH[target.kind]
    )
    return connection.execute(text(statement), values).rowcount
