"""Curation: notes of days become long-term memory."""
