"""Signals of consolidation, for code that reacts to it, such as counters, notifications, or a cache.

    consolidation_started    run, scope
    consolidation_completed  run, scope, duration_ms, persisted, links, triples
    consolidation_failed     run (None if no run had begun), scope, error (a sentence)

The sender is the kind of the run (working, light or deep); run and scope are numbers. A receiver is any callable that
takes the sender and `**fields`. It is called after the commit, in the process that did the work. If it raises, the
error is logged and the work continues.
"""

import logging
from collections.abc import Callable
from typing import Any

from blinker import NamedSignal

log = logging.getLogger(__name__)


class HarmlessSignal(NamedSignal):
    """A signal whose receivers can't interrupt the work that sends it."""

    def send(
        self, sender: Any | None = None, /, *, _async_wrapper: Any = None, **fields: Any
    ) -> list[tuple[Callable[..., Any], Any]]:
        """Call each receiver. Return their results, without those that raised."""
        answers = []
        for receiver in list(self.receivers_for(sender)):
            try:
                answers.append((receiver, receiver(sender, **fields)))
            except Exception:
                log.exception("a receiver of %s failed", self.name)
        return answers


consolidation_started = HarmlessSignal("consolidation-started")
consolidation_completed = HarmlessSignal("consolidation-completed")
consolidation_failed = HarmlessSignal("consolidation-failed")
