"""Forget rows, keys, messages, spooled entries and files of an agent, a session, a scope or a memory for good."""
