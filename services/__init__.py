"""What Slowwave does: read, decide (domain), call, write. Collaborators are arguments.

Must not know: Celery, kombu, settings files, the environment, the clock (`now` is an argument).
"""
