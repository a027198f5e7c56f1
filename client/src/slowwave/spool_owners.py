"""Entries of several owners in one spool: each is delivered for the one for whom it was taken.

Must not know: who the owners are, how Postgres tells them apart.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from slowwave.capture import Delivery, Entry
from slowwave.errors import Refused
from slowwave.postgres import Link
from slowwave.spooled_notes import Recorder


class Acting(Protocol):
    """For whom a process works at the moment."""

    def current(self) -> str | None:
        """For whom this thread works, as the spool can keep it; None for nobody."""

    def enter(self, link: Link) -> None:
        """Have a connection work for them. Raises Refused if they may not any more."""

    def deliver_for(self, owner: str | None) -> AbstractContextManager[object]:
        """A block in which this thread delivers for an owner."""


@dataclass(frozen=True, slots=True)
class RecorderFor:
    """Where such a spool is emptied to. It rejects, with the reason, what an owner has no right to any more."""

    recorder: Recorder
    acting: Acting

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Record what can be recorded, in its order. Raises StoreUnavailable; then part of it may be recorded."""
        delivery = Delivery([], [])
        for owner, group in groupby(entries, key=lambda entry: entry.by):
            theirs = list(group)
            try:
                with self.acting.deliver_for(owner):
                    done = self.recorder.deliver(theirs)
            except Refused as error:
                done = Delivery([], [(entry, str(error)) for entry in theirs])
            delivery.captured.extend(done.captured)
            delivery.rejected.extend(done.rejected)
        return delivery
