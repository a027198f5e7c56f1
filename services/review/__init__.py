"""Questions and conflicts: how they are registered, decided and closed.

Must not know: Celery, HTTP, the command line.
"""
