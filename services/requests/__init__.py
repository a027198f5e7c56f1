"""Requests of the HTTP API and the client that a worker carries out.

Must not know: Celery, HTTP, the command line.
"""
