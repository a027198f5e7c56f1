"""Queueing and locking of sessions in Redis. It holds only wake-up messages: a loss of all its keys loses no data."""
