"""Metrics for Prometheus: how much is asked and kept, and what waits. No names, no content."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from metamem.core.errors import MetamemError
from metamem.service.service import MemoryService
from metamem.service.words import LIFECYCLES

FRESH_SECONDS = 10.0  # that counts over the whole store are good for
SERVED = ("asked", "advised", "unadvised", "experiences", "failed", "behind")
ANSWERS = ("asked", "replayed", "refused", "unanswered")
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """What a server counts, and what it reads from the store when it is asked."""

    def __init__(self, service: MemoryService) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "metamem_requests",
            "Requests by interface, verb and outcome",
            ("interface", "verb", "outcome"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "metamem_request_seconds",
            "How long requests took",
            ("interface", "verb"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.registry.register(_Store(service))

    def watch(self, served: Callable[[], Mapping[str, Any]]) -> None:
        """Tell also of designs that are served, as `ServedDesigns.status` has it."""
        self.registry.register(_Served(served))

    def watch_enrichment(self, status: Callable[[], Mapping[str, Any]]) -> None:
        """Tell also what is drawn from conversations, as `Enriching.status` has it."""
        self.registry.register(_Enrichment(status))

    def watch_settings(self, status: Callable[[], Mapping[str, int]]) -> None:
        """Tell also of routers' settings that are watched, as `SettingsWatch.status` has it."""
        self.registry.register(_RouterSettings(status))

    def count(self, interface: str, verb: str, outcome: str, seconds: float) -> None:
        self._requests.labels(interface, verb, outcome).inc()
        self._seconds.labels(interface, verb).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _Served(Collector):
    """Designs that are served. What never happened shows as a zero, not as nothing."""

    def __init__(self, status: Callable[[], Mapping[str, Any]]) -> None:
        self._status = status

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        try:
            found = self._status()
        except MetamemError:  # the store cannot be read: metamem_store_up says so
            return
        yield GaugeMetricFamily(
            "metamem_served_open", "Memories of designs that run now", found["open"]
        )
        counts = CounterMetricFamily(
            "metamem_served",
            "What designs that are served were asked and told, and how often one failed",
            labels=["what"],
        )
        for what in SERVED:
            counts.add_metric([what], found["counts"].get(what, 0))
        yield counts
        if found["model"] is not None:
            yield from _served_model(found["model"])


def _served_model(found: Mapping[str, Any]) -> Iterator[Metric]:
    """The model that served designs ask."""
    counts = CounterMetricFamily(
        "metamem_served_model",
        "What served designs asked a model; what was on record, refused, or not answered",
        labels=["what"],
    )
    for what in ANSWERS:
        counts.add_metric([what], found[what])
    yield counts
    for name, words in (
        ("tokens", "Tokens that served designs used, by all processes"),
        ("money", "Dollars that served designs cost, by all processes"),
        ("stopped", "Whether they wait: nothing may be spent, or no model answers"),
    ):
        yield GaugeMetricFamily(f"metamem_served_model_{name}", words, float(found[name]))


class _Enrichment(Collector):
    """What a model drew from conversations. Nothing drawn shows as a zero."""

    def __init__(self, status: Callable[[], Mapping[str, Any]]) -> None:
        self._status = status

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        try:
            found = self._status()
        except MetamemError:  # the store cannot be read: metamem_store_up says so
            return
        counts = CounterMetricFamily(
            "metamem_enrichment", "What enrichment did since this process began", labels=["what"]
        )
        for what in ("rounds", "questions", "turns", "stored"):
            counts.add_metric([what], found[what])
        yield counts
        for name, words in (
            ("waiting", "Turns that enrichment has not read yet"),
            ("tokens", "Tokens that enrichment used, by all processes"),
            ("money", "Dollars that enrichment cost, by all processes"),
            ("stopped", "Whether it stands still: nothing may be spent, or no model answers"),
        ):
            yield GaugeMetricFamily(f"metamem_enrichment_{name}", words, float(found[name]))


class _RouterSettings(Collector):
    """Settings of routers that are watched. What never happened shows as a zero."""

    def __init__(self, status: Callable[[], Mapping[str, int]]) -> None:
        self._status = status

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        found = self._status()
        counts = CounterMetricFamily(
            "metamem_router_settings",
            "Looks at settings of routers that are watched, and how many were undone",
            labels=["what"],
        )
        for what in ("looks", "undone"):
            counts.add_metric([what], found[what])
        yield counts
        standing = GaugeMetricFamily(
            "metamem_router_settings_in_use",
            "Settings of routers that may be taken back: still watched, or kept",
            labels=["state"],
        )
        for state in ("watched", "kept"):
            standing.add_metric([state], found[state])
        yield standing


class _Store(Collector):
    """Counts of the store, read at most every few seconds."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._kept: list[Metric] = []
        self._until = 0.0

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._kept = self._read()
                self._until = time.monotonic() + FRESH_SECONDS
            yield from self._kept

    def _read(self) -> list[Metric]:
        up = GaugeMetricFamily("metamem_store_up", "Whether the store can be read")
        made: list[Metric] = [up]
        try:
            for part in (self._facts, self._jobs, self._own):
                made += part()
            up.add_metric([], 1)
        except MetamemError:
            up.add_metric([], 0)
        return made

    def _facts(self) -> list[Metric]:
        with self._service.database.reading() as execute:
            found = dict(execute("SELECT lifecycle, COUNT(*) FROM facts GROUP BY lifecycle"))
            ((vectors,),) = execute("SELECT COUNT(*) FROM vectors")
        facts = GaugeMetricFamily("metamem_facts", "Facts that are kept", labels=["lifecycle"])
        for lifecycle in LIFECYCLES:
            facts.add_metric([lifecycle], found.get(lifecycle, 0))
        lag = GaugeMetricFamily(
            "metamem_embedding_lag_facts",
            "Active facts whose vectors are still to be made",
            max(0, found.get("active", 0) - vectors),
        )
        return [facts, lag]

    def _jobs(self) -> list[Metric]:
        """A job that runs and never acts shows as a zero, not as nothing."""
        with self._service.database.reading() as execute:
            rows = execute("SELECT name, SUM(ran), SUM(acted) FROM jobs GROUP BY name")
        ran = CounterMetricFamily("metamem_job_runs", "How often a job ran", labels=["job"])
        acted = CounterMetricFamily("metamem_job_acted", "On how much a job acted", labels=["job"])
        totals = {"embed": (0, 0)} | {name: (runs, acts) for name, runs, acts in rows}
        for name, (runs, acts) in totals.items():
            ran.add_metric([name], runs)
            acted.add_metric([name], acts)
        return [ran, acted]

    def _own(self) -> list[Metric]:
        return [
            CounterMetricFamily(f"metamem_{name}", words, value)
            if kind == "counter"
            else GaugeMetricFamily(f"metamem_{name}", words, value)
            for name, kind, words, value in _told(self._service.metrics)
        ]


def _told(metrics: Callable[[], dict[str, int]]) -> Iterator[tuple[str, str, str, int]]:
    found = metrics()
    known = {
        "recalls_recorded": ("counter", "Recalls whose record was written"),
        "recalls_not_recorded": ("counter", "Records of recalls that were dropped"),
        "facts_embedded": ("counter", "Vectors that this process made"),
        "index_bytes": ("gauge", "Memory that the index holds"),
        "audit_waiting": ("gauge", "Audit entries that are not written yet"),
    }
    for name, value in found.items():
        if name in known:
            kind, words = known[name]
            yield name, kind, words, value
