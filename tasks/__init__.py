"""Celery tasks. They are thin: parse, call, return. Their names and JSON arguments are a public contract."""
