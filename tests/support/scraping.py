"""Shared parts of the exporter's tests: a parsed scrape, and an installation with one object of each kind."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from redis import Redis
from sqlalchemy import Engine, insert

from slowwave.coordination.keys import QUEUES
from slowwave.settings import Llm, MemorySettings, Settings
from slowwave.spool import Spooled
from slowwave_server.models import LlmUsage, MaintenanceRun
from slowwave_server.services.reports.metrics.reading import Sources, from_broker, from_postgres
from slowwave_server.services.reports.spool_check import measure_spool
from slowwave_server.workers.exporter.collector import FiguresCollector
from slowwave_server.workers.exporter.server import metrics_text, registry_of
from tests.support.installation import NOW, Installation, ago

MODEL = Llm(
    driver="openai", model="tiny", base_url="http://127.0.0.1:9/v1", daily_token_budget=1000, max_output_tokens=100
)
SETTINGS = Settings(memory=MemorySettings(llm=MODEL))
EVERYWHERE = {"main@vm": frozenset(QUEUES), "fast@vm": frozenset({"flush.high"})}


def sources(engine: Engine, redis: Redis, settings: Settings = SETTINGS, tenants: Sequence[str] = ()) -> Sources:
    return Sources(settings, engine, redis, lambda: EVERYWHERE, lambda: NOW, tenants)


def scrape(read: Sources, **options: Any) -> dict[str, float]:
    """All that one scrape says: `name{label="value"}` as Prometheus would write it, without the prefix."""
    collector = FiguresCollector(
        {"postgres": lambda: from_postgres(read), "broker": lambda: from_broker(read)},
        lambda: [measure_spool(Spooled(0, 0, 0), Path("/"))],
        about=("1", "3"),
        **options,
    )
    try:
        return parsed(metrics_text(registry_of(collector)))
    finally:
        collector.close()


def parsed(text: str) -> dict[str, float]:
    found = {}
    for family in text_string_to_metric_families(text):
        for name, labels, value, *_ in family.samples:
            told = ",".join(f'{label}="{labels[label]}"' for label in sorted(labels))
            found[name.removeprefix("slowwave_") + (f"{{{told}}}" if told else "")] = value
    return found


def filled(engine: Engine) -> Installation:
    """Two tenants: two flushes, a dirty session each kind, an event and a message set aside, a job's run."""
    made = Installation(engine)
    for tenant in ("default", "acme"):
        agent, scope = made.agent("concierge", tenant=tenant), made.scope("concierge", tenant=tenant)
        session = made.session(agent, scope, "clean", ("Maya", "I moved to Lisbon."), processed_until=1)
        made.flush(session, (1, 1), oldest_recorded_at=ago(70), committed_at=ago(60))
    soon, now, later = ago(-100), ago(1), ago(60)
    made.session(agent, scope, "waits", ("Maya", "Hello."), ("Maya", "Well."), flush_due_at=soon)
    made.session(agent, scope, "overdue", ("Maya", "Hello."), dirty_since=ago(90), flush_due_at=later)
    made.session(agent, scope, "fails", ("Maya", "Hello."), flush_due_at=soon, not_before=soon, failures=4)
    odd = made.session(agent, scope, "odd", ("Maya", "???"), processed_until=1)
    made.quarantine(odd, 1, "boom")
    made.letter("slowwave.record_turn", {}, "agent: missing")
    with engine.begin() as connection:
        run = {"kind": "light", "started_at": ago(130), "completed_at": ago(100), "status": "completed"}
        connection.execute(insert(MaintenanceRun).values(**run))
        used = {"agent": "", "period": "day", "starts": now.date(), "calls": 3, "failures": 1}
        connection.execute(insert(LlmUsage).values(tenant="acme", tokens_settled=900, tokens_reserved=50, **used))
        connection.execute(insert(LlmUsage).values(tenant="default", tokens_settled=10, tokens_reserved=0, **used))
    return made
