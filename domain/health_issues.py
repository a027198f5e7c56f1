"""List all health issues with title, fix and severity.

The doctor, the console, the alert rules and the runbook use these texts; each check appends the details of its case.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.health_limits import REVIEW_MANY

Severity = Literal["critical", "warning"]


@dataclass(frozen=True, slots=True)
class HealthIssue:
    """One issue. name: its key, and the name of its runbook page. title: the problem as a sentence. cure: the fix.

    severity: "critical" if agents notice the issue soon or memories may be lost permanently, else "warning".
    """

    name: str
    title: str
    cure: str
    severity: Severity

    @property
    def alert(self) -> str:
        """The name of the alert: `no-worker` becomes SlowwaveNoWorker."""
        return "Slowwave" + "".join(word.capitalize() for word in self.name.split("-"))


_ALL = (
    HealthIssue(
        "postgres-away",
        "Postgres can't be reached.",
        "Start Postgres, or set SLOWWAVE_DATABASE_URL to its address. Hooks write to their spools meanwhile.",
        "critical",
    ),
    HealthIssue(
        "postgres-refuses",
        "Postgres refuses this login or connection.",
        "Set SLOWWAVE_DATABASE_URL to the login, password and certificate that the server requires.",
        "critical",
    ),
    HealthIssue(
        "postgres-old",
        "Postgres is older than Slowwave requires.",
        "Upgrade it to Postgres 18 or later, or set SLOWWAVE_DATABASE_URL to such a server.",
        "critical",
    ),
    HealthIssue(
        "schema-behind",
        "The database has another schema revision than this version needs.",
        "Run `slowwave admin migrate` with the newer of the two versions, then restart the older processes.",
        "critical",
    ),
    HealthIssue(
        "broker-away",
        "The broker can't be reached.",
        "Start the broker, or set SLOWWAVE_BROKER_URL to its address. Postgres keeps due sessions meanwhile.",
        "critical",
    ),
    HealthIssue(
        "broker-refuses",
        "The broker refuses this user or connection.",
        "Set user and password in SLOWWAVE_BROKER_URL, and the certificate in SLOWWAVE_BROKER_CA, as "
        "the broker requires.",
        "critical",
    ),
    HealthIssue(
        "broker-evicts",
        "The broker evicts messages when its memory is full.",
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
        "The broker stores no data on disk.",
        "Run CONFIG SET appendonly yes at the broker, and write it into its file.",
        "warning",
    ),
    HealthIssue(
        "no-worker",
        "A queue has no worker.",
        "Start a worker: `slowwave worker --queues QUEUE`, or `slowwave up`.",
        "critical",
    ),
    HealthIssue(
        "sweeps-silent",
        "No sweep runs, so idle sessions and retries are not flushed.",
        "Start a worker with beat: `slowwave worker --beat`, or `slowwave up`.",
        "critical",
    ),
    HealthIssue(
        "broker-keys",
        "A program wrote keys of a wrong type into the broker.",
        "Find the program, give it a user of its own (`slowwave admin roles redis`), then delete the renamed keys.",
        "warning",
    ),
    HealthIssue(
        "clocks-apart",
        "The clocks of this host, Postgres and the broker differ.",
        "Synchronize all hosts with NTP: due times are wrong by the difference.",
        "warning",
    ),
    HealthIssue(
        "roles-outdated",
        "The roles of Postgres are older than the schema.",
        "Run `slowwave admin roles apply` as the owner.",
        "critical",
    ),
    HealthIssue(
        "producers-unbounded",
        "One login of an agent's host can block all other users of Postgres.",
        "Run `slowwave admin roles apply` with a superuser's login, or give a superuser the SQL of "
        "`slowwave admin roles apply --print`.",
        "warning",
    ),
    HealthIssue(
        "session-overdue",
        "Sessions are overdue, and no flush runs.",
        "Check that beat and workers run (`slowwave doctor`); `slowwave session why AGENT SESSION` "
        "explains one session.",
        "critical",
    ),
    HealthIssue(
        "session-timeless",
        "A session has new events and will never be due.",
        "Run `slowwave session flush AGENT`, then report it: no rule leads to this state.",
        "warning",
    ),
    HealthIssue(
        "backlog-grows",
        "Sessions wait longer than allowed: workers don't keep up.",
        "Start more workers on the queue 'flush'; `slowwave status` shows the backlog.",
        "warning",
    ),
    HealthIssue(
        "flushes-fail",
        "Flushes fail, and their sessions back off.",
        "Run `slowwave session why AGENT SESSION` and fix the error that it shows. The sweep retries the sessions.",
        "warning",
    ),
    HealthIssue(
        "tasks-fail",
        "Tasks end with an error.",
        "Look for the task in the workers' logs or in Flower.",
        "warning",
    ),
    HealthIssue(
        "events-quarantined",
        "Events are in quarantine, because every extraction failed.",
        "Run `slowwave queue list`; after you fix the extractor, run `slowwave queue retry --all`.",
        "warning",
    ),
    HealthIssue(
        "dead-letters",
        "Dead letters wait for a decision.",
        "Run `slowwave queue list`, fix the sender, then retry or dismiss the dead letters.",
        "warning",
    ),
    HealthIssue(
        "jobs-late",
        "Maintenance jobs are due, and no process runs them.",
        "Start beat and a worker on the queue 'maintenance', or run `slowwave job daemon`.",
        "warning",
    ),
    HealthIssue(
        "jobs-fail",
        "A maintenance job fails again and again.",
        "Fix the error that `slowwave job list` shows, then run `slowwave job run JOB`.",
        "warning",
    ),
    HealthIssue(
        "passes-rolled-back",
        "Consolidation passes were rolled back, because search would have found less.",
        "Run `slowwave run show RUN`: it names the memories. Restore the thresholds under memory.consolidation, or set "
        "memory.consolidation.judge to false.",
        "warning",
    ),
    HealthIssue(
        "notes-fail",
        "Notes of agents, or summaries of days, failed.",
        "Run `slowwave note list AGENT --settled` and `slowwave day show` for the errors. Slowwave "
        "retries each within a day.",
        "warning",
    ),
    HealthIssue(
        "model-not-set-up",
        "The configured model is not set up.",
        "Set or install the missing part, or set memory.llm.driver to none.",
        "critical",
    ),
    HealthIssue(
        "model-down",
        "The model's endpoint fails again and again; calls are paused.",
        "Check the endpoint (memory.llm.base_url, memory.llm.command). Flushes wait and continue when it answers.",
        "critical",
    ),
    HealthIssue(
        "model-refuses",
        "The model's endpoint refuses the key or the account.",
        "Fix memory.llm.api_key, or the account. The rules do the work meanwhile.",
        "critical",
    ),
    HealthIssue(
        "budget-spent",
        "A model budget is spent: the rules do the work.",
        "Wait for the next period, or raise the cap under memory.llm; `slowwave admin budget` shows the use.",
        "warning",
    ),
    HealthIssue(
        "review-old",
        "Questions have waited for an answer for more than a week.",
        "Answer them: `slowwave inbox list`, or the console's inbox. Unanswered questions expire by their tier.",
        "warning",
    ),
    HealthIssue(
        "review-many",
        f"More than {REVIEW_MANY} questions wait for an answer.",
        "Answer many at once: `slowwave inbox answer` with `--tier` or `--older-than`; try `--dry-run` first.",
        "warning",
    ),
    HealthIssue(
        "conflicts-old",
        "Contradictions have been open for more than two weeks.",
        "Decide them: `slowwave inbox list`, or the console's inbox.",
        "warning",
    ),
    HealthIssue(
        "backend-mismatch",
        "The settings and the database name different memory backends.",
        "Start a worker with the memory.backend that you want.",
        "warning",
    ),
    HealthIssue(
        "deliveries-fail",
        "Deliveries of memories to files or to mem0 fail.",
        "Fix the error that `slowwave backend status` shows. Slowwave retries the deliveries.",
        "warning",
    ),
    HealthIssue(
        "deliveries-late",
        "Deliveries of memories to files or to mem0 are late.",
        "Start beat and a worker on the queue 'consolidate'.",
        "warning",
    ),
    HealthIssue(
        "files-held",
        "Memory files are held: many lines are missing, or a file is too large.",
        "Run `slowwave backend status files`: it names the files and the fix.",
        "warning",
    ),
    HealthIssue(
        "source-unreadable",
        "The store of conversations can't be read.",
        "Restore the store. Slowwave retries the runs that wait.",
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
        "Events wait in a host's spool for Postgres.",
        "Start Postgres. A producer with the same login on that host then delivers them.",
        "warning",
    ),
    HealthIssue(
        "spool-refused",
        "Postgres refused spooled events permanently.",
        "Read the reasons in the *.rejected files, then fix or delete these files.",
        "warning",
    ),
    HealthIssue(
        "spool-full",
        "The disk of the spool is nearly full.",
        "Free disk space: if the disk is full, an outage of Postgres loses events.",
        "critical",
    ),
    HealthIssue(
        "exporter-away",
        "The exporter does not answer, so no alert can fire.",
        "Start `slowwave exporter`, and check that Prometheus can reach it.",
        "critical",
    ),
)

HEALTH_ISSUES: Mapping[str, HealthIssue] = {issue.name: issue for issue in _ALL}
"""All issues by name, the most serious causes first: an operator with several issues fixes the first one first."""
