"""Entries of several owners in one spool: each entry is delivered on behalf of its owner."""

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
    """The owner for whom a process works at the moment."""

    def current(self) -> str | None:
        """Return the owner for whom this thread works, in the spool's form, or None."""

    def enter(self, link: Link) -> None:
        """Let a connection work for the owner. Raises Refused if the owner has lost the right."""

    def deliver_for(self, owner: str | None) -> AbstractContextManager[object]:
        """Return a block in which this thread delivers for an owner."""


@dataclass(frozen=True, slots=True)
class RecorderFor:
    """Delivers a spool with several owners; rejects, with the reason, what an owner may no longer record."""

    recorder: Recorder
    acting: Acting

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Record the entries in order. Raises StoreUnavailable; some of them may then be recorded already."""
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
