"""Evaluate extraction and recall on data sets with known answers."""
