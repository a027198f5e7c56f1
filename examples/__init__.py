"""Agents of several frameworks with a memory: `python -m examples.NAME`. See README.md in this folder.

Must not know: nothing; this is what users write.
"""
