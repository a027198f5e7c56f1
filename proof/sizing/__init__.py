"""Sizing: a model of pools and queues, checked against measurements, that says how many workers a load needs.

Must not know: Celery and SQL: times and counts are enough.
"""
