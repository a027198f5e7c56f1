"""Settings: every key declared is a key used and documented; a wrong one is named, with the nearest right one."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from slowwave.errors import InvalidSettings
from slowwave.settings import Settings, known_keys, load_settings, variable_of
from slowwave.validation_errors import plain_problems
from tests.support.tables import for_each

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("client/src/slowwave", "domain", "models", "services", "tasks", "workers")


def test_mistake_32_every_declared_setting_is_read() -> None:
    files = [p for f in FOLDERS for p in (ROOT / f).rglob("*.py") if p.name != "settings.py"]
    code = "\n".join(p.read_text(encoding="utf-8") for p in [*files, ROOT / "beat_schedule.py"])
    read = set(re.findall(r"\.(\w+)", code))
    assert [key for key in known_keys() if key.rsplit(".", 1)[-1] not in read] == []


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [key for key in known_keys() if f"`{key}`" not in text] == []


def test_variables_win_over_the_file_and_the_file_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "slowwave.yaml"
    file.write_text("memory:\n  auto_flush:\n    idle_seconds: 30\n    turn_threshold: 9\n")
    settings = load_settings({"SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS": "7"}, file=file)
    assert settings.memory.auto_flush.idle_seconds == 7
    assert settings.memory.auto_flush.turn_threshold == 9
    assert settings.memory.auto_flush.per_agent_concurrency == 1


def test_an_unknown_key_is_an_error_that_names_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"SLOWWAVE_DATABASE_ULR; did you mean 'SLOWWAVE_DATABASE_URL'"):
        load_settings({"SLOWWAVE_DATABASE_ULR": "x"})
    file = tmp_path / "slowwave.yaml"
    file.write_text("memory:\n  auto_flush:\n    idle_second: 30\n")
    with pytest.raises(InvalidSettings, match=r"'memory.auto_flush.idle_second'; did you mean '.*idle_seconds'"):
        load_settings({}, file=file)


@pytest.mark.parametrize(
    ("text", "message"),
    [("- a\n- b\n", "must hold keys and values"), ("a: [1,\n", "can't be read as YAML"), ("memory: 3\n", "memory")],
)
def test_a_file_that_is_no_tree_of_settings_is_refused_with_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "slowwave.yaml"
    file.write_text(text)
    with pytest.raises(InvalidSettings, match=message):
        load_settings({}, file=file)


def test_a_value_out_of_bounds_names_its_key_and_its_variable() -> None:
    with pytest.raises(
        InvalidSettings, match=r"memory.days.timezone \(SLOWWAVE_MEMORY__DAYS__TIMEZONE\).*'Europe/Berlin'"
    ):
        load_settings({"SLOWWAVE_MEMORY__DAYS__TIMEZONE": "Europe/Berlni"})
    with pytest.raises(InvalidSettings, match="per_agent_concurrency"):
        load_settings({variable_of("memory.auto_flush.per_agent_concurrency"): "0"})


WRONG = """
memory:
  auto_flush: {idle_seconds: ten, turn_treshold: 5}
  backend: oracle
  files: 3
  days: {timezone: Europe/Berln, cutoff_hour: 40}
  retention: {event_days: 1.5}
tracing: maybe
tenant: ""
database_url: {password: hidden-word}
nonsense: 1
"""


def test_renamed_setting_is_refused_with_its_new_name(tmp_path: Path) -> None:
    file = tmp_path / "slowwave.yaml"
    file.write_text("memory: {auto_flush: {turn_seconds: 1}}")
    with pytest.raises(InvalidSettings) as caught:
        load_settings({"SLOWWAVE_MEMORY__AUTO_FLUSH__TURN_SECONDS": "1"}, file=file)
    assert caught.value.problems == (
        (
            f"{file}: unknown key {'memory.auto_flush.turn_seconds'!r} was renamed;"
            f" use {'memory.auto_flush.batch_seconds'!r} instead"
        ),
        (
            "unknown variable SLOWWAVE_MEMORY__AUTO_FLUSH__TURN_SECONDS was renamed;"
            " use 'SLOWWAVE_MEMORY__AUTO_FLUSH__BATCH_SECONDS' instead"
        ),
    )


def test_a_wrong_file_is_told_with_all_its_errors(tmp_path: Path) -> None:
    file = tmp_path / "slowwave.yaml"
    file.write_text(WRONG)
    with pytest.raises(InvalidSettings) as caught:
        load_settings({"SLOWWAVE_TENNANT": "acme"}, file=file)
    told = {line.partition(": ")[0].partition(" (")[0]: line.partition(": ")[2] for line in caught.value.problems[3:]}
    assert caught.value.problems[:3] == (
        f"{file}: unknown key 'memory.auto_flush.turn_treshold'; did you mean 'memory.auto_flush.turn_threshold'?",
        f"{file}: unknown key 'nonsense'",
        "unknown variable SLOWWAVE_TENNANT; did you mean 'SLOWWAVE_TENANT'?",
    )
    assert told == {
        "database_url": "must be text",
        "tenant": "must be text of 1 to 200 characters, got ''",
        "tracing": "must be true or false, got 'maybe'",
        "memory.backend": "must be one of postgres, file, mem0, got 'oracle'",
        "memory.auto_flush.idle_seconds": "must be a number from 0 to 86400, got 'ten'",
        "memory.days.timezone": "'Europe/Berln' is not an IANA time zone; did you mean 'Europe/Berlin'?",
        "memory.days.cutoff_hour": "must be a whole number from 0 to 23, got 40",
        "memory.retention.event_days": "must be a whole number from 0 to 36500, got 1.5",
        "memory.files": "must be keys and values (root, sync_seconds), got 3",
    }


@for_each("key", known_keys())
def test_a_wrong_value_of_any_key_gets_its_allowed_form(key: str) -> None:
    tree: dict[str, object] = {}
    *path, leaf = key.split(".")
    inner = tree
    for part in path:
        inner = inner.setdefault(part, {})  # type: ignore[assignment]
    inner[leaf] = ["no", "setting", "is", "a", "list"]
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(tree)
    ((place, told),) = plain_problems(Settings, caught.value)
    assert place == key
    assert told.startswith("must be ")


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="there is no such file"):
        load_settings({"SLOWWAVE_CONFIG": str(tmp_path / "absent.yaml")})


def test_settings_are_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        Settings().tenant = "other"  # type: ignore[misc]
