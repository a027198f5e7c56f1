"""Queueing and locking of sessions in Redis: deduplicated offers, priorities, leases, and the messages themselves.

Redis holds only wake-ups; losing all of them loses no data.
"""
