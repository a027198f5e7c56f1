"""Reports for operators: the system's status, why a session waits, the provenance of a memory. Reports change nothing.

Must not know: how answers are shown; Celery. Connections, the queue and the time are arguments.
"""
