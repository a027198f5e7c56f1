"""`slowwave evaluate recall`: the example of its page, on servers of its own."""

import json
import re
from pathlib import Path

import pytest

from slowwave_server.workers.cli.main import app
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

PAGE = Path(__file__).parents[2] / "docs" / "evaluate.md"


def example() -> str:
    return "".join(f"{line.strip()}\n" for line in PAGE.read_text(encoding="utf-8").splitlines() if '{"agent"' in line)


def words_of(told: str) -> list[str]:
    return re.findall(r"[a-z@]+[\d,]*", told)


def test_example_of_the_page_prints_what_the_page_names(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(example(), encoding="utf-8")
    # Nothing listens there: the command must not open the servers of the settings.
    elsewhere = {"SLOWWAVE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    done = CliRunner(env=elsewhere).invoke(app, ["evaluate", "recall", str(file)])
    assert done.exit_code == 0, done.stderr
    shown = re.search(
        r"\$ slowwave evaluate recall questions.jsonl\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert shown is not None
    # The figures of an example this small change with every rule; what they are called does not.
    assert words_of(done.stdout) == words_of(shown[1])


def test_json_holds_means_errors_and_categories() -> None:
    done = CliRunner().invoke(app, ["evaluate", "recall", "-", "--json"], input=example())
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["agents"], told["messages"], told["questions"]) == (1, 4, 2)
    assert told["ways"]["search, words"]["any@10"] == {"mean": 1.0, "standard_error": 0.0, "questions": 2}
    assert "any@10" not in told["ways"]["context, words"]
    assert sorted(told["categories"]) == ["travel", "work"]


def test_bad_line_ends_with_its_number_and_the_forms() -> None:
    done = CliRunner().invoke(app, ["evaluate", "recall", "-"], input='\n{"agent": "atlas", "question": "Where?"}\n')
    assert done.exit_code == 2
    assert "line 2 of -: evidence must be a list of at least one id of an event" in done.stderr
    assert '"role": "user"' in done.stderr
    done = CliRunner().invoke(app, ["evaluate", "recall", "-"], input="")
    assert (done.exit_code, "holds no question" in done.stderr) == (2, True)
