"""Consolidation: plan which memories merge, which values supersede each other, and which memories become active.

Must not know: where memories are stored, and how a plan is carried out.
"""
