"""Flushes: extract memories from the next window of a session."""
