"""Sizing: measured unit costs of every operation, and the workers and servers that a load needs by them."""
