"""Windows of every data set in the form of a model's prompt: with earlier memories, and the preceding lines.

Known memories are those that people wrote for earlier turns, in earlier sessions (RealMem, LoCoMo) or in the first half
of the dialogue (MSC). For tau-bench they are the memories that the rules find in another call of the same customer,
dated a day earlier.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from uuid import UUID

from bench import convert_locomo, msc, msc_data, realmem_data, tau_data
from bench.msc_data import data_file
from bench.replay import BOUNDS, memories
from bench.rules_v1.person import Speaker, third_person
from bench.session_data import LOCOMO, talks_of
from slowwave.recall.rendering import one_line, shorten
from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.model_extraction import KnownContext, KnownMemory, is_presentable
from slowwave_server.domain.windows import cut_window
from slowwave_server.services.flush.flusher import PRECEDING_EVENTS

SHOWN = BOUNDS.include_memory_context
MOST_NOTES = 6
NOTE_CHARACTERS = 160
FEWEST_SPOKEN = 3
WORD = re.compile(r"\w{4,}")
AGENT = "helper"
DAY = timedelta(days=1)

Remembered = tuple[datetime, str]
"""A memory and the start of its validity."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One window for a prompt."""

    name: str
    window: Window
    context: ExtractionContext
    known: KnownContext


@dataclass(frozen=True, slots=True)
class Told:
    """One session of a scope, and the memories that people wrote for the session.

    earlier: the earlier sessions of the scope. done: the number of its events that were read before the first window.
    """

    events: tuple[Event, ...]
    remembered: tuple[Remembered, ...]
    earlier: tuple["Told", ...] = ()
    done: int = 0


def drawn(seed: int, of_each: int) -> list[Drawn]:
    """Return `of_each` windows of every data set, in the order of `SETS`; the same for the same seed."""
    found: list[Drawn] = []
    for kind, sessions in SETS.items():
        windows = [place for told in sessions() for place in _windows(told)]
        chosen = random.Random(f"{seed} {kind}").sample(windows, of_each)
        found += [_drawn(f"{kind}-{number}", *place) for number, place in enumerate(chosen, 1)]
    return found


def _windows(told: Told) -> Iterator[tuple[Told, Window]]:
    """Return the windows of a session as flushes cut them, without windows with hardly any speech."""
    done = told.done
    while done < len(told.events):
        window = cut_window(
            told.events[done : done + BOUNDS.max_messages_per_flush],
            max_messages=BOUNDS.max_messages_per_flush,
            max_chars=BOUNDS.max_chars_per_flush,
        )
        done = window.to_seq
        if sum(event.is_spoken for event in window.events) >= FEWEST_SPOKEN:
            yield told, window


def _drawn(name: str, told: Told, window: Window) -> Drawn:
    begun = window.events[0].happened_at
    before = told.events[: window.from_seq - 1]
    earlier = [*told.earlier, replace(told, events=before)]
    words = set(WORD.findall(" ".join(event.content for event in window.events).lower()))
    known = _known([one for part in earlier for one in part.remembered if one[0] < begun], words, begun.date())
    spoken = [event for part in earlier for event in part.events[:-PRECEDING_EVENTS] if event.kind == "user"]
    notes = [_note(event) for event in spoken if event.happened_at.date() == begun.date()]
    context = ExtractionContext(AGENT, preceding=before[-PRECEDING_EVENTS:])
    return Drawn(name, window, context, KnownContext(known, tuple(filter(is_presentable, notes))[-MOST_NOTES:]))


def _known(earlier: Sequence[Remembered], words: set[str], day: date) -> tuple[KnownMemory, ...]:
    """Return the memories that share the most words with the window, then the newest of the day, as `ScopeKnowledge`
    does.
    """

    def shared(one: Remembered) -> float:
        found = set(WORD.findall(one[1].lower()))
        return len(found & words) / len(found) ** 0.5 if found else 0.0

    presentable = [one for one in dict.fromkeys(earlier) if is_presentable(one[1])]
    near = sorted(presentable, key=shared, reverse=True)[: SHOWN.memory_snippets]
    today = [one for one in presentable if one[0].date() == day and one not in near][-SHOWN.daily_tail_lines :]
    return tuple(
        KnownMemory(shorten(one_line(text), SHOWN.snippet_max_chars), at.date(), UUID(int=number))
        for number, (at, text) in enumerate((*near, *today), 1)
    )


def _note(event: Event) -> str:
    text = shorten(one_line(event.content), NOTE_CHARACTERS)
    return f"{event.happened_at:%H:%M} {event.name or event.role}: {text}"


def _realmem() -> Iterator[Told]:
    for person in realmem_data.people(data_file(realmem_data.FILE)):
        yield from _in_order(
            Told(
                one.events, tuple((one.events[seq - 1].happened_at, text) for seq in one.gold for text in one.gold[seq])
            )
            for one in person.sessions
        )


def _tau() -> Iterator[Told]:
    calls: dict[str, list[tau_data.Dialogue]] = {}
    for one in tau_data.dialogues(data_file(tau_data.FILE)):
        calls.setdefault(one.name.partition("-trial")[0], []).append(one)
    rules = RulesExtractor()
    for first, *others in calls.values():
        found = tuple((one.valid_from - DAY, one.content) for one in memories(rules, first.events, AGENT))
        for one in others:
            yield Told(one.events, (), (Told((), found),))


def _locomo() -> Iterator[Told]:
    """Return sessions of two people who talk to each other; neither is the agent."""
    for entry in json.loads(data_file(LOCOMO).read_text(encoding="utf-8")):
        lines = [line | {"role": "user"} for line in convert_locomo.events(entry)]
        sessions = sorted(talks_of(lines), key=lambda talk: talk.events[0].happened_at)
        yield from _in_order(
            Told(talk.events, tuple(_observed(entry["observation"][f"{talk.session}_observation"], talk.events)))
            for talk in sessions
        )


def _observed(said: Mapping[str, Sequence[tuple[str, object]]], events: Sequence[Event]) -> Iterator[Remembered]:
    for observations in said.values():
        for text, _ in observations:
            yield events[0].happened_at, text


def _msc() -> Iterator[Told]:
    """Return sessions in which the second half of each dialogue is a separate window."""
    for turns in msc_data.dialogues(data_file(msc.FILE)):
        events = msc.events_of(turns)
        remembered = [
            (event.happened_at, third_person(turn.memory, Speaker(turn.speaker)))
            for event, turn in zip(events, turns, strict=True)
            if turn.memory
        ]
        yield Told(events, tuple(remembered), done=len(events) // 2)


def _in_order(sessions: Iterator[Told]) -> Iterator[Told]:
    earlier: tuple[Told, ...] = ()
    for told in sessions:
        yield replace(told, earlier=earlier)
        earlier = (*earlier, replace(told, earlier=()))


SETS: Mapping[str, Callable[[], Iterator[Told]]] = {"realmem": _realmem, "tau": _tau, "locomo": _locomo, "msc": _msc}
