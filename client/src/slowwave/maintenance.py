"""Maintenance as callers ask for it: the payload of the public task that runs a job.

Must not know: which jobs there are, when one is due.
"""

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slowwave.identity import check_name


class RunMaintenance(BaseModel):
    """What `slowwave.run_maintenance` takes: the name of a job, which is run if it is due."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    job: str = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _job_is_a_name(self) -> "RunMaintenance":
        check_name("job", self.job)
        return self
