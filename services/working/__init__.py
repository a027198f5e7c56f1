"""Consolidation of working memory."""
