"""The gateway: Slowwave over HTTP, for programs without Python or without a login of Postgres.

`app.py` makes the application, `serving.py` runs it, `routes/` holds the routes, `schemas/` what they take and answer.
"""
