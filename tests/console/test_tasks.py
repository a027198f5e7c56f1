"""The ten tasks of the console are done by keyboard alone, in wide, narrow, light and dark windows."""

import pytest

from bench.console_tasks import main
from tests.console.conftest import CHROMIUM

pytestmark = [pytest.mark.servers, pytest.mark.drill]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt install chromium")
def test_ten_tasks_are_done_by_keyboard_in_every_window() -> None:
    assert main() == 0
