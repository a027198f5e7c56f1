"""Consolidation: what becomes of memories after they were extracted; passes over a scope, plans, effects.

Must not know: Celery, and when a pass is due.
"""
