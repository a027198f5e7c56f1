"""The gateway: Slowwave over HTTP, for programs in other languages or without a login of Postgres.

`app.py` makes the application, `serving.py` runs it, `routes/` has the routes, `schemas/` their requests and answers.
"""
