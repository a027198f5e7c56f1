"""Vectors of memories and events, made in the background, in batches.

Must not know: how vectors are made or searched.
"""
