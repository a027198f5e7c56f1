"""Consolidation: passes over a scope that merge, end, link and promote memories after their extraction."""
