"""A release but for its upload: what may be released, wheels that can be made again, and what they are made of.

Must not know: accounts and passwords of an index; nothing here sends anything anywhere.
"""
