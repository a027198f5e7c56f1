"""Build a model from settings: its driver, the gate, and its budget. This is the only module that knows all drivers."""

from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from redis import Redis
from sqlalchemy import Engine

from slowwave.errors import InvalidSettings
from slowwave.settings import Llm, Settings
from slowwave_server.domain.model_calls import AskModel
from slowwave_server.services.llm.budget import Budget
from slowwave_server.services.llm.calling import Caller
from slowwave_server.services.llm.command_driver import CommandDriver
from slowwave_server.services.llm.drivers import Driver
from slowwave_server.services.llm.gate import build_gate


def build_model(settings: Settings, engine: Engine, redis: Redis, clock: Callable[[], datetime]) -> AskModel | None:
    """Return the model of `memory.llm`, or None if none is configured. Call this after a fork: connections are not
    shared.

    Raises InvalidSettings if a setting or a package is missing. No call is made.
    """
    llm = settings.memory.llm
    driver = build_driver(llm, clock)
    return None if driver is None else build_caller(driver, llm, engine, redis, clock)


def with_command(settings: Settings, command: str) -> Settings:
    """Return these settings with a program as their model, for a job that names one; the budgets stay the same."""
    return with_llm(settings, driver="command", command=command, model="")


def with_llm(settings: Settings, **changes: Any) -> Settings:
    """Return these settings with other values under `memory.llm`, which are not validated again."""
    llm = settings.memory.llm.model_copy(update=changes)
    return settings.model_copy(update={"memory": settings.memory.model_copy(update={"llm": llm})})


def build_caller(driver: Driver, llm: Llm, engine: Engine, redis: Redis, clock: Callable[[], datetime]) -> Caller:
    """Return a caller for any driver, within the budgets and limits of the settings."""
    return Caller(
        driver=driver,
        gate=build_gate(redis, driver.endpoint, llm),
        budget=Budget(engine, llm, clock),
        max_output_tokens=llm.max_output_tokens,
        timeout_seconds=llm.timeout_seconds,
    )


def build_driver(llm: Llm, clock: Callable[[], datetime]) -> Driver | None:
    """Return the driver of the settings, or None if none is configured. Raises InvalidSettings. No call is made."""
    if llm.driver == "none":
        return None
    return _command_driver(llm) if llm.driver == "command" else _openai_driver(llm, clock)


def _openai_driver(llm: Llm, clock: Callable[[], datetime]) -> Driver:
    if find_spec("openai") is None:
        raise InvalidSettings(
            "memory.llm.driver is openai, and the package openai is not installed: "
            "install the extra `models` of slowwave-server (docs/install.md)"
        )
    if not llm.model:
        raise InvalidSettings("memory.llm.driver is openai, and memory.llm.model names no model")
    from slowwave_server.services.llm.openai_driver import OpenAIDriver  # noqa: PLC0415 (an optional extra)

    return OpenAIDriver(base_url=llm.base_url, model=llm.model, api_key=llm.api_key, clock=clock)


def _command_driver(llm: Llm) -> Driver:
    if not llm.command.strip():
        raise InvalidSettings("memory.llm.driver is command, and memory.llm.command names no program")
    return CommandDriver(command=llm.command, model=llm.model)
