"""A person who says one thing before a backup, forgets it after the backup, and must forget it again after the
restore.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from random import Random

from proof.chaos.cast import Conversation
from proof.chaos.journal import Line, Writer, read
from proof.chaos.places import Places
from proof.chaos.talkers import Talker
from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.settings import Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.forget.forget import Forgetter

PRODUCER = 8
PLACE = Conversation(None, "guest", "visit", None)


def tell(places: Places, settings: Settings) -> None:
    """Say it."""
    with _talker(places, settings) as guest:
        said = guest.next_word
        guest.tell(PLACE, Line("lasting", "user", f"My aunt {said} keeps two goats.", said))


def forget(places: Places, settings: Settings) -> None:
    """Forget the whole agent."""
    with _talker(places, settings) as guest:
        guest.forget(PLACE, whole=True)


def forget_again(places: Places, settings: Settings) -> None:
    """Repeat the calls that did not return, from the journal."""
    with _talker(places, settings) as guest:
        guest.resume()


@contextmanager
def _talker(places: Places, settings: Settings) -> Iterator[Talker]:
    engine, redis = make_engine(settings.database_url), connect_broker(settings)
    with Memory(settings) as memory, Writer(places.root, PRODUCER) as writer:
        yield Talker(
            memory=memory,
            forgetter=Forgetter(engine, redis, settings, lambda: datetime.now(UTC)),
            redis=redis,
            writer=writer,
            producer=PRODUCER,
            conversations=[PLACE],
            random=Random(PRODUCER),
            stopped=lambda: False,
            told=read(places.root, PRODUCER),
        )
    engine.dispose()
    redis.close()
