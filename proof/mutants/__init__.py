"""Mutants: each breaks the code of a guarantee in a copy, one at a time, and a test must notice.

Must not know: what a mutant does; each is a text, its replacement, and the tests that must notice.
"""
