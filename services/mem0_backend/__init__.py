"""Feeding mem0: what waits for it in the outbox, and what is forgotten.

Must not know: how mem0 is reached (`slowwave.mem0_backend`), when a delivery is due.
"""
