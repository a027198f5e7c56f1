"""What tests of forgetting share: everything that Postgres, Redis and folders hold, as one text to search in."""

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from redis import Redis
from sqlalchemy import Engine, text

from slowwave_server.models import Base
from slowwave_server.services.forget.forget import Forgetter


def turn(*words: str) -> list[dict[str, str]]:
    """What a person says, and an answer."""
    return [{"role": "user", "content": " ".join(words)}, {"role": "assistant", "content": "Noted."}]


def everything(forgetter: Forgetter, *folders: Path) -> str:
    """All that is left, but for the receipts."""
    tables = dump_tables(forgetter.engine, left_out=("erasures", "erased_names"))
    return "\n".join([*tables.values(), dump_redis(forgetter.redis), dump_files(*folders)])


def dump_tables(engine: Engine, left_out: Iterable[str] = ()) -> dict[str, str]:
    """Every row of every table as JSON, bytes as text where they are, by table."""
    found = {}
    with engine.connect() as connection:
        for table in Base.metadata.tables.values():
            if table.name in set(left_out):
                continue
            rows = connection.execute(text(f"SELECT to_jsonb(t) FROM slowwave.{table.name} t")).scalars()
            found[table.name] = "\n".join(sorted(json.dumps(row, ensure_ascii=False) for row in rows))
    return found


def dump_redis(redis: Redis) -> str:
    """Every key with its value, whatever its type; bodies of messages also as they are when decoded."""
    return "\n".join(_shown(redis, key) for key in sorted(redis.scan_iter()))


def dump_files(*folders: Path) -> str:
    """Every file's path and content."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            found.append(str(path))
            if path.is_file():
                found.append(path.read_bytes().decode(errors="replace"))
    return "\n".join(found)


def _shown(redis: Any, key: bytes) -> str:
    kind = redis.type(key).decode()
    read: dict[str, Callable[[], Any]] = {
        "string": lambda: [redis.get(key) or b""],
        "list": lambda: redis.lrange(key, 0, -1),
        "hash": lambda: [item for pair in redis.hgetall(key).items() for item in pair],
        "zset": lambda: redis.zrange(key, 0, -1),
        "set": lambda: list(redis.smembers(key)),
        "none": list,  # it went in between
    }
    values = [bytes(value).decode(errors="replace") for value in read[kind]()]
    return "\n".join([key.decode(errors="replace"), *values, *(body for value in values for body in _bodies(value))])


def _bodies(value: str) -> list[str]:
    try:
        message = json.loads(value)
        message = message[0] if isinstance(message, list) else message
        body = message["body"]
        return [body, base64.b64decode(body, validate=True).decode(errors="replace")]
    except (ValueError, TypeError, LookupError):
        return []
