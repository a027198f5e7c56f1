"""Maintenance jobs: their schedule, their configuration, and the scheduler that runs them.

Must not know: Celery, HTTP, the command line.
"""
