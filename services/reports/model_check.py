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
from services.reports.doctor import Check
from slowwave.errors import InvalidSettings
from slowwave.settings import Llm


def check_model(llm: Llm, redis: Redis, clock: Callable[[], datetime]) -> Check:
    """Whether a model is set up, its package or program is there, and its endpoint is not given up for now."""
    try:
        driver = build_driver(llm, clock)
    except InvalidSettings as error:
        return Check("model", "problem", str(error), "set what is missing, or memory.llm.driver to none")
    if driver is None:
        return Check("model", "ok", "none is set up (memory.llm.driver): the rules do all work")
    if llm.driver == "command" and not _program_found(llm.command):
        finding = f"{driver.name}: there is no such program"
        return Check("model", "problem", finding, "mend memory.llm.command, or add its folder to the workers' PATH")
    return _known(driver.name, build_gate(redis, driver.endpoint, llm).breaker)


def _known(name: str, breaker: Breaker) -> Check:
    try:
        breaker.look()
    except TransientError as error:
        if error.retry_after is None:
            return Check("model", "unknown", f"{name}: the broker knows how it is, and can't be reached")
        finding = f"{name}: failed again and again, and is not asked for another {duration_words(error.retry_after)}"
        return Check("model", "problem", finding, "look after its endpoint (memory.llm.base_url, memory.llm.command)")
    except ModelFailed as error:
        return Check("model", "problem", f"{name}: {error}", "mend memory.llm.api_key, or the account behind it")
    return Check("model", "ok", f"{name} is set up, and nothing is known against it")


def _program_found(command: str) -> bool:
    try:
        return shutil.which(shlex.split(command)[0]) is not None
    except (ValueError, IndexError):
        return False
