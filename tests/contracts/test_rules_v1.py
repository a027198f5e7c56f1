"""The frozen extractor of `bench/rules_v1` stays what it was, and stays in the bench."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.rules_v1 import RulesExtractor
from slowwave_server.domain.candidates import ExtractionContext, Extractor, Window
from slowwave_server.domain.events import Event, EventKind

ROOT = Path(__file__).parent.parent.parent
CODE = ("client", "domain", "models", "services", "tasks", "workers", "proof", "examples", "docs_reference", "tests")
AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
TALK: tuple[tuple[EventKind, str | None, str], ...] = (
    ("user", "Maya", "Hi! I moved to Copenhagen last week, and I love the harbour."),
    ("assistant", None, "Remember, the harbour closes at nine. What do you do for a living?"),
    ("user", "Maya", "A nurse. We decided to use Postgres for the roster."),
)
MADE = (
    ("event", "Maya moved to Copenhagen last week (week of 2023-05-01).", (1,)),
    ("preference", "Maya loves the harbour.", (1,)),
    ("fact", "helper: The harbour closes at nine.", (2,)),
    ("decision", "Maya and others decided to use Postgres for the roster.", (3,)),
)


def test_nothing_outside_the_bench_imports_version_1() -> None:
    importing = re.compile(r"^\s*(?:from|import)\s+bench\.rules_v1\b", re.MULTILINE)
    files = [path for folder in CODE for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)]
    assert [str(path.relative_to(ROOT)) for path in files if importing.search(path.read_text(encoding="utf-8"))] == []


def test_version_1_makes_what_it_made() -> None:
    extractor: Extractor = RulesExtractor()
    events = [
        Event(seq, kind, kind, content, AT + timedelta(minutes=seq), name=name)
        for seq, (kind, name, content) in enumerate(TALK, 1)
    ]
    made = extractor.extract(Window(tuple(events)), ExtractionContext("helper"), AT).candidates
    assert (extractor.name, extractor.version) == ("rules", "1")
    assert tuple((one.type, one.content, one.sources) for one in made) == MADE
