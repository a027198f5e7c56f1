"""Hooks of coding agents: Claude Code, OpenAI Codex, OpenCode and Cursor talk to a memory through `slowwave hook`.

hook.py, protocols.py, ...      the short-lived program that the host starts; imports the standard library alone
warm_process.py, sinks.py, ...  the process behind it, which keeps the imports and a `Memory`'s connection warm
"""
