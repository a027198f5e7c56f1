"""What operators ask: where things stand, why a session waits, where a memory comes from. They read and change nothing.

Must not know: how answers are shown; Celery. Connections, the queue and the time are arguments.
"""
