"""`slowwave import from` as a person and as a script use it: shown, asked, done, undone."""

import zipfile
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from tests.moving_in.moving import FIXTURES
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


@pytest.fixture
def shell(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Shell:
    redis_client.ping()
    return Shell(database_url, valkey_url, tmp_path)


def test_shows_asks_does_and_is_undone(shell: Shell, engine: Engine) -> None:
    export = str(FIXTURES / "graphiti_export.json")
    refused = shell("import", "from", "zep", export, "--agent", "ines", stdin="n\n")
    assert refused.exit_code == 1
    assert "zep holds 3 memories, 4 messages, 1 conversation." in refused.output
    assert "Ines lives in Porto." in refused.output
    assert "Import it?" in refused.output
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM slowwave.memories")).scalar() == 0
    done = shell("import", "from", "zep", export, "--agent", "ines", stdin="y\n")
    assert done.exit_code == 0
    assert "ines: run 1; `slowwave run undo 1` reverses it." in done.output
    again = shell("import", "from", "zep", export, "--agent", "ines", "--yes")
    assert "Nothing was changed." in again.output
    undone = shell("run", "undo", "1")
    assert "Run 1 is undone: 3 memories and 1 conversation are gone for good." in undone.output
    assert "It cannot be reversed" in undone.output


def test_json_tells_counts_and_runs(shell: Shell, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.write(FIXTURES / "chatgpt" / "conversations.json", "conversations.json")
        zipped.writestr("user.json", "{}")
    look = shell.json("import", "from", "chatgpt", str(archive), "--agent", "ines", "--dry-run")
    assert (look["dry_run"], look["held"]["messages"], look["runs"]) == (True, 6, {})
    done = shell.json("import", "from", "chatgpt", str(archive), "--agent", "ines", "--yes")
    assert (done["done"]["messages recorded"], done["runs"]) == (6, {"ines": 1})
    assert done["left_out"]["file of another kind"] == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mem0", "away.json", "--agent", "a", "--yes"), "there is no file or folder away.json"),
        (("mem0", "mem0_export.json", "--yes"), "give --agent NAME"),
        (("zep", "postgresql://127.0.0.1/x", "--agent", "a", "--yes"), "is read for mem0 and langgraph, not for zep"),
        (("mem0", "postgresql://127.0.0.1:1/x", "--agent", "a", "--yes"), "the store can't be read"),
        (("mem0", "mem0_export.json", "--agent", "a", "--json"), "--json cannot ask for confirmation"),
    ],
)
def test_refusal_is_a_sentence(shell: Shell, arguments: tuple[str, ...], sentence: str) -> None:
    given = [str(FIXTURES / one) if (FIXTURES / one).is_file() else one for one in arguments]
    refused = shell("import", "from", *given)
    assert refused.exit_code in (1, 2)
    assert sentence in refused.stderr
    assert "Traceback" not in refused.output


def test_broken_entries_are_told_and_exit_is_1(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text('[{"id": "1", "memory": "Ines paints."}, {"id": "2"}]')
    ended = shell("import", "from", "mem0", str(path), "--agent", "ines", "--yes")
    assert ended.exit_code == 1
    assert "export.json: entry 2: neither memory nor data holds a text" in ended.stderr


def test_agent_goes_out_and_in_by_the_shell(shell: Shell, tmp_path: Path) -> None:
    shell("import", "from", "zep", str(FIXTURES / "graphiti_export.json"), "--agent", "ines", "--yes")
    file = str(tmp_path / "ines.zip")
    sent = shell.json("agent", "export", "ines", file)
    assert (sent["rows"]["memories"], sent["rows"]["events"]) == (3, 4)
    assert "--as NAME" in shell("agent", "import", file).stderr
    copied = shell("agent", "import", file, "--as", "tomas")
    assert copied.exit_code == 0
    assert "`slowwave agent forget tomas` removes it" in copied.output
    assert "was already imported into agent tomas" in shell("agent", "import", file, "--as", "tomas").output
    assert shell("agent", "export", "nobody", file).exit_code == 1
    assert shell("agent", "import", str(FIXTURES / "mem0_export.json")).exit_code == 1
