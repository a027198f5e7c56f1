"""Simple routes are called without FastAPI's solver, and answer like those that FastAPI calls."""

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, Header, Path, Query, Request, Response
from fastapi.routing import APIRoute
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from slowwave_server.workers.gateway.bodies import take_body
from slowwave_server.workers.gateway.direct_calls import directly, is_simple


class Line(BaseModel):
    """One line of a body."""

    text: str = Field(min_length=1, max_length=8)
    at: int | None = None


class Body(BaseModel):
    """A body with a default, a limit and a list."""

    model_config = ConfigDict(extra="forbid")

    lines: list[Line] = Field(max_length=2)
    mode: str = "durable"


class DirectRoute(APIRoute):
    """Calls simple routes directly, as the gateway does."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        call = directly(self, super().get_route_handler())

        async def handle(request: Request) -> Response:
            return await call(await take_body(request, 10_000, 10) if request.method == "POST" else request)

        return handle


def record(number: Annotated[int, Path(ge=1, le=9)], name: str, body: Body) -> Response:
    return JSONResponse({"number": number, "name": name, "body": body.model_dump()})


def show(number: Annotated[int, Path(ge=1, le=9)]) -> Response:
    return JSONResponse({"number": number})


def application(route: type[APIRoute]) -> TestClient:
    app = FastAPI()
    app.router.route_class = route
    app.add_api_route("/{number}/{name}", record, methods=["POST"])
    app.add_api_route("/{number}", show, methods=["GET"])
    return TestClient(app)


DIRECT, SOLVED = application(DirectRoute), application(APIRoute)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "at", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
lines = st.fixed_dictionaries({"text": st.text(max_size=9)}, optional={"at": st.integers() | st.just("7")})
bodies = json_values | st.fixed_dictionaries(
    {"lines": st.lists(lines, max_size=3) | json_values}, optional={"mode": st.text(max_size=4), "more": st.just(1)}
)


@example(number="3", body={"lines": [{"text": "tea"}]})
@example(number="0", body={"lines": [{"text": "tea"}]})
@example(number="x", body={"lines": []})
@example(number="3", body={"lines": [{"text": ""}], "more": 1})
@given(number=st.sampled_from(["1", "9", "10", "-1", "one", "%20", "1.0"]), body=bodies)
def test_answers_are_those_of_fastapi(number: str, body: Any) -> None:
    headers = {"content-type": "application/json"}
    here, there = (
        client.post(f"/{number}/maya", content=json.dumps(body), headers=headers) for client in (DIRECT, SOLVED)
    )
    assert (here.status_code, here.json()) == (there.status_code, there.json())


@pytest.mark.parametrize("number", ["1", "9", "0", "one"])
def test_a_route_without_a_body_answers_as_fastapi_does(number: str) -> None:
    here, there = (client.get(f"/{number}") for client in (DIRECT, SOLVED))
    assert (here.status_code, here.json()) == (there.status_code, there.json())


def test_a_missing_body_is_refused_as_by_fastapi() -> None:
    here, there = (client.post("/3/maya") for client in (DIRECT, SOLVED))
    assert here.status_code == there.status_code == 422
    assert here.json() == there.json()


def asked(number: int, days: Annotated[int, Query()] = 2) -> Response:
    return Response(f"{number} {days}")


def headed(number: int, key: Annotated[str, Header()]) -> Response:
    return Response(f"{number} {key}")


async def awaited(number: int) -> Response:
    return Response(str(number))


def modelled(number: int) -> Line:
    return Line(text=str(number))


def with_request(number: int, request: Request) -> Response:
    return Response(f"{number} {request.method}")


@pytest.mark.parametrize("function", [asked, headed, awaited, modelled, with_request])
def test_what_only_fastapi_can_solve_is_not_called_directly(function: Callable[..., Any]) -> None:
    assert is_simple(APIRoute("/{number}", show))
    assert not is_simple(APIRoute("/{number}", function))
