"""Parsers for exports of other systems: memories, messages, and entries that can't be read, in one form."""
