"""Evaluate extraction and recall on data sets with known answers.

Must not know: Celery, HTTP, the command line.
"""
