"""Undo of runs."""
