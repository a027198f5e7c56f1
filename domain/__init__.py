"""Pure rules of Slowwave: the types event, window, candidate and memory, and every decision about them.

Must not know: Celery, Redis, SQLAlchemy, the clock, the environment, the network. `now` is always an argument.
"""
