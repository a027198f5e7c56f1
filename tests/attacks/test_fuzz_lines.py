"""What comes line by line from files: `ingest`, the spool, settings. A bad line or key is told; the others go on."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave import InvalidSettings, Memory, load_settings
from slowwave.ingest import ingest
from slowwave.settings import known_keys, variable_of
from slowwave.spool import database_digest, spooled
from tests.attacks import strategies as odd
from tests.attacks.fuzzing import examples, tried
from tests.support.capturing import broken_sessions, contents, settings_of

events = st.fixed_dictionaries(
    {"agent": odd.names, "session": odd.names, "role": odd.often(odd.roles), "content": odd.often(odd.texts)},
    optional={
        "name": odd.names,
        "at": odd.moments.map(str),
        "key": odd.texts,
        "tenant": odd.names,
        "scope": odd.often(st.sampled_from(["room:kitchen", None]), st.just("x")),
        "metadata": odd.metadata,
    },
)


lines = odd.often(events.map(odd.written), st.one_of(odd.json_texts, odd.odd_text))


@pytest.fixture(scope="module")
def memory(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(settings_of(module_database, valkey_url, tmp_path_factory.mktemp("lines") / "spool")) as memory:
        yield memory


@pytest.mark.servers
@examples(25)
@given(st.lists(lines, max_size=5))
def test_each_line_of_a_file_is_taken_ignored_or_rejected(memory: Memory, given_lines: list[str]) -> None:
    rejected: list[int] = []
    report = ingest(given_lines, memory.store, on_reject=lambda line: rejected.append(line.number))
    tried("ingest", taken=not rejected)
    assert report.added + report.repeated + report.ignored + report.rejected == report.read + report.further
    assert len(rejected) == report.rejected
    assert broken_sessions(memory.store.settings.database_url) == []


entry_fields = {
    "tenant": odd.often(st.just("default"), odd.json_values),
    "agent": odd.often(odd.names, odd.json_values),
    "session": odd.often(odd.names, odd.json_values),
    "events": odd.often(
        st.lists(
            odd.often(
                st.fixed_dictionaries(
                    {
                        "key": odd.often(st.uuids().map(str), odd.json_values),
                        "kind": odd.often(st.sampled_from(["user", "task"]), odd.json_values),
                        "step": odd.often(st.integers(0, 3), odd.json_values),
                        "content": odd.often(odd.odd_text, odd.json_values),
                    },
                    optional={
                        "at": odd.time_texts,
                        "taken": odd.often(st.just("2026-03-01T00:00:00+00:00"), odd.json_values),
                        "metadata": odd.json_values,
                        "other": odd.json_values,
                    },
                ),
                odd.json_values,
            ),
            max_size=3,
        ),
        odd.json_values,
    ),
}
entries = st.fixed_dictionaries(
    entry_fields,
    optional={
        "about": odd.often(st.none(), st.one_of(odd.mappings, odd.json_values)),
        "trigger": odd.often(st.sampled_from([None, "idle", "note", "unread"]), odd.json_values),
        "newer": odd.json_values,
    },
)
ORDERS = ("00000000000000000001", "1772000000000000000", "9" * 30, "-1", "x", "")


def sound(content: str) -> str:
    event = {"key": f"k-{content}", "kind": "user", "step": 1, "content": content}
    return json.dumps({"tenant": "default", "agent": "atlas", "session": "sound", "events": [event]})


@pytest.mark.servers
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@examples(12)
@given(st.lists(st.one_of(entries.map(odd.written), lines), max_size=4), st.sampled_from(ORDERS), st.integers(0, 3))
@example(["[" * 5000, '{"tenant": 5, "agent": "a", "session": "s", "events": []}'], ORDERS[0], 0)
@example(['{"tenant": "default", "agent": "a", "session": "s", "events": [{"key": "k", "content": 7}]}'], ORDERS[1], 1)
@example(
    ['{"tenant": "t", "agent": "a", "session": "", "trigger": "note", "events": [{"content": "x"}]}'], ORDERS[1], 0
)
@example(['{"tenant": "\\ud800", "agent": "a", "session": "s", "events": []}'], ORDERS[2], 0)
def test_i1_a_damaged_spool_loses_no_sound_line_and_holds_up_nothing(
    module_database: str,
    valkey_url: str,
    tmp_path_factory: pytest.TempPathFactory,
    damaged: list[str],
    order: str,
    place: int,
) -> None:
    logging.disable(logging.CRITICAL)
    folder = tmp_path_factory.mktemp("spool")
    digest = database_digest(module_database)
    mark = folder.name
    some = [line.replace("\n", " ") for line in damaged]
    some.insert(min(place, len(some)), sound(f"early {mark}"))
    text = "\n".join(some) + "\n"
    (folder / f"{digest}-{order}-77-abcd.jsonl").write_bytes(text.encode("utf-8", "surrogatepass"))
    (folder / f"{digest}-1772000000000000001-77-abce.jsonl").write_text(sound(f"late {mark}") + "\n")
    (folder / f"{digest}-1772000000000000000-77-abcf.jsonl").mkdir()
    try:
        with Memory(settings_of(module_database, valkey_url, folder)) as memory:
            assert memory.flush(20), "what is damaged holds up nothing"
    finally:
        logging.disable(logging.NOTSET)
    tried("spool", taken=not spooled(folder).rejected_files)
    there = contents(module_database, "sound")
    assert there.count(f"late {mark}") == 1
    assert there.count(f"early {mark}") == 1 or list(folder.glob(f"{digest}-{order}-*"))
    assert broken_sessions(module_database) == []


KEYS = sorted(known_keys())
values = st.one_of(
    odd.odd_text, st.sampled_from(["true", "1e999", "nan", "-1", "[]", "{}", "0x10", "UTC", "~", "1_000"])
)
variables = st.dictionaries(
    st.one_of(st.sampled_from([variable_of(key) for key in KEYS]), odd.odd_text.map("SLOWWAVE_{}".format)),
    values.filter(lambda text: "\0" not in text),
    max_size=3,
)
trees = st.recursive(
    st.one_of(odd.json_leaves, values),
    lambda inner: st.dictionaries(
        st.one_of(st.sampled_from(["memory", "days", "files", "llm", "tenant", "spool", "timezone"]), odd.odd_text),
        inner,
        max_size=3,
    ),
    max_leaves=5,
)


yaml_texts = st.one_of(trees.map(lambda tree: yaml.safe_dump(odd.made(tree))), odd.odd_text, odd.json_texts).map(
    lambda text: text[:3000]
)  # reading YAML is slow


@examples(15)
@given(variables, yaml_texts)
@example({variable_of("memory.days.timezone"): "UTC"}, "memory: 5")
@example({variable_of("memory.days.timezone"): "UTC"}, "memory: {days: null}")
@example({}, "- " * 5000)
@example({}, "1: 2")
@example({}, "? [a]\n: 2")
@example({}, "{? {a: 1} : 2}")
@example({}, "a: 2026-02-31")
@example({}, "x: &a [*a]\ntenant: *a")
@example({}, "tenant: 1" + "0" * 5000)
def test_settings_are_read_or_the_key_is_named(tmp_path: Path, environment: dict[str, str], text: str) -> None:
    file = tmp_path / "slowwave.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        load_settings(environment, file=file)
    except InvalidSettings as error:
        told = str(error)
    else:
        told = None
    tried("settings", taken=told is None)
    assert told is None or "slowwave.yaml" in told or "SLOWWAVE_" in told
