"""Data for searches: passages of events, and statistics of terms.

Must not know: Celery, HTTP, the command line.
"""
