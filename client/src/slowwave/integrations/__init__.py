"""Integrations with agent frameworks: one module for each, which needs that framework's extra."""
