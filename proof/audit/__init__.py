"""Whether anything that is installed has a known vulnerability; and whether that could be found out at all.

Must not know: what the packages are for.
"""
