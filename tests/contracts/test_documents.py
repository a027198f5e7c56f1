"""Documents agree with the code: what they name exists, what they show compiles, and what is marked runnable runs."""

import ast
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

import slowwave
from slowwave import errors, messages, postgres_text
from slowwave.coordination.keys import QUEUES
from slowwave.ingest import FIELDS, ingest
from slowwave.settings import OTHER_VARIABLES, PREFIX, Settings, known_keys, variable_of
from slowwave.store import Store
from slowwave_server.domain.waiting_facts import Reason
from slowwave_server.services.task_payloads import PAYLOADS
from slowwave_server.workers.app import make_app
from slowwave_server.workers.cli.main import app as shell
from tests.support.compose import services
from tests.support.documents import DOCUMENTS, ROOT, WRITTEN, Block, blocks, commands, curls, links, spans
from tests.support.shelling import tree

README = ROOT / "README.md"
DOCS = ROOT / "docs"
INGEST = DOCS / "ingest.md"
PYTHON = blocks(info="python")
RUNNABLE = [block for block in PYTHON if "runnable" in block.info]


def _offenders(find: Callable[[Path], Iterable[str]]) -> dict[str, list[str]]:
    """What is wrong in which document."""
    assert len(DOCUMENTS) > 100
    found = {document.relative_to(ROOT).as_posix(): list(find(document)) for document in DOCUMENTS}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_every_link_leads_somewhere() -> None:
    def dead(document: Path) -> list[str]:
        local = [link for link in links(document) if "://" not in link]
        return [link for link in local if not (document.parent / link.partition("#")[0]).exists()]

    assert _offenders(dead) == {}


def test_every_path_that_is_named_exists() -> None:
    top = {path.name for path in ROOT.iterdir()}
    known = {"slowwave.yaml", "talk.py", "workers.py"}  # files that a user may write, or writes in the tutorial

    def absent(document: Path) -> list[str]:
        words = [word for command in commands(document) for word in command.split()]
        named = [word for word in words if re.fullmatch(r"[\w.-]+(/[\w.*-]+)+/?|[\w-]+\.(py|yaml|toml)", word)]
        places = (ROOT, document.parent, ROOT / "client" / "src" / "slowwave")
        ours = [n for n in named if n.partition("/")[0] in top or re.search(r"\.(py|md|sql|lua|ya?ml|toml)$", n)]
        return [n for n in ours if n not in known and not any((place / n).exists() for place in places)]

    assert _offenders(absent) == {}


def test_every_row_of_a_table_is_below_its_head() -> None:
    def headless(document: Path) -> list[str]:
        text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        return [table for table in tables if not re.match(r"\|.*\n\|[ :|-]+\|\n", table)]

    assert _offenders(headless) == {}


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    def unknown(document: Path) -> set[str]:
        return {c.split()[1] for c in commands(document) if re.match(r"make [a-z]", c)} - targets

    assert _offenders(unknown) == {}


def test_every_shell_command_and_option_exists() -> None:
    top = tree(shell)

    def unknown(document: Path) -> Iterator[str]:
        for command in commands(document):
            for call in re.findall(r"(?:^|\(|&& |exec [\w-]+ )(slowwave(?: [^)|>;]+)?)", command):
                try:
                    words = shlex.split(call)[1:]
                except ValueError:  # a quote that another line closes
                    words = call.split()[1:]
                yield from (f"{call}: unknown {word}" for word in _unknown_words(top, words))

    assert _offenders(unknown) == {}


def _unknown_words(at: Any, words: list[str]) -> Iterator[str]:
    """Walk down the groups of commands; then every option must be one of the command's."""
    known = {option for parameter in at.params for option in parameter.opts} | {"--help"}
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            if word not in known:
                yield word
            if word == "--tenant" and words:
                words.pop(0)
        elif hasattr(at, "commands") and not word.isupper():  # capitals: the value of an option, as in `--tenant NAME`
            if word not in at.commands:
                yield word
                return
            at = at.commands[word]
            known = {option for parameter in at.params for option in parameter.opts} | {"--help"}


def test_every_command_of_the_shell_is_documented() -> None:
    text = "\n".join(command for document in WRITTEN for command in commands(document))
    missing = []
    for name, command in tree(shell).commands.items():
        names = [f"{name} {sub}" for sub in command.commands] if hasattr(command, "commands") else [name]
        missing += [n for n in names if f"slowwave {n}" not in text and n not in {"version", "demo"}]
    assert missing == []


