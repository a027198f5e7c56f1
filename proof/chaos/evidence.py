"""The data for the checks, and what follows from the journals: statements that must, may, or must not exist."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from redis import Redis
from sqlalchemy import Engine

from proof.chaos.journal import Call, Told, forgets
from proof.chaos.places import Places


@dataclass(frozen=True)
class Evidence:
    """The servers of a run that is over, and its folder. told: all calls in order; now: the real time.

    patience: the longest wait, in seconds, for a moment without transient keys in Redis; beat keeps adding some.
    """

    engine: Engine
    redis: Redis
    folder: Path
    told: list[Told]
    now: datetime
    patience: float = 15.0

    @property
    def places(self) -> Places:
        return Places(self.folder)

    @cached_property
    def forgotten(self) -> list[Told]:
        """Return calls that a completed forget covers: none of their words may exist anywhere."""
        finals = [one for one in forgets(self.told) if one.done]
        return [one for one in self.told if any(_covers(forget, one) for forget in finals)]

    @cached_property
    def doubtful(self) -> set[tuple[int, int]]:
        """Return calls covered by a forget that never returned, neither with success nor with an error: they may exist
        or not.
        """
        begun = [one for one in forgets(self.told) if not one.done and not one.failed]
        return {_id(one.call) for one in self.told if any(_covers(forget, one) for forget in begun)}

    @cached_property
    def certain(self) -> list[Told]:
        """Return calls that returned and were not forgotten: their guarantees must hold."""
        gone = {_id(one.call) for one in self.forgotten} | self.doubtful
        return [one for one in self.told if one.done and _id(one.call) not in gone]

    @cached_property
    def possible(self) -> list[Told]:
        """Return calls that may not have been forgotten: all stored text must come from these."""
        gone = {_id(one.call) for one in self.forgotten}
        return [one for one in self.told if _id(one.call) not in gone]


def _id(call: Call) -> tuple[int, int]:
    return call.producer, call.serial


def _covers(forget: Told, one: Told) -> bool:
    """Return True if a forget covers a statement: the same producer made the statement before the forget."""
    named, said = forget.call, one.call
    return (
        said.kind not in {"forget", "read", "pass"}
        and (named.producer, named.tenant, named.agent) == (said.producer, said.tenant, said.agent)
        and named.session in {"", said.session}
        and said.serial < named.serial
    )
