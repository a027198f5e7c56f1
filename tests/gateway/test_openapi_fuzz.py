"""Anything at every path of the gateway: no answer of 500, and none that breaks the OpenAPI document.

Cases come from the document itself, half of them as it allows and half as it does not. In every other case names and
numbers in the path are those of things that exist, so that what lies behind them is met.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

import pytest
import requests
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from pydantic import TypeAdapter

from slowwave.changes import Change
from slowwave_server.workers.gateway.routing import GatewayRoute
from tests.attacks.fuzzing import TRIED, examples, tried
from tests.gateway.conftest import Doors
from tests.gateway.curating import KITCHEN, OWN, Desk, open_desk
from tests.support.walls import YESTERDAY

schemathesis = pytest.importorskip("schemathesis", reason="not installed: make setup")
checks = pytest.importorskip("schemathesis.specs.openapi.checks", reason="not installed: make setup")

pytestmark = [pytest.mark.long, pytest.mark.servers]

EXAMPLES = 6
"""Of each path and method, allowed ones and others each."""
STREAM = "/v1/changes"
"""Its answers don't end."""
FORGET = "POST /v1/forgets/{forget}/confirm"
CALL_SECONDS = 30
CHANGE = TypeAdapter(Change)


@pytest.fixture(scope="module")
def desk(
    doors: Doors, module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    yield from open_desk(doors, module_database, doors.owner, valkey_url, tmp_path_factory.mktemp("desk"))


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of the gateway on a port of this machine: headers and bodies come in as bytes."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()


def _known(desk: Desk) -> Mapping[str, Sequence[object]]:
    """Of each parameter of a path some values that mean something."""
    preview = desk.post("/v1/forgets", {"agent": "boreas"})["id"]
    key = desk.post("/v1/keys", {"name": "spare", "rights": ["read"]}, 201)["id"]
    return {
        "agent": ["atlas", "boreas", "new/one"],
        "session": [f"{OWN.word}-talk", f"{OWN.word}-tail", f"{KITCHEN.word}-talk", "new"],
        "memory": [*desk.world.memories(OWN), *desk.world.memories(KITCHEN)],
        "run": desk.world.numbers("maintenance_runs", OWN),
        "number": desk.world.numbers("review_items", OWN) + desk.world.numbers("review_items", KITCHEN),
        "day": [date.today(), YESTERDAY.date(), YESTERDAY.date() - timedelta(days=9)],  # noqa: DTZ011
        "forget": [preview],
        "request": [preview],
        "key": [key],
    }


def _checked(case: Any, answer: Any) -> None:
    """What every answer keeps, beside the document."""
    assert answer.headers.get("x-request-id"), "an answer names its request"
    if answer.status_code >= 400:
        assert answer.headers["content-type"][0] == "application/problem+json", answer.status_code
        assert answer.json()["status"] == answer.status_code
        assert answer.json()["detail"], "a problem says what was wrong"


def _told(failure: BaseException) -> str:
    within = failure.exceptions if isinstance(failure, BaseExceptionGroup) else ()
    return " | ".join([str(failure), *map(_told, within)])


class Fuzzer:
    """Tries one operation after the other, and collects what fails."""

    def __init__(self, address: str, key: str, document: dict[str, Any], desk: Desk) -> None:
        self.schema = schemathesis.openapi.from_dict(document)
        self.schema.config.update(base_url=address)
        # Parameters that a path does not name change nothing, and the key is added to each request.
        self.schema.config.generation.allow_extra_parameters = False
        self.schema.config.generation.with_security_parameters = False
        self.session = requests.Session()
        self.address, self.key, self.desk, self.known = address, key, desk, _known(desk)
        self.failed: list[str] = []

    def operations(self) -> Iterator[Any]:
        for found in self.schema.get_all_operations():
            yield found.ok()

    def attempt(self, operation: Any, mode: Any, number: int) -> None:
        """Try so many cases of an operation; the first that fails is kept with how to send it again."""

        @examples(number)
        @given(case=operation.as_strategy(generation_mode=mode), place=st.integers(0, 99), meant=st.booleans())
        def property_(case: Any, place: int, meant: bool) -> None:
            if meant:
                for name in case.path_parameters:
                    if known := self.known.get(name):
                        case.path_parameters[name] = known[place % len(known)]
                if operation.label == FORGET:
                    self._preview(case, place)
            self._ask(case, negative=mode is schemathesis.GenerationMode.NEGATIVE and not meant)

        try:
            property_()
        except Unsatisfiable:
            pass  # nothing of it can be wrong
        except (Exception, BaseExceptionGroup) as failure:  # noqa: BLE001 (all that is found is told at the end)
            self.failed.append(f"{operation.label} ({mode.value}): {_told(failure)}"[:4000])

    def _preview(self, case: Any, place: int) -> None:
        """Make a case that confirms a preview of a new session: chance never finds the id with its words."""
        session = f"gone-{place}"
        turn = {"messages": [{"role": "user", "content": "Forget this."}]}
        self.desk.post(f"/v1/agents/boreas/sessions/{session}/turns", turn)
        preview = self.desk.post("/v1/forgets", {"agent": "boreas", "session": session})
        case.path_parameters["forget"], case.body = preview["id"], {"confirm": preview["confirm"]}

    def _ask(self, case: Any, *, negative: bool) -> None:
        headers = {**(case.headers or {}), "Authorization": f"Bearer {self.key}"}
        if case.operation.path == STREAM:
            self._listen(case, headers)
            return
        answer = case.call(headers=headers, session=self.session, timeout=CALL_SECONDS)
        tried(f"http {case.operation.label}", taken=answer.status_code < 400)
        case.validate_response(
            answer,
            checks=[
                schemathesis.checks.not_a_server_error,
                checks.status_code_conformance,
                checks.content_type_conformance,
                checks.response_schema_conformance,
                checks.response_headers_conformance,
                *([checks.negative_data_rejection] if negative else []),
            ],
        )
        _checked(case, answer)

    def _listen(self, case: Any, headers: dict[str, str]) -> None:
        """Read a stream up to the end of what its client missed: an event with an id and no data."""
        asked = case.as_transport_kwargs(base_url=self.address, headers=headers)
        with self.session.request(**asked, stream=True, timeout=CALL_SECONDS) as answer:
            tried(f"http {case.operation.label}", taken=answer.status_code < 400)
            assert answer.status_code < 500
            assert answer.headers["x-request-id"]
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["status"] == answer.status_code
                return
            event: list[str] = []
            for line in answer.iter_lines(chunk_size=1, decode_unicode=True):
                if line:
                    event.append(str(line))
                elif len(event) == 1 and event[0].startswith("id: "):
                    return
                else:
                    CHANGE.validate_json(event[-1].removeprefix("data: "))
                    event = []


def test_no_case_breaks_the_gateway_or_its_document(desk: Desk) -> None:
    document = desk.get("/openapi.json")
    with served(desk.doors.app) as address:
        fuzzer = Fuzzer(address, desk.doors.full(), document, desk)
        for operation in fuzzer.operations():
            for mode in schemathesis.GenerationMode:
                fuzzer.attempt(operation, mode, EXAMPLES)
    assert fuzzer.failed == [], "\n\n".join(fuzzer.failed)
    assert TRIED[f"http {FORGET} (taken)"], "a forget was confirmed"


def test_every_path_is_in_the_document(desk: Desk) -> None:
    """A path that the document leaves out is fuzzed by nobody."""
    document = desk.get("/openapi.json")
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    for route in desk.doors.app.routes:
        if isinstance(route, GatewayRoute) and route.needs is not None:
            assert {(route.path, method) for method in route.methods or ()} <= described
