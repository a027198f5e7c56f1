"""Mutants: what keeps the promises is broken on purpose, in a copy, one at a time, and a test must notice."""
