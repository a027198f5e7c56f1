"""What search needs besides its query: passages and statistics of terms.

Must not know: Celery, HTTP, the command line.
"""
