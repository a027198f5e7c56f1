"""The tick of session logs is there where logs are switched on, and nowhere else."""

from slowwave.coordination.keys import QUEUES
from slowwave.messages import LOG_EVENTS
from slowwave.settings import MemorySettings, Sessions, Settings
from slowwave_server.beat_schedule import schedule
from slowwave_server.workers.app import make_app


def test_mistake_33_logs_have_a_tick_only_where_they_are_switched_on() -> None:
    assert LOG_EVENTS not in {tick.task for tick in schedule(Settings()).values()}
    on = Settings(memory=MemorySettings(sessions=Sessions(session_event_logging_enabled=True)))
    (tick,) = [tick for tick in schedule(on).values() if tick.task == LOG_EVENTS]
    assert (tick.seconds, tick.queue in QUEUES) == (60, True)
    app = make_app(on)
    app.loader.import_default_modules()
    assert LOG_EVENTS in app.tasks
