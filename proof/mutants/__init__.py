"""Mutants: each breaks the code of a guarantee in a copy, one at a time, and a test must fail."""
