"""Celery tasks. They are thin: parse, call, return. Their names and JSON arguments are a public contract.

Must not know: how collaborators are made (the app provides the runtime), nor SQL.
"""
