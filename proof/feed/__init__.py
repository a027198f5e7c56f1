"""The feed of changes under faults: each change reaches streams and webhooks, whoever is killed.

Must not know: how the feed is read.
"""
