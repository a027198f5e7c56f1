"""Curation as callers ask for it: the payload of the public task that curates a scope.

Must not know: which notes are worth a line.
"""

from slowwave.working import OfTenantScope


class CurateScope(OfTenantScope):
    """What `slowwave.curate_scope` takes: whose notes of days become long-term memory."""
