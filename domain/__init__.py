"""Pure rules of Slowwave: what an event, a window, a candidate and a memory are, and every decision about them.

Must not know: Celery, Redis, SQLAlchemy, the clock, the environment, the network. `now` is always an argument.
"""
