"""Hooks of coding agents: Claude Code, OpenAI Codex, OpenCode and Cursor talk to a memory through `slowwave hook`.

hook.py, protocols.py, ...      the short-lived program that the host starts; imports the standard library only
warm_process.py, sinks.py, ...  the helper: a process that keeps its imports and the connection of a `Memory` open
"""
