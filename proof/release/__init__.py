"""A release but for its upload: what may be released, wheels and an npm package that can be made again, what they hold.

Must not know: accounts and passwords of an index; nothing here sends anything anywhere.
"""
