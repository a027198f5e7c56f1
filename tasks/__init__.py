"""Celery tasks. A task parses its payload, calls a service, and returns. Names and JSON arguments of tasks are a public
contract.
"""
