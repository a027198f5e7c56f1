"""The workers' app with maintenance jobs that tests can hold: `celery -A tests.workers.jobs_app`.

SLOW_APP_FOLDER: each run of the type `note` appends a line "JOB PID" to `ran` in it. While a file `hold-JOB` stands
there, the run waits after that.
"""

import os
import threading
from pathlib import Path

from slowwave.settings import load_settings
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome
from slowwave_server.workers.app import make_app

_POLL_SECONDS = 0.02
_FOLDER = Path(os.environ["SLOW_APP_FOLDER"])


def note(context: JobContext) -> JobOutcome:
    """Leave a trace, and wait where a test holds this job."""
    with (_FOLDER / "ran").open("a") as log:
        log.write(f"{context.job.id} {os.getpid()}\n")
    never = threading.Event()
    while (_FOLDER / f"hold-{context.job.id}").exists():
        never.wait(_POLL_SECONDS)
    return JobOutcome(f"noted by {os.getpid()}", {"noted": 1})


celery = make_app(load_settings(), runners={"note": note})
