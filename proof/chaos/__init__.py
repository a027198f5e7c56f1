"""Chaos: agents talk while servers and processes are killed, paused and emptied; then every invariant is checked.

Must not know: how a product's part works inside: what any user or the servers show is enough.
"""
