"""Carry out requests: the arguments of each kind of request, and the service that acts for the requester."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from slowwave.errors import InvalidName, SlowwaveError
from slowwave.identity import shared_scope
from slowwave.memory_types import MemoryType
from slowwave.settings import Settings
from slowwave.validation_errors import plain_problems
from slowwave_server.services.corrections import CannotCorrect, Correction, correct, withdraw
from slowwave_server.services.forget.forget import Forgetter, Report
from slowwave_server.services.forget.target import CannotForget, Target
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.moving_in.undoing import undo_any
from slowwave_server.services.requests.store import Failure, Kind, Refused, Request, Unavailable
from slowwave_server.services.undo.checks import CannotUndo


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorrectArguments(_Arguments):
    """Edit the text or the type of a memory. revision: the memory's revision that the caller has read."""

    memory: UUID
    content: str | None = None
    type: MemoryType | None = None
    revision: int | None = None
    reason: str | None = None


class ArchiveArguments(_Arguments):
    """Archive a memory, so that no search or context returns it."""

    memory: UUID
    revision: int | None = None
    reason: str | None = None


class ForgetArguments(_Arguments):
    """The target of a forget: an agent, a session of an agent, a scope ("room:NAME") or a memory."""

    agent: str | None = None
    session: str | None = None
    scope: str | None = None
    memory: UUID | None = None
    confirm: str | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> "ForgetArguments":
        if sum(given is not None for given in (self.agent, self.scope, self.memory)) != 1:
            raise ValueError("give one of agent, scope and memory; session goes with agent")
        if self.session is not None and self.agent is None:
            raise ValueError("session needs agent: sessions are known by both")
        return self

    def target(self, tenant: str) -> Target:
        """Return the target within `tenant`. Raises InvalidName."""
        if self.memory is not None:
            return Target.of_memory(tenant, self.memory)
        if self.scope is not None:
            return Target.of_scope(tenant, *scope_named(self.scope))
        if self.session is not None:
            return Target.of_session(tenant, self.agent or "", self.session)
        return Target.of_agent(tenant, self.agent or "")


class UndoArguments(_Arguments):
    """The run to undo."""

    run: int = Field(gt=0, lt=2**63)
    no_repeat: bool = False


ARGUMENTS: Mapping[Kind, type[_Arguments]] = {
    "correct": CorrectArguments,
    "archive": ArchiveArguments,
    "forget_preview": ForgetArguments,
    "forget": ForgetArguments,
    "undo": UndoArguments,
}
"""The arguments of each kind of request."""

_FAILURES: tuple[tuple[type[Exception], Failure], ...] = (
    (UnknownName, "not-found"),
    (CannotCorrect, "conflict"),
    (CannotForget, "conflict"),
    (CannotUndo, "conflict"),
    (SlowwaveError, "invalid"),
)


def scope_named(scope: str) -> tuple[str, str]:
    """Return the kind and name of "room:NAME", "team:NAME" or "agent:NAME". Raises InvalidName."""
    kind, _, name = scope.partition(":")
    if kind == "agent" and name:
        return kind, name
    try:
        return shared_scope(scope)
    except InvalidName:
        raise InvalidName(f"scope must be room:NAME, team:NAME or agent:NAME, got {scope!r:.80}") from None


def confirmation(target: Target) -> str:
    """Return what a caller repeats to confirm: the target's name, or the first 8 characters of a memory's id."""
    if target.kind == "memory":
        return str(target.memory)[:8]
    return (target.scope_label or target.session or target.agent) or ""


@dataclass(frozen=True, slots=True)
class RequestWork:
    """Carries out requests in a worker: a `requests.Work`."""

    engine: Engine
    redis: Redis
    settings: Settings
    clock: Callable[[], datetime]

    def __call__(self, request: Request) -> dict[str, Any]:
        """Carry out a request for its tenant, in the name of the requester; return the result as JSON.

        Raises Refused with the sentence of the service that refused, and Unavailable if a server does not answer.
        """
        try:
            arguments = ARGUMENTS[request.kind].model_validate(request.arguments)
            return self._carry_out(request, arguments)
        except ValidationError as error:
            told = "; ".join(f"{place or request.kind}: {what}" for place, what in _problems(request.kind, error))
            raise Refused("invalid", told) from None
        except SlowwaveError as error:
            failure = next(failure for kind, failure in _FAILURES if isinstance(error, kind))
            raise Refused(failure, str(error)) from None
        except (RedisError, OperationalError) as error:
            raise Unavailable(f"a server that the request needs is away: {type(error).__name__}") from error

    def _carry_out(self, request: Request, given: _Arguments) -> dict[str, Any]:
        whose: dict[str, Any] = {"by": request.by, "now": self.clock()}
        if isinstance(given, CorrectArguments):
            return _corrected(
                correct(
                    self.engine,
                    request.tenant,
                    given.memory,
                    given.content,
                    type=given.type,
                    revision=given.revision,
                    reason=given.reason,
                    **whose,
                )
            )
        if isinstance(given, ArchiveArguments):
            archived = withdraw(
                self.engine, request.tenant, given.memory, revision=given.revision, reason=given.reason, **whose
            )
            return _corrected(archived)
        if isinstance(given, UndoArguments):
            forgetting = partial(Forgetter, self.engine, self.redis, self.settings, self.clock)
            undone = undo_any(
                self.engine, request.tenant, given.run, forgetting=forgetting, no_repeat=given.no_repeat, **whose
            )
            return asdict(undone)
        assert isinstance(given, ForgetArguments)  # noqa: S101 (the last of the kinds)
        return self._forget(request, given)

    def _forget(self, request: Request, given: ForgetArguments) -> dict[str, Any]:
        target = given.target(request.tenant)
        forgetter = Forgetter(self.engine, self.redis, self.settings, self.clock)
        if request.kind == "forget_preview":
            return _told(forgetter.preview(target)) | {"confirm": confirmation(target)}
        if given.confirm != confirmation(target):
            raise Refused("invalid", f"confirm must be {confirmation(target)!r}, got {given.confirm!r:.80}")
        return _told(forgetter.forget(target, by=request.by))


def _problems(kind: Kind, error: ValidationError) -> list[tuple[str, str]]:
    return list(plain_problems(ARGUMENTS[kind], error))


def _corrected(done: Correction) -> dict[str, Any]:
    return {"memory": str(done.memory), "run": done.run}


def _told(report: Report) -> dict[str, Any]:
    told = {"target": report.target, "counts": report.counts, "sessions": report.sessions, "hints": report.hints}
    return told if report.receipt is None else told | {"receipt": report.receipt, "problems": report.problems}
