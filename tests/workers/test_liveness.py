"""The sign that probes look for: real workers and beats give it, with their broker and without."""

from pathlib import Path

import pytest

from slowwave_server.workers.liveness import LOOK_SECONDS
from tests.support.processes import wait_until
from tests.workers.fleet import Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(120)]


def _renewed(file: Path, program: Program) -> None:
    """Wait until the sign is given anew."""
    before = file.stat().st_mtime_ns if file.exists() else 0

    def newer() -> bool:
        assert program.exit_code is None, program.log
        return file.exists() and file.stat().st_mtime_ns > before

    wait_until(newer, 3 * LOOK_SECONDS, f"{file.name} is touched")


def test_i3_workers_and_beat_live_while_they_work_and_are_not_restarted_for_a_broker_that_is_away(
    module_database: str, own_valkey: OwnValkey, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("of_worker", "of_beat")]
    fleets = [Fleet(module_database, own_valkey.url, tmp_path, SLOWWAVE_LIVENESS_FILE=str(file)) for file in files]
    own_valkey.stop()
    try:
        running = list(zip(files, [fleets[0].worker(ready=False), fleets[1].beat()], strict=True))
        for file, program in running:
            _renewed(file, program)
        own_valkey.start()
        running[0][1].says(" ready.")
        for file, program in running:
            _renewed(file, program)
            _renewed(file, program)
    finally:
        for fleet in fleets:
            fleet.end()
