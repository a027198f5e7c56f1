"""mem0 as a backend: the package `mem0ai`; workers write to it, searches read from it. Optional (extra `mem0`).

connecting.py   settings → one mem0 for this process, without telemetry, model or history
rows.py         the rows of the default vector store, in the same Postgres
copies.py       a memory in mem0's form, and its owner
copy_store.py   put, remove, search
reading.py      a reader's scopes → hits
"""

from slowwave.mem0_backend.connecting import Mem0Connection, connect, identity_of, needs_rows
from slowwave.mem0_backend.copies import Copy, Owner
from slowwave.mem0_backend.copy_store import CopyStore, Mem0Failed

__all__ = ["Copy", "CopyStore", "Mem0Connection", "Mem0Failed", "Owner", "connect", "identity_of", "needs_rows"]
