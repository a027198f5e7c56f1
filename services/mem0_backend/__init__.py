"""Feeding mem0: deliver the outbox, and remove forgotten copies.

Must not know: how mem0 is reached (`slowwave.mem0_backend`), when a delivery is due.
"""
