"""Two tenants on one database: `acme` with every kind of row, and `globex`, which goes for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from redis import Redis
from sqlalchemy import Connection, func, insert

from slowwave import Memory
from slowwave.recall import Context
from slowwave_server.models.engine import make_engine
from slowwave_server.models.webhooks import WebhookDelivery
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.services.webhooks.endpoints import NewEndpoint, make_endpoint
from tests.support.forgetting import dump_redis, dump_tables
from tests.support.midday import TODAY
from tests.support.walls import PLACES, World, open_world, settings_on, settle, words_in

MINE, THEIRS = PLACES[5], (PLACES[0], PLACES[1])
OTHER_WORDS = {place.word for place in THEIRS}
TURN = [{"role": "user", "content": "My favourite editor is mine."}]
AGENT, DAY = "atlas", TODAY.isoformat()
SESSION = f"{THEIRS[0].word}-talk"
ROOM = "room:kitchen"


@dataclass
class Siege:
    """Both tenants on one database. rows: all that acme had before globex came; loot: what of it has a number."""

    world: World
    redis: Redis
    rows: dict[str, set[str]]
    loot: dict[str, str]
    folder: Path

    @property
    def memory(self) -> Memory:
        return self.world.memory.for_tenant(MINE.tenant)

    def stands(self) -> None:
        """Acme has every row that it had, none more, and nothing in a queue speaks of it."""
        now = {table: set(text.splitlines()) for table, text in dump_tables(self.world.engine, INSTALLATION).items()}
        for table, rows in self.rows.items():
            assert rows <= now[table], f"{table}: rows of acme were changed"
        counted = self.world.sql(
            "SELECT (SELECT count(*) FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
            " WHERE a.tenant = 'acme') AS sessions, (SELECT count(*) FROM slowwave.events e"
            " JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
            " WHERE a.tenant = 'acme') AS events, (SELECT count(*) FROM slowwave.maintenance_runs r"
            " JOIN slowwave.scopes c ON c.id = r.scope_id WHERE c.tenant = 'acme') AS runs"
        )[0]
        assert counted._mapping == {
            "sessions": len(self.rows["sessions"]),
            "events": len(self.rows["events"]),
            "runs": len(self.rows["maintenance_runs"]),
        }
        assert "acme" not in dump_redis(self.redis)


INSTALLATION = {"maintenance_jobs"}
"""What belongs to nobody: its rows may change."""


def _loot(world: World) -> dict[str, str]:
    first, second = world.memories(THEIRS[0])[:2]
    letter = world.sql("SELECT id FROM slowwave.dead_letters WHERE tenant = 'acme' ORDER BY id LIMIT 1")[0].id
    with world.engine.begin() as connection:
        wanted = NewKey(f"{THEIRS[0].word} app", ["read"], agents=[THEIRS[0].word], scopes=[f"room:{THEIRS[1].word}"])
        key, _ = make_key(connection, "acme", wanted, by=THEIRS[0].word, now=datetime.now(UTC))
        hook, delivery = _webhook(connection, first)
    numbers = {name: world.numbers(name, THEIRS[0])[0] for name in ("memory_conflicts", "review_items")}
    numbers |= {"run": world.numbers("maintenance_runs", THEIRS[0])[0], "letter": letter, "memory": first}
    numbers |= {"key": key.prefix, "key_id": key.id, "webhook": hook, "delivery": delivery}
    return {name: str(number) for name, number in (numbers | {"other": second}).items()}


def _webhook(connection: Connection, memory: UUID) -> tuple[UUID, UUID]:
    """An endpoint of acme, and what was sent to it of one memory."""
    wanted = NewEndpoint("https://hooks.example.com/acme", ["*"], ["*"], [], THEIRS[0].word)
    hook, _ = make_endpoint(connection, "acme", wanted, by=THEIRS[0].word)
    sent = insert(WebhookDelivery).values(
        endpoint_id=hook,
        change_id=THEIRS[0].word,
        change_type="memory.created",
        memory_id=memory,
        state="delivered",
        next_attempt_at=func.now(),
    )
    return hook, connection.execute(sent.returning(WebhookDelivery.id)).scalar_one()


def told_words(answer: Any, *said: str) -> set[str]:
    """Acme's words in an answer, apart from where it repeats what the attacker said."""
    if isinstance(answer, Context):
        answer = answer.to_text(), answer.to_json()
    text = answer if isinstance(answer, str) else repr(answer)
    # The attacker has sessions of the same names by now, and made them himself.
    for one in sorted((*said, *(f"{place.word}-talk" for place in THEIRS)), key=len, reverse=True):
        text = text.replace(one, "")
    return words_in(text) & OTHER_WORDS


def open_siege(database: str, valkey_url: str, folder: Path) -> Iterator[Siege]:
    """Acme with its rows and globex beside it; acme must have every row at the end."""
    engine = make_engine(database)
    redis = Redis.from_url(valkey_url)
    redis.flushall()
    settings = settings_on(database, valkey_url, folder)
    for world in open_world(engine, settings, redis, folder / "files", THEIRS):
        world.memory.store.offers.settle(10)
        redis.flushall()
        loot = _loot(world)
        rows = {table: set(text.splitlines()) for table, text in dump_tables(engine, INSTALLATION).items()}
        settle(world, [MINE])
        world.memory.store.offers.settle(10)
        siege = Siege(world, redis, rows, loot, folder)
        yield siege
        # Whichever of the attacks were made.
        siege.stands()
    redis.close()
    engine.dispose()
