"""The operations of Slowwave: each reads data, lets the domain decide, calls a model if needed, and writes the result.

Must not know: Celery, kombu, settings files, the environment, the clock (`now` is an argument).
"""
