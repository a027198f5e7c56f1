"""Vectors of memories and events, made in the background, in batches."""
