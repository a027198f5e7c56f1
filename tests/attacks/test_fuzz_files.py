"""Memory files of any content: an import takes all or says why not; a delivery keeps every byte that isn't ours."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Engine

from slowwave import SlowwaveError
from slowwave.settings import Days
from slowwave_server.domain.memory_files import (
    FileHeader,
    FileMemory,
    FileSummary,
    decode_bytes,
    encode_document,
    parse_document,
    render_line,
)
from slowwave_server.domain.memory_files.headers import render_header
from slowwave_server.domain.memory_files.lines import STATUSES, TRUSTS, TYPES
from slowwave_server.domain.memory_files.summaries import END, LINES, render_summary
from slowwave_server.models.engine import make_engine
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.memory_files.importing import Target, import_scope
from slowwave_server.services.memory_files.manifest import Manifest
from tests.attacks import strategies as odd
from tests.attacks.fuzzing import Witness, examples, tried
from tests.support.consolidating import NOW
from tests.support.emptying import emptying
from tests.support.filing import Cabinet

pytestmark = pytest.mark.servers

moments = st.datetimes(datetime(1900, 1, 2), datetime(2999, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001
shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
contents = st.one_of(st.sampled_from(["Maya lives in Turin", "Jonas rows"]), texts.filter(str.strip))
ids = st.one_of(st.none(), st.integers(0, 3).map(lambda n: UUID(int=n)))
memories = st.builds(
    FileMemory,
    id=ids,
    type=st.sampled_from(TYPES),
    content=contents,
    status=st.sampled_from(STATUSES),
    confidence=shares,
    importance=shares,
    trust=st.sampled_from(TRUSTS),
    entities=st.lists(contents, max_size=2).map(tuple),
    valid_from=moments,
    reaffirmed_at=moments,
    valid_to=st.one_of(st.none(), moments),
    superseded_by=ids,
    sources=st.lists(st.tuples(contents, st.integers(0, 2**62)), max_size=2).map(tuple),
)
sources = st.fixed_dictionaries(
    {"facet": st.just("said"), "text": contents},
    optional={"seq": st.integers(), "weight": st.floats(-1, 1e308), "at": odd.time_texts},
)
summaries = st.builds(
    FileSummary,
    agent=st.sampled_from(["maya", "jonas"]),
    version=st.integers(0, 2**30 - 1),
    final=st.booleans(),
    messages=st.integers(0, 2**30 - 1),
    segments=st.integers(0, 9),
    summarizer=contents,
    made_at=moments,
    text=contents,
    lines=st.lists(sources, max_size=2).map(tuple),
)
headers = st.builds(
    FileHeader,
    tenant=st.just("default"),
    kind=st.sampled_from(["agent", "team", "x"]),
    name=contents,
    zone=st.sampled_from(["Europe/Berlin", "UTC", "Mars/Base", ""]),
    cutoff_hour=st.integers(-1, 30),
    day=st.one_of(st.none(), st.dates()),
)
SWAPS = (
    ("inbox", "forgotten"),
    ("confidence=0", "confidence=1e999"),
    ("importance=", "importance=NaN"),
    ("from=1", "from=-1"),
    ("from=2", "from=9999-12-31T23:59:59-23:59 x="),
    ("from=2", "from=0001-01-01T00:00:00+14:00 x="),
    ("Z", ""),
    ("sources={", 'sources={"\\u0000":[1],'),
    ("sources={", 'sources={"\\ud800":[1],'),
    (":[", ":[1" + "0" * 5000 + ","),
    ("entities=[", 'entities=["\\u0000",'),
    ("entities=[", "entities=" + "[" * 3000),
    ("by=", "by=00000000-0000-0000-0000-0000"),
    ("slowwave ", "slowwave  "),
    ("-->", ""),
    ("-->", "--> -->"),
    ('"version":', '"version":1e2,"v":'),
    ('"made":"', '"made":"9'),
    ('"cutoff":', '"cutoff":9' + "9" * 30 + ',"c":'),
    ('"format":1', '"format":' + "9" * 5000),
    ("<!-- slowwave end -->", ""),
    ('"weight":', '"weight":1e999,"w":'),
    ('"seq":', '"seq":' + "9" * 400 + ',"s":'),
    ('"at":"', '"at":"0001-01-01T00:00:00+14:00'),
    ('"text":', '"text":"\\ud800","t":'),
    ("facet", "\0"),
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """One line, or the lines of a summary: rendered, and one time in three spoilt."""
    written = draw(
        st.one_of(
            memories.map(render_line),
            memories.map(render_line),
            summaries.map(lambda one: render_summary(one, shared=False).rstrip("\n")),
            headers.map(render_header),
            contents.map("- {}".format),
            contents.map("## {}".format),
            st.sampled_from(["## Facts", "## Notes", "```", "<!--", "-->", LINES, END, ""]),
            odd.odd_text,
        )
    )
    if draw(st.integers(0, 2)) == 2:
        fitting = [swap for swap in SWAPS if swap[0] in written]
        written = written.replace(*draw(st.sampled_from(fitting))) if fitting else written
    return written


@st.composite
def file_bytes(draw: st.DrawFn) -> bytes:
    """A file: lines with ends of any kind, mostly in UTF-8, sometimes cut off or with a stray byte."""
    parts = draw(st.lists(lines(), max_size=6))
    head = draw(odd.often(headers.map(render_header), odd.odd_text))
    text = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join([head, *parts, draw(st.sampled_from(["", "\n"]))])
    data = text.encode(draw(st.sampled_from(["utf-8"] * 6 + ["utf-16", "utf-8-sig"])), "surrogatepass")
    at = draw(st.integers(0, len(data)))
    return draw(st.sampled_from([data, data, data, data[:at], data[:at] + b"\xff\0" + data[at:]]))


DAYS = ("2026-03-02", "0001-01-01", "9999-12-31", "2026-02-30")
NAMES = ("MEMORY.md", "notes.md", *(f"daily/{day}.md" for day in DAYS))
NO_MEMORY_FILES = {"notes.md", "daily/2026-02-30.md", "daily/0001-01-01.md", "daily/9999-12-31.md"}
folders = st.dictionaries(st.sampled_from(NAMES), file_bytes(), min_size=1, max_size=3)


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@pytest.fixture(scope="module")
def fuzzed(module_database: str) -> Iterator[Engine]:
    engine = make_engine(module_database)
    yield engine
    engine.dispose()


@examples(60)
@given(file_bytes())
@example(b'# x <!-- slowwave file {"format":' + b"9" * 5000 + b"} -->")
def test_a_file_taken_apart_is_the_file(data: bytes) -> None:
    document = parse_document(decode_bytes(data))
    tried("memory file, taken apart", taken=all(entry.kind != "bad" for entry in document.entries))
    assert encode_document(document.text) == data


@examples(20)
@given(folders, st.sampled_from(["agent", "team"]), st.booleans())
def test_an_import_takes_all_or_nothing(
    fuzzed: Engine, witness: Witness, tmp_path: Path, files: dict[str, bytes], kind: str, dry_run: bool
) -> None:
    root = tmp_path / "in"
    shutil.rmtree(root, ignore_errors=True)
    put(root, files)
    before = witness.look()
    target = Target("default", kind, "maya")
    problem: SlowwaveError | None = None
    report = None
    try:
        report = import_scope(fuzzed, target, root, days=Days(), by="maya", now=NOW, dry_run=dry_run)
    except SlowwaveError as error:
        problem = error
    tried("import", taken=problem is None)
    if report is None or report.run is None:
        assert witness.look() == before, f"nothing was to be written: {problem}"
        return
    again = import_scope(fuzzed, target, root, days=Days(), by="maya", now=NOW)
    assert (again.run, again.added, again.repeated) == (None, 0, 0), "the same folder again changes nothing"


@examples(30)
@given(st.one_of(odd.json_texts, odd.odd_text), st.binary(max_size=5))
@example("[" * 100_000, b"")
@example('{"files": {"MEMORY.md": {"lines": 1' + "0" * 5000 + "}}}", b"")
def test_a_damaged_manifest_is_as_good_as_none(tmp_path: Path, written: str, tail: bytes) -> None:
    tried("manifest of an export", taken=True)
    (tmp_path / ".slowwave.json").write_bytes(written.encode("utf-8", "surrogatepass") + tail)
    assert Manifest.read(Disk(), tmp_path).files is not None


def test_what_is_no_file_is_told_or_left_alone(fuzzed: Engine, witness: Witness, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("- Priya's code is 4711\n")
    before = witness.look()
    for number, make in enumerate(
        (
            lambda path: path.mkdir(),
            lambda path: path.symlink_to(tmp_path / "secret"),
            lambda path: path.symlink_to(path),
            lambda path: path.symlink_to("/proc/self/mem"),
            os.mkfifo,
            lambda path: path.symlink_to("/dev/zero"),
        )
    ):
        root = tmp_path / str(number)
        (root / "daily").mkdir(parents=True)
        make(root / "daily" / "2026-03-02.md")
        with pytest.raises((SlowwaveError, OSError)):
            import_scope(fuzzed, Target("default", "agent", "maya"), root, days=Days(), by="maya", now=NOW)
        assert witness.look() == before
        tried("import of an invalid file", taken=False)


@examples(8)
@given(st.lists(folders, min_size=1, max_size=2))
def test_hand_edits_of_any_kind_are_read_back_or_held_and_lose_no_byte(
    fuzzed: Engine, tmp_path: Path, edits: list[dict[str, bytes]]
) -> None:
    root = tmp_path / "files"
    shutil.rmtree(root, ignore_errors=True)
    with fuzzed.begin() as connection:
        connection.exec_driver_sql(emptying("agents", "scopes"))
    cabinet = Cabinet(fuzzed, root)
    cabinet.hearer.hear("Maya has a cat")
    for files in edits:
        put(cabinet.folder, files)
        foreign = {name: data for name, data in files.items() if name in NO_MEMORY_FILES}
        report = cabinet.deliver()
        tried("memory files edited by hand", taken=report.state == "current" and not report.held)
        assert report.state == "current", report
        assert foreign.items() <= cabinet.files().items()
        for _ in range(3):
            if not report.more and not report.written:
                break
            report = cabinet.deliver()
        settled = cabinet.files()
        assert cabinet.deliver().run is None
        assert cabinet.files() == settled, "a delivery of what stands changes no byte"
