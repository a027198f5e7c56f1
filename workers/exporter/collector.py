"""Exposes the current figures as metric families; a server that does not answer in time counts as unavailable."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import fields
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from slowwave_server.workers.exporter.catalogue import CATALOGUE

DEADLINE_SECONDS = 8.0
"""Prometheus waits ten seconds by default."""
SHARED_SECONDS = 1.0
"""Scrapes within this interval share one reading, so frequent scrapes do not put more load on the servers."""

Labels = tuple[str, ...]
Read = Callable[[], Sequence[Any]]
"""Returns dataclasses whose fields are metrics."""


class FiguresCollector(Collector):
    """Reads each server in its own thread and offers the figures of all servers.

    servers: for each server its name and its read function, which must not raise if the server is unavailable. here:
    reads the figures of this host. about: the labels of `build_info`. A server that does not answer within `deadline`
    seconds counts as unavailable; the collector does not ask it again before the outstanding answer arrives.
    """

    def __init__(
        self,
        servers: Mapping[str, Read],
        here: Read,
        *,
        about: Labels,
        deadline: float = DEADLINE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = servers
        self._here = here
        self._about = about
        self._deadline = deadline
        self._monotonic = monotonic
        self._threads = {name: ThreadPoolExecutor(1, thread_name_prefix=f"read-{name}") for name in servers}
        self._asked: dict[str, Future[Sequence[Any]]] = {}
        self._lock = threading.Lock()
        self._families: list[Metric] = []
        self._read_at: float | None = None

    def collect(self) -> Iterable[Metric]:
        """Return the current metric families, in the catalogue's order."""
        with self._lock:
            started = self._monotonic()
            if self._read_at is None or started - self._read_at >= SHARED_SECONDS:
                groups = list(self._read())
                took = self._monotonic() - started
                own: Mapping[str, Mapping[Labels, float]] = {
                    "build_info": {self._about: 1.0},
                    "scrape_seconds": {(): took},
                }
                self._families = list(_families([*map(_values, groups), own]))
                self._read_at = self._monotonic()
            return self._families

    def close(self) -> None:
        """Stop asking the servers; do not wait for outstanding answers."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)

    def _read(self) -> Iterator[Any]:
        asked = {name: self._ask(name) for name in self._servers}
        done, _ = wait([future for future in asked.values() if future is not None], timeout=self._deadline)
        for name, future in asked.items():
            if future is None or future not in done:
                yield _Away(name)
            else:
                yield from future.result()
        yield from self._here()

    def _ask(self, name: str) -> Future[Sequence[Any]] | None:
        """Start a read. Return None if the server has not yet answered the previous one."""
        last = self._asked.get(name)
        if last is not None and not last.done():
            return None
        self._asked[name] = self._threads[name].submit(self._servers[name])
        return self._asked[name]


class _Away:
    """Replaces the figures of a server that did not answer."""

    def __init__(self, name: str) -> None:
        self.up = {(name,): 0.0}


def _values(group: Any) -> Mapping[str, Mapping[Labels, float]]:
    """Return a group's figures by metric and labels; a figure that is None is unknown and left out."""
    named = vars(group) if isinstance(group, _Away) else {f.name: getattr(group, f.name) for f in fields(group)}
    return {
        name: value if isinstance(value, Mapping) else {(): float(value)}
        for name, value in named.items()
        if value is not None
    }


def _families(groups: Iterable[Mapping[str, Mapping[Labels, float]]]) -> Iterator[Metric]:
    found: dict[str, dict[Labels, float]] = {}
    for group in groups:
        for name, samples in group.items():
            found.setdefault(name, {}).update(samples)
    for name, metric in CATALOGUE.items():
        if name in found:
            kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            family = kind(metric.full_name, metric.help, labels=metric.labels)
            for labels, value in found[name].items():
                family.add_metric(labels, value)
            yield family
