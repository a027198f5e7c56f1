"""Drills: what operators do once a year, done by a program: an upgrade under way, a restore after a loss.

Must not know: the product's internals: commands, servers and the producers' journals are enough.
"""
