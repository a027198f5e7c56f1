"""Drills: what operators do once a year, done by a program: an upgrade under way, a restore after a loss."""
