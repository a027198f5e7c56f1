"""Extraction with what the domain can't have: a model behind a network, and what a scope knows already."""
