"""Drills: what operators do once a year, done by a program: an upgrade under way, a restore after a loss.

Must not know: how a product's part works inside: commands, servers and what producers wrote down are enough.
"""
