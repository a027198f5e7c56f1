"""The driver for programs: what their exit statuses mean, and that none outlives its call."""

import json
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from slowwave_server.domain.model_calls import ModelFailed, Prompt, Unanswered
from slowwave_server.services.llm.command_driver import MAX_ANSWER_BYTES, CommandDriver
from slowwave_server.services.llm.drivers import UnfitAnswer, prompt_tokens
from tests.support.prompting import KEY, SAID, SCHEMA, prompt


def program(folder: Path, text: str) -> CommandDriver:
    script = folder / "a model.py"
    script.write_text(f"import json, os, sys, time\n{text}\n", encoding="utf-8")
    return CommandDriver(f"{sys.executable} -S '{script}' --key {KEY}")


def ask(driver: CommandDriver, asked: Prompt | None = None, *, seconds: float = 20) -> object:
    answer = driver.complete(asked or prompt(), max_output_tokens=77, timeout_seconds=seconds)
    assert answer.tokens > 0
    return answer.text if answer.data is None else answer.data


def gone(process: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def eventually_gone(process: int) -> bool:
    deadline = time.monotonic() + 10
    while not gone(process) and time.monotonic() < deadline:
        Event().wait(0.01)
    return gone(process)


def test_the_prompt_comes_on_stdin_with_its_schema_and_json_goes_back(tmp_path: Path) -> None:
    driver = program(
        tmp_path,
        "said = sys.stdin.read()\n"
        "said = {'memories': [said, os.environ['MAX_OUTPUT_TOKENS']]}\n"
        "print('```json', json.dumps(said), '```', sep='\\n')",
    )
    data = ask(driver)
    assert isinstance(data, dict)
    said, most = data["memories"]
    assert said.startswith("Find facts.")
    assert said.endswith(SAID)
    assert json.dumps(SCHEMA) in said
    assert most == "77"


def test_plain_text_is_taken_as_it_is_and_tokens_are_estimated(tmp_path: Path) -> None:
    driver = program(tmp_path, "print('<think>hm</think>\\nPriya lives in Porto.')")
    answer = driver.complete(prompt(schema=None), max_output_tokens=9, timeout_seconds=20)
    assert answer.text == "Priya lives in Porto."
    assert 0 < answer.input_tokens <= prompt_tokens(prompt(schema=None))
    assert answer.output_tokens > 4


def test_a_program_need_not_read_its_prompt(tmp_path: Path) -> None:
    driver = program(tmp_path, "os.close(0); print('NO_REPLY')")
    assert ask(driver, prompt(user="much " * 100_000, no_reply="NO_REPLY")) == "NO_REPLY"


def test_a_long_prompt_and_a_long_answer_do_not_wait_for_each_other(tmp_path: Path) -> None:
    driver = program(tmp_path, "print('x' * 300_000, flush=True); sys.stdin.read(); print('y' * 300_000)")
    assert len(str(ask(driver, prompt(user="much " * 100_000, schema=None)))) == 600_001


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("sys.exit(75)", Unanswered, "can't answer now"),
        (f"print('{SAID}'); sys.stderr.write('{SAID}'); sys.exit(3)", ModelFailed, "exit status 3"),
        ("os.kill(os.getpid(), 9)", ModelFailed, "signal 9"),
        (f"print('{SAID}')", UnfitAnswer, "not JSON"),
        (f"print(json.dumps({{'memories': [], '{SAID}': 1}}))", UnfitAnswer, "additionalProperties"),
        ("pass", UnfitAnswer, "empty"),
        (f"sys.stdout.write('x' * {MAX_ANSWER_BYTES + 100_000}); time.sleep(60)", ModelFailed, "more than"),
    ],
)
def test_mistake_10_only_exit_status_75_is_tried_again(
    tmp_path: Path, text: str, kind: type[Exception], says: str
) -> None:
    with pytest.raises((Unanswered, ModelFailed), match=says) as failed:
        ask(program(tmp_path, text))
    assert type(failed.value) is kind
    assert failed.value.tokens, "it was asked, so it cost something"
    assert SAID not in str(failed.value)
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("ending", ["os.close(1); time.sleep(60)", "os._exit(0)"])
def test_when_the_time_is_up_the_whole_group_ends(tmp_path: Path, ending: str) -> None:
    note = tmp_path / "children"
    # The child keeps stdout open, so that its parent's end is not the end of the answer.
    driver = program(
        tmp_path,
        f"child = os.fork()\nif child == 0:\n    time.sleep(60)\n"
        f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child}}')\n{ending}",
    )
    with pytest.raises(Unanswered, match=r"no answer within 1\.5 s") as failed:
        ask(driver, seconds=1.5)
    assert failed.value.tokens is None
    assert all(eventually_gone(int(process)) for process in note.read_text().split())


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no-such-model --key 1", "no-such-model can't be run: No such file"),
        ("/", "can't be run: Permission denied"),
        ("", "can't be read .*empty.*memory.llm.command"),
        ("model 'unclosed", "can't be read .*quotation"),
        ("a\0b", "can't be run"),
    ],
)
def test_a_command_that_can_not_run_says_why_and_costs_nothing(command: str, says: str) -> None:
    with pytest.raises(ModelFailed, match=says) as failed:
        ask(CommandDriver(command))
    assert failed.value.tokens == 0


def test_no_name_of_a_command_holds_its_arguments() -> None:
    driver = CommandDriver(f"/opt/models/llm --key {KEY}")
    assert driver.name == "command llm"
    assert CommandDriver("llm -m x", model="smol").name == "command smol"
    assert driver.endpoint.startswith("command-llm-")
    assert driver.endpoint != CommandDriver("/opt/models/llm").endpoint
    assert KEY not in driver.name + driver.endpoint + repr(driver)
