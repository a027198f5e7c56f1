"""How sessions are queued and locked in Redis: de-duplicated offers, priority, leases, and the messages themselves.

Must not know: Postgres, Celery. What Redis holds is only a wake-up: all of it may be lost at any moment.
"""
