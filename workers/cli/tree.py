"""The tree of commands: nouns with verbs, each with examples. Importing this module imports no command."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Union

RUN = "Run"
READ = "Read"
MEMORY = "Memory"
OPERATE = "Operate"

Node = Union["Verb", "Noun"]


class Verb(NamedTuple):
    """A command. target: `module:function` below workers/cli; examples: lines without the word `slowwave`."""

    target: str
    examples: tuple[str, ...]
    panel: str | None = None
    hidden: bool = False
    foreign_options: bool = False


class Noun(NamedTuple):
    """A group of commands about one thing."""

    help: str
    nodes: Mapping[str, Node]
    panel: str | None = None


_MEMORY = Noun(
    "Memories: list, show, change, forget, export, import.",
    {
        "list": Verb(
            "memories:list_memories",
            ("memory list concierge --type preference", "memory list concierge --as-of 2026-03-05"),
        ),
        "show": Verb("memories:show", ("memory show 0b1f6a2c9d3e",)),
        "edit": Verb("corrections:edit", ('memory edit 0b1f6a2c9d3e "Maya works at Bosch."',)),
        "archive": Verb("corrections:archive", ("memory archive 0b1f6a2c9d3e",)),
        "forget": Verb(
            "forget:forget_memory", ("memory forget 0b1f6a2c9d3e --dry-run", "memory forget --scope room:kitchen")
        ),
        "graph": Verb(
            "graph:graph", ("memory graph concierge Maya --depth 2", "memory graph concierge --format graphml")
        ),
        "compare": Verb("compare:compare", ('memory compare "Maya has a cat." "Maya has a dog."',)),
        "consolidate": Verb("consolidate:consolidate", ("memory consolidate concierge --mode all --dry-run",)),
        "export": Verb("files:export", ("memory export concierge ./memory", "memory export --all ./memory")),
        "import": Verb("files:import_", ("memory import concierge ./memory --dry-run",)),
    },
    MEMORY,
)

_SESSION = Noun(
    "Conversations: list, explain why one waits, flush, forget.",
    {
        "list": Verb("sessions:list_sessions", ("session list concierge --dirty",)),
        "why": Verb("sessions:why", ("session why concierge monday",)),
        "flush": Verb("sessions:flush", ("session flush concierge --wait", "session flush concierge monday --high")),
        "forget": Verb("forget:forget_session", ("session forget concierge monday --dry-run",)),
    },
    MEMORY,
)

_AGENT = Noun(
    "Agents: list, show, set the day boundary, export, import, forget.",
    {
        "list": Verb("agents:list_agents", ("agent list", "agent list --after concierge --limit 20")),
        "show": Verb("agents:show", ("agent show concierge",)),
        "clock": Verb("agents:clock", ("agent clock concierge --timezone Europe/Berlin --cutoff-hour 4",)),
        "export": Verb("agent_files:export", ("agent export concierge concierge.tar.gz",)),
        "import": Verb("agent_files:import_", ("agent import concierge.tar.gz --as concierge-2",)),
        "forget": Verb("forget:forget_agent", ("agent forget concierge --dry-run",)),
    },
    MEMORY,
)

_DAY = Noun(
    "Summaries of days: list, show, make final.",
    {
        "list": Verb("days:list_days", ("day list concierge --since 2026-03-01",)),
        "show": Verb("days:show", ("day show concierge 2026-03-05", "day show concierge 2026-03-05 --version 1")),
        "finalize": Verb("finalize:finalize", ("day finalize concierge 2026-03-05", "day finalize --ended --dry-run")),
    },
    MEMORY,
)

_NOTE = Noun(
    "Notes in working memory: add, list, promote to long-term memories.",
    {
        "add": Verb("notes:add", ('note add concierge "Maya prefers trains." --importance 0.8',)),
        "list": Verb("notes:list_notes", ("note list concierge", "note list concierge --settled")),
        "curate": Verb("notes:curate", ("note curate concierge --dry-run", "note curate room:kitchen")),
    },
    MEMORY,
)

_ALIAS = Noun(
    "Names that mean the same: list, show, add, remove.",
    {
        "list": Verb("aliases:list_", ("alias list concierge",)),
        "show": Verb("aliases:show", ("alias show concierge Kubernetes",)),
        "add": Verb("aliases:add", ("alias add concierge Kubernetes k8s",)),
        "remove": Verb("aliases:remove", ("alias remove concierge Kubernetes k8s",)),
    },
    MEMORY,
)

_INBOX = Noun(
    "Questions and contradictions that wait for a person: list, show, answer.",
    {
        "list": Verb("inbox:list_", ("inbox list --tier high", "inbox list --agent concierge --older-than 7d")),
        "show": Verb("inbox:show", ("inbox show q12",)),
        "answer": Verb(
            "inbox_answers:answer",
            ("inbox answer later q12", "inbox answer both q12 c7", "inbox answer keep --tier low --dry-run"),
        ),
    },
    MEMORY,
)

_RUN = Noun(
    "Runs, which change memories: list, show, undo; rebuild an agent's memories.",
    {
        "list": Verb("runs:list_", ("run list --agent concierge --kind deep",)),
        "show": Verb("runs:show", ("run show 42",)),
        "undo": Verb("runs:undo", ("run undo 42 --no-repeat",)),
        "rebuild": Verb("rebuild:rebuild", ("run rebuild concierge --dry-run",)),
    },
    MEMORY,
)

_IMPORT = Noun(
    "Import conversations, or the data of another memory system.",
    {
        "events": Verb("ingest:ingest", ("import events history.jsonl --wait", "import events - <history.jsonl")),
        "from": Verb("import_from:import_from", ("import from mem0 mem0.json --agent concierge --dry-run",)),
    },
    MEMORY,
)

_QUEUE = Noun(
    "Quarantined events and dead letters: list, show, retry, dismiss.",
    {
        "list": Verb("queue:list_", ("queue list", "queue list --agent concierge")),
        "show": Verb("queue:show", ("queue show 12", "queue show concierge/monday#7")),
        "retry": Verb("queue:retry", ("queue retry 12 concierge/monday#7", "queue retry --all")),
        "dismiss": Verb("queue:dismiss", ("queue dismiss 12 13", "queue dismiss --all")),
    },
    OPERATE,
)

_BACKEND = Noun(
    "Copies of memories outside Postgres's tables: files, mem0, and vectors for search.",
    {
        "status": Verb("backends:status", ("backend status", "backend status vectors --json")),
        "sync": Verb("backends:sync", ("backend sync files concierge", "backend sync vectors --again")),
    },
    OPERATE,
)

_JOB = Noun(
    "Periodic jobs: list, run, configure.",
    {
        "list": Verb("jobs:list_jobs", ("job list",)),
        "run": Verb("jobs:run", ("job run retention --dry-run",)),
        "tick": Verb("jobs:tick", ("job tick --json",)),
        "config": Verb("jobs:config", ("job config retention --window-start 02:00 --time-zone Europe/Berlin",)),
        "daemon": Verb("jobs:daemon", ("job daemon --interval-seconds 60",)),
    },
    OPERATE,
)

_WEBHOOK = Noun(
    "URLs that receive changes of memories, and their delivery log.",
    {
        "list": Verb("webhooks:list_", ("webhook list",)),
        "add": Verb("webhooks:add", ("webhook add https://example.com/hooks/memory --agent 'app-*'",)),
        "show": Verb("webhooks:show", ("webhook show 0199d3a2-7c1e-7000-8000-000000000000",)),
        "remove": Verb("webhooks:remove", ("webhook remove 0199d3a2-7c1e-7000-8000-000000000000",)),
        "rotate": Verb("webhooks:rotate", ("webhook rotate 0199d3a2-7c1e-7000-8000-000000000000",)),
        "enable": Verb("webhooks:enable", ("webhook enable 0199d3a2-7c1e-7000-8000-000000000000",)),
        "deliveries": Verb(
            "webhook_log:deliveries", ("webhook deliveries 0199d3a2-7c1e-7000-8000-000000000000 --state dead",)
        ),
        "replay": Verb(
            "webhook_log:replay",
            ("webhook replay 0199d3a2-7c1e-7000-8000-000000000000 0199d3a2-7c1e-7000-8000-000000000001",),
        ),
    },
    OPERATE,
)

_EVALUATE = Noun(
    "Measure extraction and recall on your own data.",
    {
        "extraction": Verb("evaluate:extraction", ("evaluate extraction conversations.jsonl",)),
        "recall": Verb("evaluate_recall:recall", ("evaluate recall questions.jsonl --json",)),
    },
    OPERATE,
)

_CONFIG = Noun(
    "The settings of this process, and the variables of a running stack.",
    {
        "show": Verb("config:show", ("config show --changed",)),
        "get": Verb("config:get", ("config get memory.backend",)),
        "env": Verb("running:env", ("config env --export",)),
    },
    OPERATE,
)

_ADMIN = Noun(
    "The installation: schema, logins, keys, audit log, budget.",
    {
        "migrate": Verb("migrate:migrate", ("admin migrate", "admin migrate --check")),
        "roles": Noun(
            "Logins of Postgres and users of Redis, each limited to what its part needs.",
            {
                "list": Verb("roles:list_logins", ("admin roles list",)),
                "add": Verb("roles:add", ("admin roles add app --role producer",)),
                "remove": Verb("roles:remove", ("admin roles remove app",)),
                "apply": Verb("roles:apply", ("admin roles apply", "admin roles apply --print")),
                "redis": Verb("roles:redis", ("admin roles redis worker",)),
            },
        ),
        "users": Noun(
            "People who may use the console, each with a role.",
            {
                "list": Verb("users:list_users", ("admin users list",)),
                "add": Verb("users:add", ("admin users add maya --role curator",)),
                "remove": Verb("users:remove", ("admin users remove maya",)),
                "password": Verb("users:password", ("admin users password maya",)),
            },
        ),
        "keys": Noun(
            "API keys of the HTTP gateway; each key belongs to the tenant of --tenant.",
            {
                "list": Verb("keys:list_all", ("admin keys list",)),
                "add": Verb("keys:add", ("admin keys add booking-app --right record --right read --expires 90d",)),
                "revoke": Verb("keys:revoke", ("admin keys revoke sw_3f9c",)),
            },
        ),
        "audit": Verb("audit:audit", ("admin audit --action login",)),
        "receipts": Verb("forget:receipts", ("admin receipts",)),
        "budget": Verb("budget:budget", ("admin budget --agent concierge",)),
    },
    OPERATE,
)

TREE: Mapping[str, Node] = {
    "up": Verb("running:up", ("up", "up --data ./slowwave --no-flower"), RUN),
    "demo": Verb("running:demo", ("demo",), RUN),
    "connect": Verb("connect:connect", ("connect claude-code", "connect codex --project --dry-run"), RUN),
    "worker": Verb("worker:worker", ("worker --beat", "worker --queues flush --concurrency 4"), RUN),
    "serve": Verb("serve:serve", ("serve --listen 127.0.0.1:8322 --workers 2",), RUN),
    "console": Verb("console:console", ("console --listen 127.0.0.1:8321",), RUN),
    "exporter": Verb("exporter:exporter", ("exporter --listen 127.0.0.1:9187", "exporter --once"), RUN),
    "mcp": Verb("mcp:mcp", ("mcp --agent concierge",), RUN),
    "hook": Verb("connect:hook", ("hook claude-code Stop",), RUN, hidden=True, foreign_options=True),
    "status": Verb("status:status", ("status", "status --json"), READ),
    "doctor": Verb("doctor:doctor", ("doctor", "doctor --quick"), READ),
    "search": Verb("recall:search", ('search concierge "Where does Maya work?"',), READ),
    "context": Verb("recall:context", ('context concierge --query "Plan a trip" --max-tokens 800',), READ),
    "memory": _MEMORY,
    "session": _SESSION,
    "agent": _AGENT,
    "day": _DAY,
    "note": _NOTE,
    "alias": _ALIAS,
    "inbox": _INBOX,
    "run": _RUN,
    "import": _IMPORT,
    "queue": _QUEUE,
    "backend": _BACKEND,
    "job": _JOB,
    "webhook": _WEBHOOK,
    "evaluate": _EVALUATE,
    "config": _CONFIG,
    "admin": _ADMIN,
}


def verbs(nodes: Mapping[str, Node] = TREE, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Verb]]:
    """Return every command with its path, such as ("admin", "keys", "add")."""
    for name, node in nodes.items():
        if isinstance(node, Noun):
            yield from verbs(node.nodes, (*path, name))
        else:
            yield (*path, name), node
