"""Mask secrets in text of events for reports."""

import logging
import re
from typing import Any

from slowwave_server.models.driver import Reads, read_rows

log = logging.getLogger(__name__)

# A time looks like a token of a few services, so it would load detect-secrets, which takes 60 ms.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?\+00:00")
# The schema's owner and workers, who may read every row anyway, but not logins that read and decide for one tenant.
_MAY_REVEAL = (
    "SELECT has_schema_privilege(session_user, 'slowwave', 'CREATE') OR EXISTS (SELECT FROM pg_roles r"
    " WHERE r.rolname = 'slowwave_worker' AND pg_has_role(session_user, r.oid, 'member')) AS allowed"
)


class RevealRefused(Exception):
    """This login may not see secrets in evidence; the message says which login may."""


def masked(said: str) -> str:
    """Replace the secrets of a text by "[redacted:KIND]"."""
    # Loaded with the first text, because a report without texts of events needs none of the patterns.
    from slowwave_server.domain.redaction import redact  # noqa: PLC0415

    return redact(said).text


def masked_values(value: Any) -> Any:
    """Mask every text of a JSON value."""
    if isinstance(value, str):
        return value if _TIME.fullmatch(value) else masked(value)
    if isinstance(value, dict):
        return {key: masked_values(item) for key, item in value.items()}
    return [masked_values(item) for item in value] if isinstance(value, list) else value


def check_reveal(connection: Reads, what: str, by: str) -> None:
    """Allow an operator to see `what` unmasked, and log it. Raises RevealRefused for a login that is neither the
    owner's nor a worker's.
    """
    (row,) = read_rows(connection, _MAY_REVEAL, {})
    if not row["allowed"]:
        raise RevealRefused(
            "this login may not reveal secrets: use the login of the database's owner or of a worker, or leave out"
            " --reveal"
        )
    log.warning("secrets revealed: %s by %s", what, by)
