"""Plan the traffic: hooks with times and agents, drawn from a seed.

Sessions begin, singly or in bursts, continue for some turns with pauses of seconds to minutes, and end with or without
a hook. A turn is a prompt, the time of the agent's reply, and the completed turn. The plan is fixed before the run, so
that a slow system gets no less traffic (no coordinated omission).
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["prompt", "turn", "idle", "reset"]

_PEOPLE = ("Maya", "Jonas", "Priya", "Tomas", "Aiko", "Lena", "Omar", "Ines")
_PLACES = ("Porto", "Graz", "Bergen", "Nagoya", "Leeds", "Tartu", "Girona", "Delft")
_SAID = (
    "We decided to move the launch of project {n} to the second week of March, since {who} is away before that.",
    "{who} lives in {place} now, flat number {n}, and works as a nurse in the children's hospital there.",
    "I prefer the early train to {place}, number {n}, because the later one is always full.",
    "My invoice {n} is still open. {who} promised to pay it by the end of the month.",
    "Can you look at the draft again? I think that the second part is too long, but I am not sure yet.",
    "Thanks, that helps a lot!",
    "Hm, let me think about that for a moment. What would you do in my place?",
    "Please write {who} a short message that I will be ten minutes late.",
    "What was the name of the place again where we met last time?",
    "Sounds good, go on.",
)
_ANSWERED = (
    "Done. I have put that on the list, and I will come back to it when the next step is clear. Anything else?",
    "Of course. Here is a first version; tell me what you would like to have changed, and I will send it off after.",
    "I looked it up: there are two possibilities, and the first one fits better with what you said about the dates.",
    "All right.",
)


class Hook(NamedTuple):
    """One call. at: seconds after the start; the kind of hook; the numbers of agent, session and turn (1, 2, …).

    For a prompt, the turn is the one that it begins; for the end of a session, its last turn.
    """

    at: float
    kind: Kind
    agent: int
    session: int
    turn: int


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of conversations. Times are in seconds; pauses and replies are log-normal, given by median and sigma,
    and limited.

    turns: the mean number of turns of a session (geometric). burst_share: the share of sessions that begin together
    with `burst_size` - 1 others within two seconds. idle_share, reset_share: the shares of ends that the host reports.
    """

    turns: float = 8.0
    pause: tuple[float, float] = (12.0, 0.8)
    pause_bounds: tuple[float, float] = (2.0, 120.0)
    reply: tuple[float, float] = (1.0, 0.5)
    reply_bounds: tuple[float, float] = (0.3, 5.0)
    burst_share: float = 0.3
    burst_size: int = 5
    idle_share: float = 0.5
    reset_share: float = 0.2
    history: float = 300.0
    """How long before the start sessions may have begun: at the start, many are under way."""


def plan(shape: Shape, *, load: float, seconds: float, weights: Sequence[float], seed: int) -> list[Hook]:
    """Return the hooks of `seconds` in order, with about `load` completed turns per second.

    weights: the share of each agent in new sessions. Turns of a session are numbered from the first one that is played.
    """
    draw = random.Random(seed)
    hooks: list[Hook] = []
    cumulative = list(itertools.accumulate(weights))
    for number, began in enumerate(_beginnings(shape, load / shape.turns, seconds, draw)):
        agent = draw.choices(range(len(weights)), cum_weights=cumulative)[0]
        hooks += _session(shape, draw, began, seconds, agent, number)
    hooks.sort()
    return hooks


def _beginnings(shape: Shape, rate: float, seconds: float, draw: random.Random) -> Iterator[float]:
    """Return the start times of sessions: a Poisson process of single ones and bursts, `rate` sessions per second
    altogether.
    """
    # A share of all sessions comes in bursts, so the share of bursts among all starts is smaller.
    bursts = shape.burst_share / shape.burst_size
    singles = 1 - shape.burst_share
    at = -shape.history
    while True:
        at += draw.expovariate(rate * (bursts + singles))
        if at >= seconds:
            return
        if draw.random() < bursts / (bursts + singles):
            yield from sorted(at + draw.uniform(0, 2) for _ in range(shape.burst_size))
        else:
            yield at


def _session(shape: Shape, draw: random.Random, at: float, seconds: float, agent: int, session: int) -> list[Hook]:
    turns = 1 + int(math.log(1 - draw.random()) / math.log(1 - 1 / shape.turns)) if shape.turns > 1 else 1
    hooks: list[Hook] = []
    played = 0
    for _ in range(turns):
        answered = at + _log_normal(draw, shape.reply, shape.reply_bounds)
        if at >= 0 and answered < seconds:
            played += 1
            hooks.append(Hook(at, "prompt", agent, session, played))
            hooks.append(Hook(answered, "turn", agent, session, played))
        at = answered + _log_normal(draw, shape.pause, shape.pause_bounds)
    end = draw.random()
    if played and at < seconds and end < shape.idle_share + shape.reset_share:
        hooks.append(Hook(at, "idle" if end < shape.idle_share else "reset", agent, session, played))
    return hooks


def _log_normal(draw: random.Random, about: tuple[float, float], bounds: tuple[float, float]) -> float:
    return min(bounds[1], max(bounds[0], draw.lognormvariate(math.log(about[0]), about[1])))


def session_name(run: str, session: int) -> str:
    """Return the name of a session of a run; `run` has no '%' or '_'."""
    return f"{run}-{session}"


def messages(hook: Hook, seed: int = 0) -> list[dict[str, str]]:
    """Return the messages of a turn: always the same for a session and turn."""
    draw = random.Random(f"{seed}/{hook.session}/{hook.turn}")
    who, place = draw.choice(_PEOPLE), draw.choice(_PLACES)
    said = draw.choice(_SAID).format(n=draw.randrange(100_000), who=who, place=place)
    return [
        {"role": "user", "name": who, "content": said},
        {"role": "assistant", "content": draw.choice(_ANSWERED)},
    ]
