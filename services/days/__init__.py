"""Days of agents: their book, their summaries, and how they become final.

Must not know: Celery, contents of summaries.
"""
