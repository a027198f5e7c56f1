"""One producer: it talks as agents' hosts do, journals each call before and after, and continues after a kill."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError

from proof.chaos.cast import Conversation
from proof.chaos.journal import Call, CallKind, Line, Told, Writer, forgets
from proof.chaos.sayings import milestone, note, turn
from proof.chaos.words import word
from slowwave import Memory
from slowwave.coordination.consolidation_queue import ask_for_pass
from slowwave.errors import SpoolFull, StoreUnavailable
from slowwave.identity import shared_scope
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import CannotForget, Target
from slowwave_server.services.lookup import UnknownName

log = logging.getLogger(__name__)

_KINDS: dict[CallKind, int] = {
    "turn": 800,
    "prompt": 60,
    "trigger": 40,
    "task": 40,
    "note": 40,
    "read": 10,
    "pass": 20,
    "forget": 4,
}
_REPEATED_SHARE = 0.04
_REMEMBERED_CALLS = 200
_FORGET_REST_SECONDS = 0.5


@dataclass
class Talker:
    """One producer. told: the attempts of its earlier processes. stopped: checked while a forget is retried."""

    memory: Memory
    forgetter: Forgetter
    redis: Redis
    writer: Writer
    producer: int
    conversations: list[Conversation]
    random: Random
    stopped: Callable[[], bool]
    told: list[Told] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._serial = max((one.call.serial for one in self.told), default=-1) + 1
        # Statements to repeat, and statements that a forget excludes.
        self._said = [one.call for one in self.told if one.call.kind in {"turn", "task", "note"}][-_REMEMBERED_CALLS:]
        self._unsure = [one.call for one in self.told if not one.done and one.call.kind in {"turn", "task", "note"}]
        self._unfinished = [one.call for one in forgets(self.told) if not one.done and not one.failed]
        for one in forgets(self.told):
            if not one.failed:
                self._unsay(one.call)

    def resume(self) -> None:
        """After a kill: finish an interrupted forget, and repeat statements that may be lost."""
        for call in self._unfinished:
            # A separate call, because it deletes what was said before it.
            self._serial += 1
            self._forget(replace(call, serial=self._serial - 1))
        for call in self._unsure[-3:]:
            if self.random.random() < 0.7:
                self._say(call)

    def step(self) -> int:
        """Do one step. Return the number of new lines."""
        if self._said and self.random.random() < _REPEATED_SHARE:
            self._say(self.random.choice(self._said))
            return 0
        place = self.random.choice(self.conversations)
        kind = self.random.choices(list(_KINDS), list(_KINDS.values()))[0]
        if kind == "turn":
            return self._turns(place)
        if kind == "task" and place.scope is None:
            return self._say(self._call(kind, place, (milestone(self.next_word),)))
        if kind == "note":
            return self.note(place)
        if kind == "forget" and place.forgettable:
            self.forget(place, whole=self.random.random() < 0.5)
        elif kind in {"prompt", "trigger", "read", "pass"}:
            self._signal(self._call(kind, place))
        return 0

    @property
    def next_word(self) -> str:
        """Return the word of the next call."""
        return word(self.producer, self._serial)

    def tell(self, place: Conversation, *lines: Line) -> int:
        """Say one turn. Return the number of recorded lines."""
        return self._say(self._call("turn", place, lines))

    def note(self, place: Conversation) -> int:
        """Write one note of the agent's own. Return the number of stored notes."""
        return self._say(self._call("note", place, (note(self.random, self.next_word),)))

    def forget(self, place: Conversation, *, whole: bool) -> None:
        """Forget a conversation or, with `whole`, its whole agent; both continue under the same names."""
        self._forget(self._call("forget", place, session="" if whole else place.session))

    def _turns(self, place: Conversation) -> int:
        """Say a turn, or a few turns at once."""
        said = 0
        for _ in range(self.random.choice((1, 1, 2, 6))):
            now = datetime.now(UTC)
            said += self.tell(place, *turn(self.random, self.next_word, now, facts=place.facts))
        return said

    def _call(
        self, kind: CallKind, place: Conversation, lines: tuple[Line, ...] = (), *, session: str | None = None
    ) -> Call:
        serial, self._serial = self._serial, self._serial + 1
        tenant = place.tenant or self.memory.tenant
        session = place.session if session is None else session
        return Call(self.producer, serial, kind, tenant, place.agent, session, place.scope, lines)

    def _say(self, call: Call) -> int:
        self.writer.tried(call)
        try:
            stored, detail = self._hand_over(call)
        except (SpoolFull, StoreUnavailable) as error:
            self.writer.failed(call, error)
            return 0
        self.writer.done(call, stored, **detail)
        if call not in self._said:
            self._said = [*self._said, call][-_REMEMBERED_CALLS:]
        return len(call.lines)

    def _hand_over(self, call: Call) -> tuple[str, dict[str, int]]:
        memory = self.memory.for_tenant(call.tenant)
        if call.kind == "note":
            text = call.lines[0].text
            memory.remember(call.agent, text, 0.8, call.session, scope=call.scope, key=call.key)
            return "postgres", {}
        if call.kind == "task":
            receipt = memory.task_event(call.agent, call.session, "run_finished", call.lines[0].text, key=call.key)
        else:
            said = [
                {"role": line.role, "content": line.text} | ({"at": line.at} if line.at else {}) for line in call.lines
            ]
            receipt = memory.turn_completed(call.agent, call.session, said, scope=call.scope, key=call.key)
        return receipt.stored, {"added": receipt.added, "repeated": receipt.repeated}

    def _signal(self, call: Call) -> None:
        """Make a call without a lasting guarantee: it may be lost if a server is unavailable."""
        memory = self.memory.for_tenant(call.tenant)
        self.writer.tried(call)
        try:
            if call.kind == "prompt":
                memory.prompt_arrived(call.agent, call.session)
            elif call.kind == "trigger":
                self.random.choice((memory.session_idle, memory.session_compacted, memory.session_reset))(
                    call.agent, call.session
                )
            elif call.kind == "pass":
                kind, name = ("agent", call.agent) if call.scope is None else shared_scope(call.scope)
                ask_for_pass(self.redis, call.tenant, kind, name, self.random.choice(("working", "light")))
            else:
                scopes = () if call.scope is None else (call.scope,)
                memory.context(call.agent, call.session, "What is my favourite tea?", scopes=scopes)
        except (StoreUnavailable, SpoolFull, RedisError) as error:
            self.writer.failed(call, error)
            return
        self.writer.done(call)

    def _forget(self, call: Call) -> None:
        """Forget, and retry until the servers are back."""
        self.writer.tried(call)
        target = (
            Target.of_session(call.tenant, call.agent, call.session)
            if call.session
            else Target.of_agent(call.tenant, call.agent)
        )
        while not self.stopped():
            try:
                self.forgetter.forget(target, by="producer")
            except UnknownName as error:
                # The name is unknown to Postgres; data in a spool under this name was not to be forgotten.
                self.writer.failed(call, error)
                return
            except (DBAPIError, RedisError, CannotForget) as error:
                log.info("forgetting %s: %s", target, type(error).__name__)
                time.sleep(_FORGET_REST_SECONDS)
                continue
            self.writer.done(call)
            break
        self._unsay(call)

    def _unsay(self, forgotten: Call) -> None:
        """Remove forgotten statements from the repetitions, because a repetition would be a new statement."""

        def stays(call: Call) -> bool:
            same = (call.tenant, call.agent) == (forgotten.tenant, forgotten.agent)
            return not (same and forgotten.session in {"", call.session} and call.serial < forgotten.serial)

        self._said = [call for call in self._said if stays(call)]
        self._unsure = [call for call in self._unsure if stays(call)]
