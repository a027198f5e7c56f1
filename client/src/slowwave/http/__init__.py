"""The client over HTTP: the same calls as `slowwave.memory`, answered by a gateway (`slowwave serve`).

Must not know: Postgres, Redis.
"""
