"""Signals: who listens is told, and can break nothing."""

import logging
from typing import Any

import pytest

from slowwave_server.services.runs.signals import HarmlessSignal


def test_receivers_get_the_kind_and_the_fields() -> None:
    signal = HarmlessSignal("tried")
    heard: list[tuple[str, dict[str, Any]]] = []

    def listen(kind: str, **fields: Any) -> str:
        heard.append((kind, fields))
        return "thanks"

    signal.connect(listen)
    assert signal.send("working", run=3, scope=7) == [(listen, "thanks")]
    assert heard == [("working", {"run": 3, "scope": 7})]


def test_a_receiver_may_ask_for_one_kind_alone() -> None:
    signal = HarmlessSignal("tried")
    heard: list[str] = []

    def listen(kind: str, **_: Any) -> None:
        heard.append(kind)

    signal.connect(listen, sender="deep")
    for kind in ("working", "light", "deep"):
        signal.send(kind, run=1, scope=1)
    assert heard == ["deep"]


def test_a_receiver_that_raises_is_logged_and_the_others_are_called(caplog: pytest.LogCaptureFixture) -> None:
    signal = HarmlessSignal("tried")
    heard: list[str] = []

    def broken(_kind: str, **_: Any) -> None:
        raise RuntimeError("no metrics server")

    def listen(kind: str, **_: Any) -> None:
        heard.append(kind)

    signal.connect(broken)
    signal.connect(listen)
    with caplog.at_level(logging.ERROR):
        answers = signal.send("working", run=1, scope=1)
    assert heard == ["working"]
    assert [receiver for receiver, _ in answers] == [listen]
    assert "a receiver of tried failed" in caplog.text
