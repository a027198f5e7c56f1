"""Requests over HTTP while no worker runs: accepted, found at their address, answered later, once (I3)."""

from pathlib import Path

import pytest
from redis import Redis

from slowwave import Settings
from slowwave.coordination.request_queue import REQUEST_QUEUE, wake_request
from tests.gateway.conftest import Doors
from tests.gateway.curating import answering, told
from tests.support.processes import wait_until

pytestmark = pytest.mark.servers

TURN = {"messages": [{"role": "user", "content": "I live in Turin."}]}


@pytest.mark.long
def test_i3_a_request_waits_for_a_worker_at_its_address(
    doors: Doors, module_database: str, valkey_url: str, tmp_path: Path
) -> None:
    told(doors.post("/v1/agents/atlas/sessions/monday/turns", TURN), 200)
    body, repeated = {"agent": "atlas"}, {"Idempotency-Key": "forget-atlas"}
    answer = doors.post("/v1/forgets", body, headers=repeated)
    request = told(answer, 202)
    assert (request["kind"], request["state"], request["result"]) == ("forget_preview", "waiting", None)
    assert answer.headers["location"] == f"/v1/requests/{request['id']}"
    assert told(doors.post("/v1/forgets", body, headers=repeated), 202) == request, "asked once"
    confirm = f"/v1/forgets/{request['id']}/confirm"
    doors.redis.delete(REQUEST_QUEUE)
    settings = Settings(database_url=module_database, broker_url=valkey_url, spool=tmp_path)
    with answering(settings, Redis.from_url(valkey_url)):
        # As the sweep does, once it finds that nobody was woken.
        wake_request(doors.redis, request["id"])
        wait_until(lambda: doors.get(answer.headers["location"]).json()["state"] == "done", 20, "the answer")
        assert told(doors.get(answer.headers["location"]), 200)["result"]["confirm"] == "atlas"
        assert told(doors.post(confirm, {"confirm": "atlas"}), 200)["counts"]["events"] == 1
    assert doors.rows("SELECT count(*) FROM slowwave.requests") == [(2,)]
