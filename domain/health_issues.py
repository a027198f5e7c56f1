"""What can go wrong, said once: what is wrong, what to do, how urgent it is.

The doctor, the console, the alert rules and the runbook take these words as they stand, so that whoever is woken by one
of them finds the same sentence in the others. What differs from case to case (which queue, which tenant) is the
finding of whoever looked, and stands behind them.

Must not know: how a trouble is found, where it is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.health_limits import REVIEW_MANY

Severity = Literal["critical", "warning"]


@dataclass(frozen=True, slots=True)
class HealthIssue:
    """One trouble. name: its key, and its page of the runbook. title: what is wrong, in a sentence. cure: what to do.

    severity: critical where agents notice it soon or memories may be lost for good, else warning.
    """

    name: str
    title: str
    cure: str
    severity: Severity

    @property
    def alert(self) -> str:
        """The name of its alert: `no-worker` is SlowwaveNoWorker."""
        return "Slowwave" + "".join(word.capitalize() for word in self.name.split("-"))


_ALL = (
    HealthIssue(
        "postgres-away",
        "Postgres can't be reached.",
        "Start Postgres, or set SLOWWAVE_DATABASE_URL to where it is. Hooks write to their spools meanwhile.",
        "critical",
    ),
    HealthIssue(
        "postgres-refuses",
        "Postgres answers, and refuses this login or connection.",
        "Give SLOWWAVE_DATABASE_URL the login, the password and the certificate that the server asks for.",
        "critical",
    ),
    HealthIssue(
        "postgres-old",
        "The server is an older Postgres than Slowwave needs.",
        "Upgrade it to Postgres 18 or later, or set SLOWWAVE_DATABASE_URL to such a server.",
        "critical",
    ),
    HealthIssue(
        "schema-behind",
        "The database is at another revision than this version needs.",
        "Run `slowwave migrate` with the newer of the two versions, then restart what is older.",
        "critical",
    ),
    HealthIssue(
        "broker-away",
        "The broker can't be reached.",
        "Start it, or set SLOWWAVE_BROKER_URL to where it is. Until then Postgres keeps what is due.",
        "critical",
    ),
    HealthIssue(
        "broker-refuses",
        "The broker answers, and refuses this user or connection.",
        "Give SLOWWAVE_BROKER_URL the user and the password, and SLOWWAVE_BROKER_CA the certificate, that it asks for.",
        "critical",
    ),
    HealthIssue(
        "broker-evicts",
        "The broker throws messages away when its memory is full.",
        "Run CONFIG SET maxmemory-policy noeviction at the broker, and write it into its file.",
        "warning",
    ),
    HealthIssue(
        "broker-full",
        "The broker's memory is nearly full.",
        "Start workers if `slowwave status` shows long queues. Otherwise raise maxmemory at the broker.",
        "warning",
    ),
    HealthIssue(
        "broker-forgets",
        "The broker keeps nothing on disk.",
        "Run CONFIG SET appendonly yes at the broker, and write it into its file.",
        "warning",
    ),
    HealthIssue(
        "no-worker",
        "A queue has no worker.",
        "Start one: `slowwave worker --queues QUEUE`, or `slowwave up`.",
        "critical",
    ),
    HealthIssue(
        "sweeps-silent",
        "No sweep comes, so nothing that waits for a time is flushed.",
        "Start a worker with beat: `slowwave worker --beat`, or `slowwave up`.",
        "critical",
    ),
    HealthIssue(
        "broker-keys",
        "A program wrote keys of a wrong type into the broker.",
        "Find the program, give it a user of its own (`slowwave roles redis`), then delete the renamed keys.",
        "warning",
    ),
    HealthIssue(
        "clocks-apart",
        "The clocks of this host, Postgres and the broker differ.",
        "Let all hosts keep time by NTP: due times are off by as much.",
        "warning",
    ),
    HealthIssue(
        "roles-outdated",
        "The roles of Postgres are older than the schema.",
        "Run `slowwave roles apply` as the owner.",
        "critical",
    ),
    HealthIssue(
        "producers-unbounded",
        "One login of an agent's host can stop everybody else at Postgres.",
        "Run `slowwave roles apply` with a superuser's login, or have a superuser run `slowwave roles apply --print`.",
        "warning",
    ),
    HealthIssue(
        "session-overdue",
        "Sessions are overdue, and none is being flushed.",
        "See that beat and workers run (`slowwave doctor`); `slowwave why AGENT SESSION` says what one waits for.",
        "critical",
    ),
    HealthIssue(
        "session-timeless",
        "A session has new events and will never be due.",
        "Ask for it with `slowwave flush AGENT`, then report this: no rule leads there.",
        "warning",
    ),
    HealthIssue(
        "backlog-grows",
        "Sessions wait longer than they may: workers don't keep up.",
        "Start more workers on the queue 'flush'; `slowwave status` says how much waits.",
        "warning",
    ),
    HealthIssue(
        "flushes-fail",
        "Flushes fail, and their sessions back off.",
        "`slowwave why AGENT SESSION` names the error; mend that, they are tried again by themselves.",
        "warning",
    ),
    HealthIssue(
        "tasks-fail",
        "Tasks end with an error.",
        "Look at the workers' logs, or at Flower, for the task that is named.",
        "warning",
    ),
    HealthIssue(
        "events-quarantined",
        "Events were set aside, since no flush could digest them.",
        "See `slowwave quarantine list`; after mending the extractor, `slowwave quarantine retry --all`.",
        "warning",
    ),
    HealthIssue(
        "dead-letters",
        "Messages could not be taken and wait for a decision.",
        "See `slowwave dead-letters list`, mend their sender, then redrive or dismiss them.",
        "warning",
    ),
    HealthIssue(
        "jobs-late",
        "Maintenance jobs are due, and nobody runs them.",
        "Start beat and a worker on the queue 'maintenance', or run `slowwave maintenance daemon`.",
        "warning",
    ),
    HealthIssue(
        "jobs-fail",
        "A maintenance job fails again and again.",
        "Mend what its error names, then `slowwave maintenance run JOB`; see `slowwave maintenance status`.",
        "warning",
    ),
    HealthIssue(
        "notes-fail",
        "Notes of agents, or summaries of days, could not be made.",
        "See `slowwave working AGENT --settled` and `slowwave day` for the errors. Slowwave tries again by itself.",
        "warning",
    ),
    HealthIssue(
        "model-not-set-up",
        "The model of the settings is not set up.",
        "Set or install what is named, or set memory.llm.driver to none.",
        "critical",
    ),
    HealthIssue(
        "model-down",
        "The model's endpoint fails again and again, and is left alone for a while.",
        "Look after the endpoint (memory.llm.base_url, memory.llm.command). Flushes wait, and go on when it answers.",
        "critical",
    ),
    HealthIssue(
        "model-refuses",
        "The model's endpoint refuses us.",
        "Mend memory.llm.api_key, or the account behind it. The rules do the work meanwhile.",
        "critical",
    ),
    HealthIssue(
        "budget-spent",
        "A budget for models is spent: the rules do the work.",
        "Wait for the next period, or raise the cap under memory.llm; `slowwave budget` shows who spent it.",
        "warning",
    ),
    HealthIssue(
        "review-old",
        "Questions have waited for an answer for more than a week.",
        "Answer them: `slowwave review list`, or the console's review page. Unanswered ones lapse by their rule.",
        "warning",
    ),
    HealthIssue(
        "review-many",
        f"More than {REVIEW_MANY} questions wait for an answer.",
        "Answer many at once: `slowwave review accept` or `reject` with `--tier`, `--older-than`, `--dry-run` first.",
        "warning",
    ),
    HealthIssue(
        "conflicts-old",
        "Contradictions have been open for more than two weeks.",
        "Decide them: `slowwave conflicts list`, or the console's page of conflicts.",
        "warning",
    ),
    HealthIssue(
        "backend-mismatch",
        "Settings and database disagree about where memories are delivered.",
        "Start a worker with the memory.backend that is meant.",
        "warning",
    ),
    HealthIssue(
        "deliveries-fail",
        "Memories can't be delivered to their files or to mem0.",
        "Mend what the error names (`slowwave files status`, `slowwave mem0 status`); it is tried again by itself.",
        "warning",
    ),
    HealthIssue(
        "deliveries-late",
        "Memories wait to be delivered to their files or to mem0.",
        "Start beat and a worker on the queue 'consolidate'.",
        "warning",
    ),
    HealthIssue(
        "files-held",
        "Memory files are held back: much of them is gone at once, or they are too large.",
        "`slowwave files status` says which, and what to do.",
        "warning",
    ),
    HealthIssue(
        "source-unreadable",
        "The store that conversations are read from can't be read.",
        "Bring the store back: what waits is tried again by itself.",
        "critical",
    ),
    HealthIssue(
        "source-late",
        "Conversations of another store wait to be read.",
        "Start beat and a worker on the queue 'capture', both with the same memory.source.",
        "warning",
    ),
    HealthIssue(
        "spool-waits",
        "Events wait on a host's disk for Postgres.",
        "Bring Postgres back: a producer with the same login on that host then delivers them.",
        "warning",
    ),
    HealthIssue(
        "spool-refused",
        "Postgres refused spooled events for good.",
        "Read the reasons in the *.rejected files, then mend or remove these.",
        "warning",
    ),
    HealthIssue(
        "spool-full",
        "The disk of the spool is nearly full.",
        "Make room on it: with a full disk, an outage of Postgres loses what agents say.",
        "critical",
    ),
    HealthIssue(
        "exporter-away",
        "The exporter does not answer, so nobody watches.",
        "Start `slowwave exporter`, and see that Prometheus reaches it.",
        "critical",
    ),
)

HEALTH_ISSUES: Mapping[str, HealthIssue] = {issue.name: issue for issue in _ALL}
"""All of them by name, the gravest causes first: whoever finds several does best to mend the first one first."""
