"""Files that somebody made to do harm, or that are broken: counted and named, never followed, never held in memory."""

import json
import os
import pickle
import sqlite3
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.moving_in import json_stream
from slowwave_server.domain.moving_in.parsers import reader
from slowwave_server.domain.moving_in.records import SYSTEMS, Broken, ImportedMessage, LeftOut, Moved, Piece, System
from slowwave_server.services.moving_in.opening import NothingThere, open_source
from slowwave_server.services.moving_in.stores import NotReadable

GOOD = {"id": "a", "memory": "Ines likes tea."}


def read(system: System, path: Path) -> list[Moved | ImportedMessage | LeftOut | Broken]:
    parse = reader(system)
    found: list[Moved | ImportedMessage | LeftOut | Broken] = []
    for piece in open_source(system, str(path)):
        found += parse(piece) if isinstance(piece, Piece) else [piece]
    return found


def faults(found: list[Moved | ImportedMessage | LeftOut | Broken]) -> list[str]:
    return [entry.what for entry in found if isinstance(entry, Broken)]


def test_zip_bomb_is_one_fault(tmp_path: Path) -> None:
    bomb = tmp_path / "export.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        for _ in range(64):
            file.write(b" " * (1 << 20))
    found = read("chatgpt", bomb)
    assert len(found) == 1
    assert "unpacks to 67,108,864 bytes" in faults(found)[0]


def test_zip_that_lies_about_its_size_is_a_fault(tmp_path: Path) -> None:
    honest = tmp_path / "honest.zip"
    with zipfile.ZipFile(honest, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + " " * 100_000 + "]")
    raw = honest.read_bytes()
    size = (100_002).to_bytes(4, "little")
    (tmp_path / "lying.zip").write_bytes(raw.replace(size, (10).to_bytes(4, "little")))
    assert faults(read("chatgpt", tmp_path / "lying.zip"))


def test_zip_member_is_never_a_path(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    given_zip = outside / "export.zip"
    with zipfile.ZipFile(given_zip, "w") as archive:
        archive.writestr("../../conversations.json", "[]")
        archive.writestr("/etc/conversations.json", json.dumps([{"uuid": "x"}]))
    found = read("claude", given_zip)
    assert faults(found) == ["chat_messages is missing"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["export.zip", "outside"]


def test_link_in_a_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("- the vault opens with 4711")
    folder = tmp_path / "memfs"
    folder.mkdir()
    (folder / "own.md").write_text("- Ines is fine")
    (folder / "link.md").symlink_to(secret)
    os.mkfifo(folder / "pipe.md")
    texts = [entry.text for entry in read("letta", folder) if isinstance(entry, Moved)]
    assert texts == ["Ines is fine"]


class _Harm:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.path}",)


def test_pickle_in_a_store_runs_nothing(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    store = tmp_path / "storage.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE points (id TEXT, point BLOB)")
        huge_number = b"\x80\x04Nr\xff\xff\xff\x7f."
        rows = [pickle.dumps(_Harm(witness)), pickle.dumps({"a": _Harm(witness)}), b"\x80\x04garbage", huge_number]
        connection.executemany("INSERT INTO points VALUES ('x', ?)", [(row,) for row in rows])
    connection.close()
    found = read("mem0", store)
    assert len(faults(found)) == 4
    assert not witness.exists()


def test_sqlite_of_something_else_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "other.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE letters (id TEXT)")
    connection.close()
    with pytest.raises(NotReadable, match="its tables are: letters"):
        read("mem0", store)


def test_nothing_of_the_system_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"png")
    for system in SYSTEMS:
        with pytest.raises(NothingThere, match=r"is looked for"):
            read(system, tmp_path)
    with pytest.raises(NothingThere, match="there is no file or folder"):
        read("mem0", tmp_path / "away.json")


@pytest.mark.parametrize(
    "broken",
    ["7", '{"id": "a"}', '"text"', "null", '{"id": {}, "memory": "x"}', "[" * 5000 + "]" * 5000, '{"a": tru}', ""],
)
def test_broken_entry_costs_no_other(tmp_path: Path, broken: str) -> None:
    good = json.dumps(GOOD)
    file = tmp_path / "export.json"
    file.write_text(f'{{"results": [{good}, {broken}, {good.replace("tea", "rye")}]}}')
    found = read("mem0", file)
    assert [entry.text for entry in found if isinstance(entry, Moved)] == ["Ines likes tea.", "Ines likes rye."]
    assert len(faults(found)) == 1


@pytest.mark.parametrize("text", ["", "x", "{", "[", '["a', '{"results": [1', "[1,]", "[] []", '{"a" 1}'])
def test_file_that_is_no_json_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "export.json"
    file.write_text(text)
    assert any("the file is not valid JSON from here on" in what for what in faults(read("mem0", file)))


def test_line_that_is_broken_or_deep_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(GOOD) + "\n{\n" + "[" * 200_000 + "\n\n" + json.dumps(GOOD))
    found = read("mem0", file)
    assert (len(found), len(faults(found))) == (4, 2)


def test_entry_too_long_is_dropped_in_pieces() -> None:
    def chunks() -> Iterator[str]:
        yield '[{"id": "a", "memory": "'
        for _ in range(300):
            yield "x" * 200_000
        yield '"}, {"id": "b"}]'

    tracemalloc.start()
    found = list(json_stream.entries(chunks()))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found[0], json_stream.Fault)
    assert found[1] == json_stream.Found("", 2, {"id": "b"})
    assert most < 80_000_000


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(values=st.lists(values, max_size=5), size=st.integers(1, 7), ascii_only=st.booleans())
def test_stream_reads_what_json_reads(values: list[object], size: int, *, ascii_only: bool) -> None:
    text = json.dumps(values, ensure_ascii=ascii_only)
    chunks = (text[at : at + size] for at in range(0, len(text), size))
    assert [found.value for found in json_stream.entries(chunks) if isinstance(found, json_stream.Found)] == values


FIELDS = (
    "id uuid memory data payload fact content valid_at invalid_at namespace prefix key value mapping current_node"
    " message author parts chat_messages sender text type payload role cwd sessionId timestamp label agents messages"
    " tool_calls function arguments name created_at conversation_id source role_type attachments extracted_content"
).split()
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(FIELDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=8),
    max_leaves=20,
)


@given(system=st.sampled_from(SYSTEMS), value=odd, key=st.sampled_from(["", "agents", "messages", "blocks", "edges"]))
def test_any_entry_is_read_or_named(system: System, value: object, key: str) -> None:
    parse = reader(system)
    for number in (0, 1):
        for entry in parse(Piece("odd.json", key, number, value)):
            assert isinstance(entry, (Moved, ImportedMessage, LeftOut, Broken))
