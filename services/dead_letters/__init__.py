"""Dead letters and quarantined events: store, retry, dismiss.

Must not know: Celery, HTTP, the command line.
"""
