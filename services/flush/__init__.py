"""Flushes: extract memories from the next window of a session.

Must not know: Celery, HTTP, the command line.
"""
