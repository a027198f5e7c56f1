"""Consolidation: plan which memories merge, which values supersede each other, and which memories become active."""