def test_every_setting_that_is_named_is_one() -> None:
    known = known_keys()
    variables = {variable_of(key) for key in known} | OTHER_VARIABLES

    def unknown(document: Path) -> set[str]:
        named = set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", document.read_text(encoding="utf-8")))
        keys = {span for span in spans(document) if re.fullmatch(r"memory(\.[a-z_]+)+", span)}
        return named - variables | {n for n in keys if not any(k == n or k.startswith(f"{n}.") for k in known)}

    assert _offenders(unknown) == {}


def test_every_name_of_ours_is_a_task_a_function_or_a_module() -> None:
    tasks = make_app(Settings())
    tasks.loader.import_default_modules()
    sql = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "models" / "functions").glob("*.sql"))
    known = {name.removeprefix("slowwave.") for name in tasks.tasks if name.startswith("slowwave.")}
    known |= set(re.findall(r"FUNCTION slowwave\.(\w+)", sql))
    known |= set(re.findall(r"current_setting\('slowwave\.(\w+)'", sql))
    # Files of settings, beside an export, of systemd, of a shell, of OpenCode.
    known |= {"yaml", "env", "json", "target", "fish", "js"}

    def unknown(document: Path) -> list[str]:
        named = set(re.findall(r"\bslowwave\.([a-z_]+)", document.read_text(encoding="utf-8"))) - known
        named = {name for name in named if not name.endswith("_id_seq") and not hasattr(slowwave, name)}
        return [name for name in named if importlib.util.find_spec(f"slowwave.{name}") is None]

    assert _offenders(unknown) == {}


def test_every_python_block_compiles() -> None:
    for block in PYTHON:
        compile(block.text, block.name, "exec", ast.PyCF_ONLY_AST)


@pytest.mark.servers
@pytest.mark.parametrize("block", RUNNABLE, ids=lambda block: block.name)
def test_every_runnable_block_runs(
    block: Block, database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path
) -> None:
    """As a program of its own, on real servers; whatever it sends is a payload that its task takes."""
    given = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url, "SLOWWAVE_SPOOL": str(tmp_path)}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    program = [sys.executable, "-W", "error", "-c", block.text]
    result = subprocess.run(
        program, env=clean | given, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100
    )
    assert result.returncode == 0, result.stderr
    sent = [(queue, json.loads(raw)) for queue in QUEUES for raw in redis_client.lrange(queue, 0, -1)]
    for queue, message in sent:
        _check_message(queue, message, block.text)
    if "send_task" in block.text:
        assert len(sent) == block.text.count("send_task("), "all of it lies in queues that workers read"


def _check_message(queue: str, message: dict[str, Any], text: str) -> None:
    headers = message["headers"]
    encoded = message["properties"].get("body_encoding") == "base64"
    args, kwargs, _ = json.loads(b64decode(message["body"]) if encoded else message["body"])
    model = PAYLOADS[headers["task"]]
    payload = dict(zip(model.model_fields, args, strict=False)) | kwargs
    model.model_validate(payload)
    shown = headers["argsrepr"] + headers["kwargsrepr"]
    for said in payload.get("messages", ()):
        assert said["content"] not in shown, "an example keeps its text out of dashboards"
    assert "content" not in payload or payload["content"] not in shown, "nor does one with a note"
    assert f'queue="{queue}"' in text or queue.startswith("flush") or "send_task" not in text


def test_every_curl_sends_what_its_task_takes_and_hides_the_text() -> None:
    found = curls(DOCS / "other-languages.md")
    assert len(found) >= 2
    routes = make_app(Settings()).conf.task_routes
    for task, raw in found:
        body = json.loads(raw)
        model = PAYLOADS[task]
        model.model_validate(dict(zip(model.model_fields, body.get("args", ()), strict=False)) | body.get("kwargs", {}))
        assert body["queue"] == routes[task]["queue"]
        assert "messages" not in body.get("kwargs", {}) or "kwargsrepr" in body


@pytest.mark.parametrize("task", PAYLOADS)
def test_the_tables_of_arguments_have_the_models_fields_in_their_order(task: str) -> None:
    section = (DOCS / "tasks.md").read_text(encoding="utf-8").split(f"### {task}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \| (needed)? ?\|", section, re.MULTILINE)
    fields = PAYLOADS[task].model_fields
    assert rows == [(name, "needed" if field.is_required() else "") for name, field in fields.items()]


@pytest.mark.servers
def test_the_lines_of_the_page_on_files_are_taken_and_its_fields_are_all_there_are(
    database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    (block,) = [block for block in blocks(of=INGEST, info="json") if "lines" in block.info]
    store = Store(Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path))
    report = ingest(block.text.splitlines(), store)
    store.close()
    assert (report.added, report.rejected) == (2, 0)
    section = INGEST.read_text(encoding="utf-8").split("## The lines")[1].split("```")[0]
    assert set(re.findall(r"`([a-z_]+)`", section)) == FIELDS


