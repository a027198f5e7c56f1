"""Mutants: what keeps the promises is broken on purpose, in a copy, one at a time, and a test must notice.

Must not know: what a mutant does; each is a text, its replacement, and the tests that must notice.
"""
