"""The runners of this version's maintenance jobs, by job type; for workers and for the command line."""

from collections.abc import Mapping

from slowwave_server.services.consolidation.jobs import RUNNERS as CONSOLIDATION
from slowwave_server.services.curation.job import RUNNERS as CURATION
from slowwave_server.services.days.jobs import RUNNERS as DAYS
from slowwave_server.services.maintenance.scheduler import JobRunner
from slowwave_server.services.retention.job import RUNNERS as RETENTION


def job_runners() -> Mapping[str, JobRunner]:
    """Return the runner of each job type that this version knows."""
    return {**CONSOLIDATION, **CURATION, **DAYS, **RETENTION}
