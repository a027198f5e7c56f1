"""mem0 as a backend: the real package `mem0ai`, fed by workers, asked by whoever searches. Optional (extra `mem0`).

    connecting.py   settings → one mem0 of this process, without telemetry, model or history
    rows.py         where rows of the default stand: in this very Postgres
    copies.py       a memory as mem0 keeps it, and whose it is
    copy_store.py   put, remove, search
    reading.py      a reader's scopes → hits

Must not know: what is worth keeping, when a copy is behind.
"""

from slowwave.mem0_backend.connecting import Mem0Connection, connect, identity_of, needs_rows
from slowwave.mem0_backend.copies import Copy, Owner
from slowwave.mem0_backend.copy_store import CopyStore, Mem0Failed

__all__ = ["Copy", "CopyStore", "Mem0Connection", "Mem0Failed", "Owner", "connect", "identity_of", "needs_rows"]
