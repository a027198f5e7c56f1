"""Celery tasks, thin: parse, call, return. Their names and JSON arguments are a public contract.

Must not know: how collaborators are made (the runtime is handed in), nor SQL.
"""
