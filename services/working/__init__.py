"""Consolidation of working memory.

Must not know: Celery, HTTP, the command line.
"""
