"""Changes of one entry in a configuration file: every other byte stays, and taking it away leaves what was there."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.host_configs import json_edits, toml_edits
from slowwave_server.domain.host_configs.jsonc import BrokenFile, parse

OURS = {"type": "command", "command": "slowwave hook"}
COMMENTED = """\
// my settings
{
    "model": "opus", // the best
    /* hooks of mine */
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}, // trailing comma below
        ],
    },
    // the end
}
"""
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
documents = st.dictionaries(st.text(max_size=5), values, max_size=4)
styles = st.sampled_from([None, 2, 4, "\t"])


@given(documents, styles)
def test_text_is_read_as_json_reads_it(document: Any, indent: Any) -> None:
    assert parse(json.dumps(document, indent=indent)).value == document


@given(documents, styles, st.booleans())
def test_entry_that_comes_and_goes_leaves_the_file_as_it_was(document: Any, indent: Any, escaped: bool) -> None:
    document.pop("ours", None)
    text = json.dumps(document, indent=indent, ensure_ascii=escaped)
    put = json_edits.put(text, ("ours",), OURS)
    assert json.loads(put) == document | {"ours": OURS}
    assert list(json.loads(put)) == [*document, "ours"]
    back = json_edits.drop(put, ("ours",))
    assert json.loads(back) == document
    if document:
        assert back == text
    assert json_edits.put(put, ("ours",), OURS) == put


@given(documents, styles)
def test_list_item_that_comes_and_goes_leaves_the_rest(document: Any, indent: Any) -> None:
    document["hooks"] = {"Stop": [{"command": "mine"}]}
    text = json.dumps(document, indent=indent)
    appended = json_edits.append(text, ("hooks", "Stop"), OURS)
    appended = json_edits.append(appended, ("hooks", "Begin"), OURS)
    assert json.loads(appended)["hooks"] == {"Stop": [{"command": "mine"}, OURS], "Begin": [OURS]}
    back = json_edits.drop_items(appended, ("hooks", "Stop"), lambda item: item == OURS)
    back = json_edits.drop_items(back, ("hooks", "Begin"), lambda item: item == OURS)
    assert back == text


def test_comments_and_trailing_commas_stay() -> None:
    changed = json_edits.append(COMMENTED, ("hooks", "Stop"), OURS)
    changed = json_edits.put(changed, ("mcp", "slowwave"), {"command": "x"})
    kept = [line for line in COMMENTED.splitlines() if line.strip()]
    found = iter(changed.splitlines())
    assert all(line in found for line in kept), changed
    value = parse(changed).value
    assert len(value["hooks"]["Stop"]) == 2
    assert value["mcp"] == {"slowwave": {"command": "x"}}
    back = json_edits.drop(json_edits.drop_items(changed, ("hooks", "Stop"), lambda item: item == OURS), ("mcp",))
    assert back == COMMENTED


@pytest.mark.parametrize(
    "text", ["{", '{"a" 1}', '{"a": 1 "b": 2}', "{'a': 1}", "[1,,2]", '{"a": tru}', "{} {}", "[" * 500, '"\x01"', "{,}"]
)
def test_broken_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BrokenFile, match=r"line 1, column \d+: expected"):
        json_edits.put(text, ("a",), 1)


def test_entry_of_another_form_is_refused() -> None:
    with pytest.raises(BrokenFile, match="hooks must hold an object"):
        json_edits.put('{"hooks": []}', ("hooks", "Stop"), [])
    with pytest.raises(BrokenFile, match=r"hooks\.Stop must hold a list"):
        json_edits.append('{"hooks": {"Stop": {}}}', ("hooks", "Stop"), {})


TOML = """# mine
model = "gpt-6" # fast
notify = ["say", "done"]

[mcp_servers.other]
command = "x"

# about profiles
[profiles.deep]
effort = "high"
"""
TABLE: dict[str, str | list[str]] = {"command": "slowwave", "args": ["hook", "codex", "mcp"]}
PATH = ("mcp_servers", "slowwave")


@pytest.mark.parametrize("text", ["", "a = 1", TOML])
def test_table_that_comes_and_goes_leaves_the_file_as_it_was(text: str) -> None:
    put = toml_edits.put(text, PATH, TABLE)
    assert tomllib.loads(put)["mcp_servers"]["slowwave"] == TABLE
    assert put.startswith(text)
    assert toml_edits.put(put, PATH, TABLE) == put
    assert toml_edits.drop(put, PATH).rstrip("\n") == text.rstrip("\n")


def test_keys_of_a_person_in_our_table_stay() -> None:
    text = TOML + '\n[mcp_servers.slowwave]\ncommand = "old"\nstartup_timeout_sec = 20\n\n# next\n[z]\na = 1\n'
    put = toml_edits.put(text, PATH, TABLE)
    assert tomllib.loads(put)["mcp_servers"]["slowwave"] == TABLE | {"startup_timeout_sec": 20}
    assert put.endswith("\n# next\n[z]\na = 1\n")
    assert toml_edits.drop(put, PATH) == TOML + "\n# next\n[z]\na = 1\n"


@pytest.mark.parametrize("text", ["a =", "[a", 'mcp_servers = {slowwave = {command = "x"}}', "mcp_servers = {}"])
def test_toml_that_can_not_be_changed_is_refused(text: str) -> None:
    with pytest.raises(BrokenFile):
        toml_edits.put(text, PATH, TABLE)
