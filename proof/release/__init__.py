"""A release without the upload: checks, reproducible wheels and npm package, bills of materials.

No code of this package uploads anything.
"""
