"""Configuration files of other programs, changed at one place and left alone everywhere else.

Must not know: which programs, what the entries mean.
"""
