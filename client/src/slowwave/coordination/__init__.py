"""Queueing and locking of sessions in Redis: deduplicated offers, priorities, leases, and task messages.

Redis holds only wake-up messages, so a loss of all its keys loses no data.
"""
