"""Memory files as callers ask for them: the payload of the public task that brings a scope's files up to date.

Must not know: what stands in files, when they are behind.
"""

from slowwave.working import OfTenantScope


class DeliverOutbox(OfTenantScope):
    """What `slowwave.deliver_outbox` takes: whose files are brought up to date, hand edits first."""

    ticket: str | None = None