def test_the_documented_converter_writes_lines_that_can_be_ingested(tmp_path: Path) -> None:
    said = {
        "speaker_a": "Maya",
        "speaker_b": "Jonas",
        "session_10_date_time": "12:05 am on 9 March, 2026",
        "session_10": [{"speaker": "Maya", "dia_id": "D10:1", "text": "Back from Bergen!"}],
        "session_2_date_time": "1:30 pm on 3 March, 2026",
        "session_2": [
            {"speaker": "Maya", "dia_id": "D2:1", "text": "I booked a cabin."},
            {"speaker": "Jonas", "dia_id": "D2:2", "text": "Take the telescope.", "img_url": ["x"]},
        ],
        "session_11_date_time": "9:00 am on 10 March, 2026",
    }
    source = tmp_path / "conversations.json"
    source.write_text(json.dumps([{"sample_id": "trip", "conversation": said, "qa": []}]), encoding="utf-8")
    command = next(c for c in commands(INGEST) if "convert_locomo" in c).split(" > ")[0].split()
    program = [sys.executable, *command[1:-1], str(source)]
    result = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["session"], line["role"], line["name"], line["at"], line["key"]) for line in lines] == [
        ("session_2", "user", "Maya", "2026-03-03T13:30:00+00:00", "trip:D2:1"),
        ("session_2", "assistant", "Jonas", "2026-03-03T13:31:00+00:00", "trip:D2:2"),
        ("session_10", "user", "Maya", "2026-03-09T00:05:00+00:00", "trip:D10:1"),
    ]
    assert all(line.keys() <= FIELDS and line["agent"] == "trip" for line in lines)


def test_ci_runs_the_commands_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    ci = set(re.findall(r"^step .*(make \w+)(?= \||$)", script, re.MULTILINE))
    named = {command for command in commands(README) if re.fullmatch(r"make \w+", command)}
    assert {"make setup", "make demo", "make test", "make long"} <= ci <= named


def test_operate_pages_have_every_reason_and_check() -> None:
    looking, checking = ((DOCS / "operate" / page).read_text("utf-8") for page in ("status.md", "doctor.md"))
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "services" / "reports").glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    made = {"fine", "unknown", "problem"}
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in made]
    checks = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert len(checks) > 10
    rows = re.compile(r"^\| `([a-z ]+)` \|", re.MULTILINE)
    assert {reason.value for reason in Reason} == set(rows.findall(looking))
    assert checks == set(rows.findall(checking))


def test_the_page_on_the_client_has_every_method_every_error_and_every_limit() -> None:
    text = (DOCS / "client.md").read_text(encoding="utf-8")
    calls = [name for name in dir(slowwave.Memory) if not name.startswith("_")]
    public = {name for name in calls if callable(getattr(slowwave.Memory, name))}
    assert {name for name in public if f"`{name}(" not in text and f".{name}(" not in text} == set()
    raised = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name in raised if f"`{name}`" not in text} == set()
    limits = (messages.MAX_CONTENT_CHARACTERS, messages.MAX_MESSAGES, postgres_text.MAX_METADATA_BYTES, *messages.YEARS)
    table = text.split("## Limits")[1].split("##")[0]
    assert [n for n in limits if f"{n:,} " not in table and f"{n} " not in table] == []
    assert {role for role in messages.KINDS if f"`{role}`" not in text} == set()
    assert {event for event in messages.TASK_EVENTS if f"`{event}`" not in text} == set()


def test_the_page_on_deployment_has_every_worker_with_its_queues() -> None:
    text = (DOCS / "deploy.md").read_text(encoding="utf-8")
    for name, service in services().items():
        command = " ".join(service.get("command") or [])
        if queues := re.search(r"-Q (\S+)", command):
            (row,) = re.findall(rf"^\| `{name}` \|([^|]+)\|", text, re.MULTILINE)
            assert re.findall(r"`([\w.]+)`", row) == queues[1].split(",")


def test_every_decision_is_listed_with_its_four_parts() -> None:
    folder = DOCS / "decisions"
    records = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    assert [Path(link).name for link in links(folder / "README.md")] == [path.name for path in records]
    for record in records:
        text = record.read_text(encoding="utf-8")
        for part in ("**Decision.**", "**Why.**", "**Cost.**", "**Tests.**"):
            assert part in text, f"{record.name}: {part}"
