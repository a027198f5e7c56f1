"""What the drawings show, as data: boxes and arrows of the architecture, actors and steps of the sequences."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in pixels. truth: it holds data that no other part can restore."""

    title: str
    x: int
    y: int
    width: int
    height: int
    notes: tuple[str, ...] = ()
    truth: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence. steps: from an actor, to an actor, what passes."""

    name: str
    title: str
    actors: tuple[str, ...]
    steps: tuple[tuple[str, str, str], ...]


GROUPS = (
    Box("Your programs", 20, 20, 250, 470),
    Box("Servers", 370, 20, 250, 470),
    Box("Processes of Slowwave", 720, 20, 300, 470),
)

BOXES = {
    "client": Box("Python client", 40, 60, 210, 74, ("agents, frameworks, MCP",)),
    "hooks": Box("Coding agents", 40, 154, 210, 74, ("hooks of Claude Code, Codex, …",)),
    "http": Box("Any language", 40, 251, 210, 74, ("TypeScript, curl: an API key",)),
    "people": Box("People", 40, 400, 210, 74, ("browser, command line",)),
    "postgres": Box(
        "Postgres",
        390,
        60,
        210,
        168,
        ("events, sessions, memories,", "runs, ledger: every truth", "functions: one", "transaction each"),
        truth=True,
    ),
    "redis": Box("Redis or Valkey", 390, 300, 210, 104, ("queues, tickets, leases:", "may be lost at any time")),
    "workers": Box(
        "Workers",
        740,
        60,
        260,
        104,
        ("flush.high, flush, capture,", "consolidate, days, maintenance", "extract, merge, summarize, deliver"),
    ),
    "beat": Box("Beat", 740, 184, 260, 56, ("sweeps and ticks",)),
    "gateway": Box("HTTP gateway", 740, 260, 260, 56, ("reads and writes with a key's rights",)),
    "exporter": Box("Exporter", 740, 336, 260, 46, ("metrics for Prometheus",)),
    "console": Box("Console and command line", 740, 400, 260, 74, ("inbox, memories, runs, queues",)),
}

ARROWS = (
    (((250, 97), (388, 97)), "commit, read", (320, 90)),
    (((250, 191), (320, 191), (320, 160), (388, 160)), "", (0, 0)),
    (((250, 120), (345, 120), (345, 340), (388, 340)), "wake-up", (314, 345)),
    (((250, 288), (738, 288)), "HTTPS", (300, 281)),
    (((740, 90), (602, 90)), "read, commit", (670, 83)),
    (((600, 330), (650, 330), (650, 140), (738, 140)), "messages", (694, 133)),
    (((740, 212), (690, 212), (690, 370), (602, 370)), "ticks", (716, 206)),
    (((250, 437), (738, 437)), "decide, undo, explain", (494, 430)),
)

SEQUENCES = (
    Sequence(
        "turn",
        "Sequence of a turn",
        ("Agent", "Client", "Postgres", "Redis"),
        (
            ("Agent", "Client", "turn_completed()"),
            ("Client", "Postgres", "capture_session(): one commit"),
            ("Postgres", "Client", "receipt: added, due"),
            ("Client", "Agent", "the reply goes on"),
            ("Client", "Redis", "if due: offer (ticket, message)"),
        ),
    ),
    Sequence(
        "flush",
        "Sequence of a flush",
        ("Redis", "Worker", "Extractor", "Postgres"),
        (
            ("Redis", "Worker", "message"),
            ("Worker", "Redis", "claim: one lease a session"),
            ("Worker", "Postgres", "begin_flush(): window"),
            ("Worker", "Extractor", "no open transaction"),
            ("Extractor", "Worker", "candidates"),
            ("Worker", "Postgres", "commit_flush(): all or nothing"),
            ("Worker", "Redis", "release: next session"),
        ),
    ),
    Sequence(
        "prompt",
        "Sequence of a prompt",
        ("Agent", "Client", "Postgres", "Worker"),
        (
            ("Agent", "Client", "prompt_arrived()"),
            ("Client", "Postgres", "boost_sessions()"),
            ("Client", "Worker", "offer to flush.high, by Redis"),
            ("Worker", "Postgres", "flush the other sessions"),
            ("Agent", "Client", "context(query)"),
            ("Client", "Postgres", "read_context(), search()"),
            ("Postgres", "Client", "memories, days, open events"),
            ("Client", "Agent", "text within the budget"),
        ),
    ),
    Sequence(
        "sleep",
        "Sequence of a sleep pass",
        ("Beat", "Worker", "Postgres", "Person"),
        (
            ("Beat", "Worker", "maintenance tick"),
            ("Worker", "Postgres", "start a run, move the due time"),
            ("Worker", "Postgres", "read 50 memories of a scope"),
            ("Worker", "Worker", "guard, score, decide"),
            ("Worker", "Postgres", "commit: merge, end, link"),
            ("Worker", "Person", "inbox: a question about a contradiction"),
            ("Person", "Postgres", "answer: a run, can be undone"),
            ("Worker", "Postgres", "next 50, then end the run"),
        ),
    ),
)
