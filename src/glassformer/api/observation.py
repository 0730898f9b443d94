"""What an operator sees of a server: counters for Prometheus.

In:   every request (logs.py); the state of the server when it is asked for.
Out:  counters and histograms as Prometheus reads them.

Routes are counted by their pattern (`/api/jobs/{id}`), so the number of counters is bounded.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client import Counter as RequestCounter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from glassformer.api.jobs import WorkerState
from glassformer.api.logs import OTHER
from glassformer.api.responses import AppContext

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)


class Counters(Collector):
    """The counters of one server, in a registry of their own: two servers of a process do not mix."""

    def __init__(self, context: AppContext, counts: dict[str, Any]) -> None:
        self.registry = CollectorRegistry()
        self.requests = RequestCounter(
            "glassformer_requests", "Requests.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "glassformer_request_seconds",
            "Time until the head of the response was sent.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._context = context
        self._counts = counts  # by what is counted: something with a `total`
        ProcessCollector(registry=self.registry)
        self.registry.register(self)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request has got its response."""
        self.requests.labels(method if method in _METHODS else OTHER, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def describe(self) -> Iterable[Metric]:
        """Nothing in advance: what `collect` yields depends on the state."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """The state of the server, now."""
        context = self._context
        yield _gauge("recordings", "Recordings that can be opened.", context.library.count())
        yield _gauge("cache_bytes", "Encoded responses in memory.", context.cache.size)
        found = CounterMetricFamily(
            "glassformer_cache", "Responses looked for in the cache.", labels=["found"]
        )
        found.add_metric(["yes"], context.cache.hits)
        found.add_metric(["no"], context.cache.misses)
        yield found
        yield _gauge(
            "requests_waiting", "Requests that wait for a thread or run in one.", context.threads.waiting
        )
        for name, counts in self._counts.items():
            yield _gauge(name, f"{name.replace('_', ' ').capitalize()} at the same time.", counts.total)
        if context.workbench is not None:
            jobs = Counter(job.state for job in context.workbench.jobs())
            family = GaugeMetricFamily("glassformer_jobs", "Jobs that are remembered.", labels=["state"])
            for state in ("queued", "running", "done", "failed", "cancelled"):
                family.add_metric([state], jobs[state])
            yield family
            yield from _describe_workers(context.workbench.measure_workers())


def _describe_workers(workers: Sequence[WorkerState]) -> Iterable[Metric]:
    """Memory and use of each worker process."""
    for name, text, read in (
        ("memory_bytes", "Resident memory of a worker process.", lambda worker: worker.memory),
        ("models_bytes", "Models that a worker keeps ready.", lambda worker: worker.models),
        (
            "gpu_memory_bytes",
            "Memory of its GPU that a worker has reserved.",
            lambda worker: worker.gpu_memory,
        ),
        ("busy", "Whether a worker runs a job.", lambda worker: int(worker.busy)),
    ):
        family = GaugeMetricFamily(f"glassformer_worker_{name}", text, labels=["worker", "device"])
        for number, worker in enumerate(workers):
            family.add_metric([str(number), worker.device], read(worker))
        yield family


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"glassformer_{name}", text, value=value)
