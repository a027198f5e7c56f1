"""Folders of names: any name has its own, and nothing that a file system does with a name leads anywhere else."""

import unicodedata
from urllib.parse import unquote_to_bytes

from hypothesis import example, given
from hypothesis import strategies as st

from slowwave_server.domain.memory_files import encode_name, scope_folder
from slowwave_server.domain.memory_files.names import MAX_FOLDER_BYTES

HOSTILE = ("", ".", "..", "../../etc/passwd", "a/b", "a\\b", "a\x00b", "CON", "con", "nul", "com1", "-rf", ".git", "x.",
           "x ", "~", "%", "%2e", "Maya", "maya", "мaya", "é", "e\u0301", "ﬁ", "fi",
           "x" * 300, "é" * 200, "🌊" * 64)  # fmt: skip
names = st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE), st.text(alphabet="aA-_.%~/é", max_size=12))


def folded(folder: str) -> str:
    return unicodedata.normalize("NFC", folder.casefold())


@given(names)
@example("con")
@example("é" * 300)
def test_a_folder_is_one_harmless_component(name: str) -> None:
    folder = encode_name(name)
    assert folder.isascii()
    assert 1 <= len(folder) <= MAX_FOLDER_BYTES
    assert not set(folder) & set('/\\.:*?"<>| \x00')
    assert folder == folded(folder)
    assert not folder.startswith("-")
    assert folder not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(names)
def test_a_folder_leads_back_to_its_name(name: str) -> None:
    folder = encode_name(name)
    assert "~" in folder or unquote_to_bytes(folder).decode("utf-8", "surrogatepass") == (name or "%")


@given(names, names)
@example("Maya", "maya")
@example("é", "e\u0301")
@example("x" * 300, "x" * 301)
def test_mistake_39_two_names_never_share_a_folder(one: str, other: str) -> None:
    assert (folded(encode_name(one)) == folded(encode_name(other))) == (one == other)


def test_all_hostile_names_have_folders_of_their_own() -> None:
    assert len({encode_name(name) for name in HOSTILE}) == len(HOSTILE)


def test_a_scope_has_three_folders_whatever_it_is_called() -> None:
    assert str(scope_folder("default", "agent", "maya")) == "default/agent/maya"
    path = scope_folder("..", "room", "../../x")
    assert len(path.parts) == 3
    assert not path.is_absolute()
    assert ".." not in path.parts
