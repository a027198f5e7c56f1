"""What the parts of `Memory` share: the store behind it, and whose memories they are.

Must not know: what the parts do.
"""

from slowwave.store import Store


class BoundMemory:
    """A store and the tenant that calls are made for."""

    store: Store
    tenant: str
