"""Sizing: measured unit costs of every operation, and the workers and servers that a load therefore needs."""
