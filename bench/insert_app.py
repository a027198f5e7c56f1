"""The baseline for flush throughput: a Celery task that only inserts one row and commits.

Run by bench.flush as `celery -A bench.insert_app worker`; the URLs come from the variables that Slowwave reads too.
"""

import os

import psycopg
from celery import Celery

app = Celery("insert", broker=os.environ["SLOWWAVE_BROKER_URL"], backend=None)
app.conf.update(
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    task_ignore_result=True,
    task_default_queue="bench-insert",
    broker_connection_retry_on_startup=True,
)
_connections: dict[int, psycopg.Connection] = {}


@app.task(name="bench.insert")
def insert(number: int, text: str) -> None:
    """Insert one row and commit, over a connection that each process opens once."""
    connection = _connections.get(os.getpid())
    if connection is None:
        connection = _connections[os.getpid()] = psycopg.connect(os.environ["SLOWWAVE_DATABASE_URL"])
    connection.execute("INSERT INTO bench_rows (number, content) VALUES (%s, %s)", (number, text))
    connection.commit()
