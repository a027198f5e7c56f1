"""The types and statuses of memories: one list of each for the client, the rules, files and the database."""

from typing import Literal, get_args

MemoryType = Literal["fact", "preference", "instruction", "decision", "task", "event", "result", "lesson", "summary"]
"""fact: what is so. preference: what somebody likes. instruction: how an agent shall act, until it is taken back.
decision: what was agreed. task: what is to be done. event: what happened, with its date. result: what work led to.
lesson: what went wrong and what resolved it. summary: several statements in one."""

MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)

MemoryStatus = Literal["inbox", "episode", "active", "archived", "review"]
MEMORY_STATUSES: tuple[MemoryStatus, ...] = get_args(MemoryStatus)
