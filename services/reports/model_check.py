"""Whether the model that the settings name can be asked, as far as is known without asking it.

Must not know: how findings are shown, any key.
"""

import shlex
import shutil
from collections.abc import Callable
from datetime import datetime

from redis import Redis

from domain.failures import TransientError
from domain.model_calls import ModelFailed
from domain.spoken_time import duration_words
from services.llm.breaker import Breaker
from services.llm.build import build_driver
from services.llm.gate import build_gate
from services.reports.check import Check, fine, problem, unknown
from slowwave.errors import InvalidSettings
from slowwave.settings import Llm


def check_model(llm: Llm, redis: Redis, clock: Callable[[], datetime]) -> Check:
    """Whether a model is set up, its package or program is there, and its endpoint is not given up for now."""
    try:
        driver = build_driver(llm, clock)
    except InvalidSettings as error:
        return problem("model", "model-not-set-up", str(error))
    if driver is None:
        return fine("model", "none is set up (memory.llm.driver): the rules do all work")
    if llm.driver == "command" and not _program_found(llm.command):
        here = "mend memory.llm.command, or add the program's folder to the workers' PATH"
        return problem("model", "model-not-set-up", f"{driver.name}: there is no such program", here)
    return _known(driver.name, build_gate(redis, driver.endpoint, llm).breaker)


def _known(name: str, breaker: Breaker) -> Check:
    try:
        breaker.look()
    except TransientError as error:
        if error.retry_after is None:
            return unknown("model", f"{name}: the broker knows how it is, and can't be reached")
        finding = f"{name}: failed again and again, and is not asked for another {duration_words(error.retry_after)}"
        return problem("model", "model-down", finding)
    except ModelFailed as error:
        return problem("model", "model-refuses", f"{name}: {error}")
    return fine("model", f"{name} is set up, and nothing is known against it")


def _program_found(command: str) -> bool:
    try:
        return shutil.which(shlex.split(command)[0]) is not None
    except (ValueError, IndexError):
        return False
