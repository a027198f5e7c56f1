"""Check whether the configured model can be called, without a call: settings, program, and results of earlier calls."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from redis import Redis

from slowwave.errors import InvalidSettings
from slowwave.settings import Llm
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.spoken_time import duration_words
from slowwave_server.services.llm.breaker import Breaker
from slowwave_server.services.llm.build import build_driver
from slowwave_server.services.llm.gate import build_gate
from slowwave_server.services.reports.check import Check, fine, problem, unknown

State = Literal["none", "fine", "not_set_up", "away", "refused", "unknown"]
ISSUES_OF: Mapping[State, str | None] = {
    "fine": None,
    "not_set_up": "model-not-set-up",
    "away": "model-down",
    "refused": "model-refuses",
}
"""Known states of a configured model, each with its issue."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of the configured model, and as a sentence. here: a step besides the fix of the issue, or None."""

    state: State
    said: str
    here: str | None = None


def check_model(llm: Llm, redis: Redis, clock: Callable[[], datetime]) -> Check:
    """Check that a model is set up, that its package or program exists, and that calls to it are not paused."""
    known = model_state(llm, redis, clock)
    issue = ISSUES_OF.get(known.state)
    if issue is not None:
        return problem("model", issue, known.said, known.here)
    return unknown("model", known.said) if known.state == "unknown" else fine("model", known.said)


def model_state(llm: Llm, redis: Redis, clock: Callable[[], datetime]) -> ModelState:
    """Determine the model's state from the settings and from earlier calls, without a call."""
    try:
        driver = build_driver(llm, clock)
    except InvalidSettings as error:
        return ModelState("not_set_up", str(error))
    if driver is None:
        return ModelState("none", "none is set up (memory.llm.driver): the rules do all work")
    if llm.driver == "command" and not _program_found(llm.command):
        here = "fix memory.llm.command, or add the program's folder to the workers' PATH"
        return ModelState("not_set_up", f"{driver.name}: there is no such program", here)
    return _known(driver.name, build_gate(redis, driver.endpoint, llm).breaker)


def _known(name: str, breaker: Breaker) -> ModelState:
    try:
        why, seconds = breaker.known()
    except TransientError:
        return ModelState("unknown", f"{name}: its state is in the broker, which can't be reached")
    if why is None:
        return ModelState("fine", f"{name} is set up, and no failure is known")
    rests = f"is not asked for another {duration_words(seconds)}" if seconds else "is tried by the next call"
    said = "refuses the key" if why == "refused" else "failed again and again"
    return ModelState(why, f"{name}: {breaker.endpoint} {said}, and {rests}")


def _program_found(command: str) -> bool:
    try:
        return shutil.which(shlex.split(command)[0]) is not None
    except (ValueError, IndexError):
        return False
