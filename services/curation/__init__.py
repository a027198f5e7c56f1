"""Curation: notes of days become long-term memory.

Must not know: Celery, HTTP, the command line.
"""
