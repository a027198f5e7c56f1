"""One producer process: `python -m proof.chaos.talk --folder F --number K --seed N --agents A --events E --rate R`.

It talks with the settings of its environment until F/stop exists, SIGTERM arrives or its share is done; then it waits
until its spool is empty. After a kill, a restart with the same number continues.
"""

import argparse
import json
import logging
import os
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from proof.chaos.cast import conversations
from proof.chaos.journal import Writer, read
from proof.chaos.pace import Pace
from proof.chaos.places import Places
from proof.chaos.talkers import Talker
from slowwave import Memory, Settings
from slowwave.coordination.broker import connect_broker
from slowwave.settings import load_settings
from slowwave.spool import spooled
from slowwave_server.models.engine import make_engine
from slowwave_server.services.forget.forget import Forgetter

_DELIVER_SECONDS = 120.0


def main() -> None:
    """Talk. The exit code is 1 if the spool could not be emptied."""
    asked = _arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    settings = load_settings()
    _note_settings(asked.folder, asked.number)
    told = read(asked.folder, asked.number)
    random = Random(f"{asked.seed}-{asked.number}-{len(told)}")
    with Memory(settings) as memory, Writer(asked.folder, asked.number) as writer:
        talker = Talker(
            memory=memory,
            forgetter=_forgetter(settings),
            redis=connect_broker(settings),
            writer=writer,
            producer=asked.number,
            conversations=conversations(asked.number, asked.agents),
            random=random,
            stopped=lambda: ended.is_set() or Places(asked.folder).stop.exists(),
            told=told,
        )
        said = sum(len(one.call.lines) for one in told if one.done)
        talker.resume()
        pace = Pace(asked.rate, random, time.monotonic, time.sleep)
        while said < asked.events and not talker.stopped():
            new = talker.step()
            said += new
            pace.spent(new)
        empty = _deliver(memory, settings)
    raise SystemExit(0 if empty else 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="of the run")
    parser.add_argument("--number", type=int, required=True, help="of this producer, from 0 on")
    parser.add_argument("--seed", type=int, required=True, help="what is said, and when, follows from it")
    parser.add_argument("--agents", type=int, default=8, help="agents of this producer's own")
    parser.add_argument("--events", type=int, default=2_000, help="events after which it is done")
    parser.add_argument("--rate", type=float, default=20.0, help="events a second, on average")
    return parser.parse_args()


def _note_settings(folder: Path, number: int) -> None:
    """Store the settings for the checks. The keys of broker and model are invented in these runs."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("SLOWWAVE_")}
    (folder / f"environment-{number}.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")


def _forgetter(settings: Settings) -> Forgetter:
    engine = make_engine(settings.database_url)
    return Forgetter(engine, connect_broker(settings), settings, lambda: datetime.now(UTC))


def _deliver(memory: Memory, settings: Settings) -> bool:
    """Wait until the spool is empty. Return True if this happened."""
    until = time.monotonic() + _DELIVER_SECONDS
    while spooled(settings.spool).files and time.monotonic() < until:
        memory.flush(5.0)
        time.sleep(0.1)
    return not spooled(settings.spool).files


if __name__ == "__main__":
    main()
