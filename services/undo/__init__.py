"""Undo of runs.

Must not know: Celery, HTTP, the command line.
"""
