"""Queue `maintenance`: a tick that updates session logs, if they are switched on."""

import logging

from celery import shared_task

from slowwave.messages import LOG_EVENTS
from slowwave_server.services.session_logs import write_session_logs
from slowwave_server.tasks.base import SlowwaveTask

log = logging.getLogger(__name__)


@shared_task(name=LOG_EVENTS, base=SlowwaveTask, bind=True)
def log_events(self: SlowwaveTask) -> None:
    """Write new events to the session logs, on this host."""
    settings = self.runtime.settings.memory
    if not settings.sessions.session_event_logging_enabled:
        return
    report = write_session_logs(self.runtime.engine, settings.files.root)
    if report.events:
        log.info("session logs: %d events of %d sessions written", report.events, report.sessions)
