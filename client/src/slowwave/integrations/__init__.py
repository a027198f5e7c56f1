"""Slowwave inside of agent frameworks: one module each, and each needs that framework's extra.

Must not know: the service; any framework by itself (a module is imported by who uses it).
"""
