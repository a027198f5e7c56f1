"""Lines and documents of memory files: nothing that a memory says breaks them, nothing that people write is lost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from slowwave_server.domain.memory_files import (
    TRANSCRIPT,
    BadMark,
    FileHeader,
    FileMemory,
    FileSummary,
    decode_bytes,
    encode_document,
    parse_document,
    parse_line,
    render_daily,
    render_line,
    render_memory_md,
    rewrite,
)
from slowwave_server.domain.memory_files.escapes import comment_json, escape, escape_lines, unescape
from slowwave_server.domain.memory_files.lines import STATUSES, TRUSTS, TYPES
from slowwave_server.domain.memory_files.rendering import TITLES

NASTY = ["-->", "<!--", "<br>", "\\<br>", "\n", "\r\n", "\\", "&#10;", "&#x;", '"', "--", "# ", "- ", "```", " ",
         "\u2028", "<!-- slowwave end -->", "<!-- slowwave lines", "## Facts\n", "é", "\t", "x"]  # fmt: skip
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(NASTY), max_size=8).map("".join)).map(
    lambda text: text.replace("\x00", "")
)
contents = texts.filter(lambda text: text.strip() != "")
times = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
shares = st.floats(0, 1)
MEMORIES = st.builds(
    FileMemory,
    id=st.integers(1, 12).map(lambda n: UUID(int=n)),
    type=st.sampled_from(TYPES),
    content=contents,
    status=st.sampled_from(STATUSES),
    confidence=shares,
    importance=shares,
    trust=st.sampled_from(TRUSTS),
    entities=st.lists(texts, max_size=2).map(tuple),
    valid_from=times,
    reaffirmed_at=times,
    valid_to=st.none() | times,
    superseded_by=st.none() | st.uuids(),
    contradicts=st.lists(st.uuids(), max_size=2).map(tuple),
    sources=st.lists(st.tuples(texts, st.integers(1, 10**12)), max_size=3).map(lambda pairs: tuple(sorted(set(pairs)))),
)
SUMMARIES = st.builds(
    FileSummary,
    agent=st.sampled_from(["maya", "jonas", "-->"]),
    version=st.integers(0, 9),
    final=st.booleans(),
    messages=st.integers(0, 99),
    segments=st.integers(0, 9),
    summarizer=st.just("rules/1"),
    made_at=times,
    text=texts,
    lines=st.lists(
        st.fixed_dictionaries({"facet": st.just("said"), "text": texts, "seq": st.integers(1, 9)}), max_size=2
    ).map(tuple),
)
CURATED = FileHeader("default", "agent", "maya", "Europe/Berlin", 4)
DAILY = FileHeader("default", "room", "kitchen -->", "UTC", 0, date(2026, 3, 1))
FOREIGN = ["Maya wrote this.\n", "## Ideas\n", "- a bullet of hers\n", "\n", "## Tasks\n", "```\n", "- in a fence\n",
           "\r\n", "1. one\n", "<!-- hers\n", "-->\n", "### Facts ###\n", "no end"]  # fmt: skip
# Examples of whole files take minutes to shrink.
ROOMY = settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def memory(number: int, content: str = "Maya prefers tea.", **other: object) -> FileMemory:
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    base = FileMemory(UUID(int=number), "fact", content, "active", 0.85, 0.5, "user", (), at, at)
    return replace(base, **other)  # type: ignore[arg-type]


def unique(memories: Sequence[FileMemory]) -> list[FileMemory]:
    return list({memory.id: memory for memory in memories}.values())


def fresh(header: FileHeader, memories: Sequence[FileMemory], summaries: Sequence[FileSummary] = ()) -> str:
    by_id = sorted(memories, key=lambda m: str(m.id))
    if header.day is None:
        order = list(TITLES)
        return "".join(render_memory_md(header, sorted(by_id, key=lambda m: order.index(m.type))))
    return "".join(render_daily(header, by_id, sorted(summaries, key=lambda s: s.agent)))


def test_a_line_reads_as_a_bullet_with_the_rest_in_a_comment() -> None:
    assert render_line(memory(7, sources=(("chat-1", 3), ("chat-1", 4)))) == (
        "- Maya prefers tea. <!-- slowwave 00000000-0000-0000-0000-000000000007 fact active"
        ' confidence=0.85 importance=0.5 from=2026-03-01T09:00:00Z sources={"chat-1":[3,4]} -->'
    )


@given(texts)
def test_text_in_a_line_is_read_back_as_it_was(text: str) -> None:
    assert unescape(escape(text)) == text
    assert unescape(escape_lines(text)) == text
    assert "\n" not in escape(text)
    assert escape(text) == escape(text).strip()


@given(st.text(alphabet="abc \\/.'\"`*_[]()<>&;#!-", max_size=30).filter(lambda t: "<br>" not in t and "&#" not in t))
def test_what_somebody_types_means_what_it_says(text: str) -> None:
    if "<!--" not in text:
        assert unescape(text) == text


@given(texts)
def test_json_in_a_comment_never_ends_it(text: str) -> None:
    written = comment_json([text])
    assert "--" not in written
    assert not set(written) & set("<>\n\r\u2028")


@given(MEMORIES)
def test_a_line_is_read_back_as_the_memory_that_it_was(m: FileMemory) -> None:
    line = render_line(m)
    assert "\n" not in line
    assert parse_line(line) == m
    assert render_line(m) == line


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        ("new fact", "an id, a type and a status"),
        ("x fact active confidence=1 importance=1 from=2026-01-01T00:00:00Z", "not the id"),
        ("new opinion active confidence=1 importance=1 from=2026-01-01T00:00:00Z", "type"),
        ("new fact active confidence=2 importance=1 from=2026-01-01T00:00:00Z", "confidence"),
        ("new fact active confidence=nan importance=1 from=2026-01-01T00:00:00Z", "confidence"),
        ("new fact active confidence=1 importance=1", "no from="),
        ("new fact active confidence=1 importance=1 from=2026-01-01", "no time zone"),
        ("new fact active confidence=1 importance=1 from=soon", "not a time"),
        ("new fact active confidence=1 importance=1 from=2026-01-01T00:00:00Z mood=good", "mood"),
        ("new fact active confidence=1 confidence=1 importance=1 from=2026-01-01T00:00:00Z", "twice"),
        ("new fact active confidence=1 importance=1 from=2026-01-01T00:00:00Z entities=[1]", "names"),
        ("new fact active confidence=1 importance=1 from=2026-01-01T00:00:00Z sources={", "JSON"),
    ],
)
def test_a_bad_mark_is_told_and_its_line_kept(mark: str, problem: str) -> None:
    line = f"- Jonas plays chess. <!-- slowwave {mark} -->"
    with pytest.raises(BadMark, match=problem) as told:
        parse_line(line)
    assert "Jonas" not in str(told.value)
    text = f"{fresh(CURATED, [memory(1)])}{line}\n"
    document = parse_document(text)
    assert [entry.number for entry in document.entries if entry.kind == "bad"] == [6]
    assert rewrite(document, CURATED, [memory(1)]) == text


@ROOMY
@given(st.lists(MEMORIES, max_size=6), st.lists(st.sampled_from(FOREIGN), max_size=6), st.binary(max_size=30))
def test_taking_a_file_apart_loses_no_byte(memories: list[FileMemory], foreign: list[str], noise: bytes) -> None:
    data = encode_document(fresh(CURATED, unique(memories)) + "".join(foreign)) + noise
    for whole in (data, noise, noise + data):
        assert encode_document(parse_document(decode_bytes(whole)).text) == whole


@ROOMY
@given(st.lists(MEMORIES, max_size=6), st.lists(SUMMARIES, max_size=3))
def test_a_file_of_ours_is_read_back_whole(memories: list[FileMemory], summaries: list[FileSummary]) -> None:
    known = unique(memories)
    by_agent = list({summary.agent: summary for summary in summaries}.values())
    document = parse_document(fresh(DAILY, known, by_agent))
    assert document.header == DAILY
    found = [entry.memory for entry in document.entries if entry.kind == "memory"]
    assert {m.id: m for m in found if m} == {m.id: m for m in known}
    assert len(found) == len(known)
    assert [e.summary for e in document.entries if e.summary] == sorted(by_agent, key=lambda s: s.agent)
    assert {entry.kind for entry in document.entries} <= {"header", "heading", "memory", "summary", "foreign"}
    assert not "".join(entry.raw for entry in document.entries if entry.kind == "foreign").strip()


@ROOMY
@given(st.lists(MEMORIES, max_size=6), st.lists(MEMORIES, max_size=6), st.lists(SUMMARIES, max_size=3), st.booleans())
def test_rewriting_our_own_file_is_rendering_it(
    before: list[FileMemory], after: list[FileMemory], summaries: list[FileSummary], daily: bool
) -> None:
    header = DAILY if daily else CURATED
    told = list({summary.agent: summary for summary in summaries}.values()) if daily else []
    document = parse_document(fresh(header, unique(before), told[:1]))
    text = rewrite(document, header, unique(after), told[1:])
    assert text == fresh(header, unique(after), told[1:])
    assert rewrite(parse_document(text), header, unique(after), told[1:]) == text


@ROOMY
@given(
    st.lists(MEMORIES, min_size=1, max_size=6),
    st.lists(MEMORIES, max_size=6),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(FOREIGN)), max_size=6),
)
def test_what_people_wrote_stays_byte_for_byte(
    before: list[FileMemory], after: list[FileMemory], typed: list[tuple[int, str]]
) -> None:
    lines = fresh(CURATED, unique(before)).splitlines(keepends=True)
    for at, line in typed:
        lines.insert(1 + at % len(lines), line if line.endswith("\n") else f"{line}\n")
    document = parse_document("".join(lines))
    written = rewrite(document, CURATED, unique(after))
    theirs = [line.rstrip("\n") for _, line in typed if line.strip() and not line.startswith(("## Tasks", "### Facts"))]
    kept = [line for line in written.split("\n") if line in theirs]
    assert sorted(kept) == sorted(theirs)
    assert rewrite(parse_document(written), CURATED, unique(after)) == written


def test_a_comment_that_somebody_left_open_hides_no_line_of_ours() -> None:
    text = fresh(CURATED, [memory(1)]) + "<!-- hers\n"
    written = rewrite(parse_document(text), CURATED, [memory(1), memory(2, type="decision")])
    assert [e.memory.id.int for e in parse_document(written).entries if e.memory and e.memory.id] == [1, 2]
    assert rewrite(parse_document(written), CURATED, [memory(1), memory(2, type="decision")]) == written


def test_bullets_below_our_headings_are_statements_and_those_below_others_are_not() -> None:
    text = fresh(CURATED, [memory(1)]) + (
        "- Priya moved to Lisbon\n  in the spring\n\nSome prose.\n\n## Preferences\n\n* Maya likes rye bread\n\n"
        "## Shopping\n\n- bread\n"
    )
    candidates = [(e.text, e.type, e.number) for e in parse_document(text).entries if e.kind == "candidate"]
    assert candidates == [
        ("Priya moved to Lisbon\nin the spring", "fact", 6),
        ("Maya likes rye bread", "preference", 13),
    ]


def test_in_a_file_without_our_head_every_bullet_and_paragraph_is_a_statement() -> None:
    text = "# Sunday\n\nJonas fixed the oven.\nIt took an hour.\n\n## Later\n- Maya called\n\n```\ncode\n```\n"
    document = parse_document(text)
    assert document.header is None
    assert [entry.text for entry in document.entries if entry.kind == "candidate"] == [
        "Jonas fixed the oven.\nIt took an hour.",
        "Maya called",
    ]


TRANSCRIPTS = [
    "[user] I moved to Lisbon.\n[main_agent] Noted.\nAnything else?\n",
    "[User]: I moved to Lisbon.\n",
    "- [user] I moved to Lisbon.\n",
    "[assistant] Noted.\n[tool] {}\n",
    "[research-agent] Found it.\n",
]


@pytest.mark.parametrize("transcript", TRANSCRIPTS)
def test_a_transcript_in_older_notes_is_no_statement(transcript: str) -> None:
    text = f"# Sunday\n\nJonas fixed the oven.\n{transcript}\n[work] The report is due.\n- [x] Call Maya\n"
    document = parse_document(text)
    assert document.text == text
    assert [entry.text for entry in document.entries if entry.kind == "candidate"] == [
        "Jonas fixed the oven.",
        "[work] The report is due.",
        "[x] Call Maya",
    ]
    bad = [(entry.number, entry.problem) for entry in document.entries if entry.kind == "bad"]
    assert bad[0] == (4, TRANSCRIPT)


def test_a_typed_line_becomes_its_memory_where_it_stands() -> None:
    text = fresh(CURATED, [memory(1), memory(5)]).replace("## Facts\n\n", "## Facts\n\n- Jonas plays chess\n")
    document = parse_document(text)
    typed = next(entry for entry in document.entries if entry.kind == "candidate")
    new = memory(9, "Jonas plays chess", trust="hand")
    written = rewrite(document, CURATED, [memory(1), memory(5), new], placed={typed.number: new})
    assert [line.split(" <!--")[0] for line in written.splitlines() if line.startswith("- ")] == [
        "- Jonas plays chess",
        "- Maya prefers tea.",
        "- Maya prefers tea.",
    ]


def test_a_summary_that_somebody_edited_stays() -> None:
    summary = FileSummary("maya", 1, True, 4, 1, "rules/1", datetime(2026, 3, 2, tzinfo=UTC), "Maya asked.", ())
    text = fresh(DAILY, [], [summary]).replace("Maya asked.", "Maya asked twice.")
    document = parse_document(text)
    assert document.entries[-1].summary is not None
    assert document.entries[-1].summary.edited
    assert rewrite(document, DAILY, [], [replace(summary, version=2, text="Something else")]) == text


@pytest.mark.parametrize(
    "line",
    [
        '{"facet": "said", "text": 3}',
        '{"text": "Maya asked."}',
        '{"facet": "said", "text": "Maya asked.", "at": "some day"}',
        '{"facet": "said", "text": "Maya asked.", "at": "2026-03-02T09:00:00"}',
        '{"facet": "said", "text": "Maya asked.", "session": "s", "seq": "4"}',
        '{"facet": "said", "text": "Maya asked.", "weight": NaN}',
        '["said", "Maya asked."]',
    ],
)
def test_a_summarys_line_that_no_context_could_show_is_told_and_not_taken(line: str) -> None:
    told = {"facet": "said", "text": "Maya asked.", "session": "s", "seq": 4, "at": "2026-03-02T09:00:00+00:00"}
    at = datetime(2026, 3, 2, tzinfo=UTC)
    text = fresh(DAILY, [], [FileSummary("maya", 1, True, 4, 1, "rules/1", at, "Maya asked.", (told,))])
    (entry,) = [entry for entry in parse_document(text).entries if entry.kind == "summary"]
    assert entry.summary is not None
    assert entry.summary.lines == (told,)
    (written,) = [row for row in text.splitlines() if row.startswith('{"')]
    broken = parse_document(text.replace(written, line)).entries
    assert [entry.summary for entry in broken if entry.summary is not None] == []


def test_memory_of_an_entry_replaces_its_text() -> None:
    text = fresh(CURATED, [memory(1)]).replace("tea", "coffee")
    assert rewrite(parse_document(text), CURATED, [memory(1)]) == fresh(CURATED, [memory(1)])
