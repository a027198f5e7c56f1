"""A release without its upload: checks, reproducible wheels and npm package, bills of materials.

Must not know: accounts and passwords of an index; nothing here sends anything anywhere.
"""
