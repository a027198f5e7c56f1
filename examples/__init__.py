"""Agents of several frameworks with a memory: `python -m examples.NAME`. See README.md in this folder.

Users write code like this.
"""
