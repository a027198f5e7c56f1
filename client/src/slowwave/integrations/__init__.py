"""Slowwave inside of agent frameworks: one module each, and each needs that framework's extra."""
