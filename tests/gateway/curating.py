"""What tests of curation share: a gateway over two tenants with memories, and a worker that answers its requests."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis import Redis
from sqlalchemy import Engine

from slowwave import Settings
from slowwave.coordination.request_queue import REQUEST_QUEUE
from slowwave.messages import ANSWER_REQUEST
from slowwave_server.workers.app import make_app
from tests.gateway.conftest import Doors
from tests.support.walls import PLACES, World, open_world, settings_on

OWN, KITCHEN, GARDEN, BOREAS, _, THEIRS, THEIR_KITCHEN = PLACES
"""Of acme's agent atlas: its own scope, a room, a team; of its agent boreas; of globex."""


@dataclass
class Desk:
    """A gateway over a filled world. keys: by what each reaches."""

    doors: Doors
    world: World
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, *, agents: tuple[str, ...] = (), scopes: tuple[str, ...] = (), rights: tuple[str, ...] = ()) -> str:
        """A key of acme; the same each time. rights: none for all."""
        name = repr((agents, scopes, rights))
        if name not in self.keys:
            more = {"rights": rights} if rights else {}
            self.keys[name] = self.doors.key(agents=agents, scopes=scopes, **more)
        return self.keys[name]

    def get(self, path: str, status: int = 200, **more: Any) -> Any:
        return told(self.doors.get(path, **more), status)

    def post(self, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        return told(self.doors.post(path, {} if body is None else body, **more), status)

    def patch(self, path: str, body: Any, status: int = 200, **more: Any) -> Any:
        return told(self.doors.ask("PATCH", path, json=body, **more), status)

    def walk(self, path: str, **more: Any) -> list[Any]:
        """All items of a list, one page of one item after the other."""
        items: list[Any] = []
        cursor, joint = None, "&" if "?" in path else "?"
        while True:
            page = self.get(f"{path}{joint}limit=1" + (f"&cursor={cursor}" if cursor else ""), **more)
            assert len(page["items"]) <= 1
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return items


def told(answer: Any, status: int) -> Any:
    assert answer.status_code == status, (answer.status_code, answer.text)
    return answer.json()


@contextmanager
def answering(settings: Settings, redis: Redis) -> Iterator[None]:
    """Answer requests as a worker does that takes from their queue, until the block ends."""
    app = make_app(settings)
    app.loader.import_default_modules()
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            found = redis.brpop([REQUEST_QUEUE], timeout=1)
            if found is not None:
                args, kwargs, _ = json.loads(json.loads(found[1])["body"])
                app.tasks[ANSWER_REQUEST].apply(args=args, kwargs=kwargs)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join(30)
        app.close_runtime()
    assert not worker.is_alive()


def open_desk(doors: Doors, owner_url: str, engine: Engine, broker: str, folder: Path) -> Iterator[Desk]:
    """A desk whose requests a worker answers."""
    settings = settings_on(owner_url, broker, folder)
    for world in open_world(engine, settings, doors.redis, folder / "files"):
        world.memory.store.offers.settle(10)
        doors.redis.delete(REQUEST_QUEUE)
        with answering(settings, Redis.from_url(broker)):
            yield Desk(doors, world)
