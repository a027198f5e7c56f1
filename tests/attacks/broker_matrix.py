"""Who may run which command on which kind of key, as the server itself answers it, and as docs/security.md lists it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis

from slowwave.coordination.key_kinds import KINDS, PRIORITIES, PRIORITY_MARK, KeyKind
from slowwave.coordination.keys import consolidation_key

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
HEAD = "| user | keys | commands |\n| --- | --- | --- |\n"
NO_KEY = "(no key)"
OTHERS = "keys of no kind"
TENANT = "default"
ASKER = "0dbf3a3e-1c9b-3d1e-b8e6-9f0a3a4a5b6c"
CHANNELS = {
    "questions' channel": "/0.celery.pidbox",
    "events' channel": "/0.celeryev/worker.#",
    "other channels": "other",
}
SUBSCRIBING = ("subscribe", "psubscribe", "publish", "ssubscribe", "spublish")

May = dict[str, set[str]]
"""The commands that a user may run, by what it may run them on."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the server. words: its name, a subcommand's in two; vectors: arguments that name the key."""

    name: str
    arity: int
    categories: frozenset[str]
    specs: tuple[Mapping[str, Any], ...]

    @property
    def words(self) -> list[str]:
        return self.name.split("|")

    @property
    def takes_keys(self) -> bool:
        return any("not_key" not in spec["flags"] for spec in self.specs)

    def on(self, key: str) -> list[str]:
        """The command with this key in all places where it takes keys."""
        args = self.words + ["1"] * (abs(self.arity) - len(self.words))
        keywords: list[str] = []
        for spec in self.specs:
            begin, find = spec["begin_search"], spec["find_keys"]
            if begin["type"] == "keyword":
                if self.arity < 0 and "incomplete" not in spec["flags"]:
                    keywords += [begin["spec"]["keyword"], key, "1"][
                        : 3 if begin["spec"]["keyword"] == "STREAMS" else 2
                    ]
            elif begin["type"] == "index" and find["type"] == "range":
                first, last = begin["spec"]["index"], max(0, find["spec"]["lastkey"])
                for place in range(first, first + last + 1, find["spec"]["keystep"]):
                    _put(args, place, key)
            elif begin["type"] == "index" and find["type"] == "keynum":
                at = begin["spec"]["index"]
                _put(args, at + find["spec"]["keynumidx"], "1")
                _put(args, at + find["spec"]["firstkey"], key)
        return args + keywords


def _put(args: list[str], place: int, word: str) -> None:
    args += ["1"] * (place + 1 - len(args))
    args[place] = word


def commands(client: Redis) -> list[Command]:
    """Every command and subcommand of the server."""
    return [command for row in raw(client, "COMMAND") for command in _commands(row)]


def _commands(row: Sequence[Any]) -> Iterator[Command]:
    name, arity, _, _, _, _, categories, _, specs, children = row
    if not children:
        marks = frozenset(category.lower() for category in categories)
        yield Command(name, arity, marks, tuple(specs))
    for child in children:
        yield from _commands(child)


def raw(client: Redis, *args: str) -> Any:
    """An answer of the server as it comes: redis-py's own reading of some of them fails on subcommands."""
    connection = client.connection_pool.get_connection()
    try:
        connection.send_command(*args)
        return _text(connection.read_response())
    finally:
        client.connection_pool.release(connection)


def _text(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {_text(name): _text(part) for name, part in answer.items()}
    if isinstance(answer, list | set):
        return [_text(part) for part in answer]
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer


def examples() -> dict[str, tuple[str, ...]]:
    """A key of each kind, by its name in the table; of a tenant's kinds one of the producer's and one of another."""
    found: dict[str, tuple[str, ...]] = {}
    for kind in KINDS:
        if "{*}" in kind.pattern or kind.name == "pass":
            found |= {f"{kind.name}, {whose}": (_of(kind, tenant),) for whose, tenant in _TENANTS.items()}
        elif kind.name.startswith("bindings"):
            found[kind.name] = tuple(kind.pattern.replace("*", mark) for mark in ("", "_permanent"))
        elif kind.name == "answers":
            found[kind.name] = (f"{ASKER}.reply.celery.pidbox", f"{ASKER}.reply.celery.pidbox{PRIORITY_MARK}3")
        elif PRIORITY_MARK in kind.pattern:
            found[kind.name] = tuple(kind.pattern.replace("*", str(step)) for step in PRIORITIES)
        else:
            found[kind.name] = (kind.pattern.replace("*", "x"),)
    return found | {OTHERS: ("other", "flus", "slow", "mem0")}


_TENANTS = {"own tenant": TENANT, "other tenants": "globex"}


def _of(kind: KeyKind, tenant: str) -> str:
    if kind.name == "pass":
        return consolidation_key("working", tenant, "agent", "maya")
    return kind.pattern.replace("{*}", f"{{{tenant}/maya}}").replace("*", "s1")


def allowed(client: Redis, user: str, known: Sequence[Command]) -> May:
    """What the server lets a user run. A kind counts as soon as one of its keys does."""
    asked: list[tuple[str, str, list[str]]] = []
    for command in known:
        if command.name in SUBSCRIBING:
            asked += [(where, command.name, [command.name, *_sent(command, to)]) for where, to in CHANNELS.items()]
        elif command.takes_keys:
            asked += [(kind, command.name, command.on(key)) for kind, keys in examples().items() for key in keys]
        else:
            asked.append((NO_KEY, command.name, command.on("")))
    with client.pipeline(transaction=False) as pipeline:
        for _, _, args in asked:
            pipeline.execute_command("ACL", "DRYRUN", user, *args)
        answers = pipeline.execute(raise_on_error=False)
    failed = [
        (args, answer) for (_, _, args), answer in zip(asked, answers, strict=True) if isinstance(answer, Exception)
    ]
    assert not failed, failed[:5]
    may: May = {}
    for (where, name, _), answer in zip(asked, answers, strict=True):
        if answer in (b"OK", "OK", True):
            may.setdefault(where, set()).add(name)
    return may


def _sent(command: Command, channel: str) -> list[str]:
    return [channel, "1"][: abs(command.arity) - 1]


def rows(user: str, may: May) -> list[str]:
    """The rows of a user in the table: what it may run the same commands on stands together."""
    same: dict[tuple[str, ...], list[str]] = {}
    for where in [NO_KEY, *CHANNELS, *examples()]:
        if where in may:
            same.setdefault(tuple(sorted(may[where])), []).append(where)
    return [f"| `{user}` | {'; '.join(on)} | {_listed(names)} |" for names, on in same.items()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name.replace('|', ' ')}`" for name in names)


def listed() -> str:
    """The table as docs/security.md has it, without its head."""
    found = re.search(re.escape(HEAD) + r"((?:\|[^\n]*\n)+)", PAGE.read_text("utf-8"))
    return "" if found is None else found[1]
