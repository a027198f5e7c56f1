"""The shell: `slowwave …`, for the people who run it and for scripts.

Must not know: SQL, Lua, how a flush works. Commands parse, call one service, and show what it answers.
"""

from slowwave_server.workers.shell.main import main

__all__ = ["main"]
