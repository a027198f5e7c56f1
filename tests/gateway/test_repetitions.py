"""Idempotency-Key: a change that is sent twice happens once, and what is kept for it goes with a forget."""

from slowwave_server.services.forget.broker import drop_answers
from tests.gateway.conftest import Doors

NEW = {"name": "twice", "rights": ["read"]}


def test_key_is_made_once_and_shown_once(doors: Doors) -> None:
    headers = {"Idempotency-Key": "make-1"}
    assert doors.post("/v1/keys", NEW, headers=headers).status_code in {200, 201}
    again = doors.post("/v1/keys", NEW, headers=headers)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/already-done")
    other = doors.post("/v1/keys", NEW | {"name": "other"}, headers=headers)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-mismatch")
    assert doors.rows("SELECT count(*) FROM slowwave.api_keys WHERE name = 'twice'") == [(1,)]


def test_forget_drops_kept_answers_of_its_tenant(doors: Doors) -> None:
    for tenant in ("acme", "globex"):
        assert doors.post("/v1/keys", NEW, key=doors.full(tenant), headers={"Idempotency-Key": "f"}).is_success
    drop_answers(doors.redis, "acme")
    left = [key.decode().split(":")[3] for key in doors.redis.scan_iter("slowwave:gateway:answer:*")]
    assert left == ["globex"]
