"""What the short-lived part of a hook imports: every module costs the person time at each prompt."""

import subprocess
import sys

HEAVY = ("typer", "psycopg", "pydantic", "redis", "yaml", "logging", "subprocess", "slowwave.settings")


def test_hook_imports_nothing_heavy() -> None:
    code = (
        "import sys, os; os._exit = lambda _: None; sys.argv[1:] = ['hook', 'claude-code', 'Stop'];"
        " from slowwave.hosts.hook import main; main(['claude-code', 'Stop']);"
        f" print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"{}", capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


def test_command_answers_hooks_before_others_are_loaded() -> None:
    code = (
        "import sys, os; sys.argv = ['slowwave', 'hook', 'claude-code', 'Stop'];"
        " os._exit = lambda code: (print(code, 'typer' in sys.modules), sys.exit(0));"
        " from slowwave_server.workers.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"{}", capture_output=True, check=True)
    assert done.stdout.decode().strip() == "0 False"
