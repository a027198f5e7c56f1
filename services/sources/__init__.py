"""Conversations that another program keeps (`memory.source`): read there, and recorded as events."""
