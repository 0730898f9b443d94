"""What an operator sees of a server: a line in the log for each request, and counters for Prometheus.

In:   every request, before anything else looks at it; the state of the server when it is asked for.
Out:  a request id in each response and each log line; counters and histograms as Prometheus reads them.

Routes are counted by their pattern (`/api/jobs/{id}`), so the number of counters is bounded.
"""

import json
import logging
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client import Counter as RequestCounter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glassformer.api.jobs import WorkerState
from glassformer.api.responses import AppContext

access_log = logging.getLogger("glassformer.access")

HEADER = "x-request-id"
OTHER = "other"  # the route of requests that were refused before routing, or that ask for files of the page
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FIELDS = ("status", "bytes", "seconds", "client")  # of an entry of the access log, beside its text
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


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


class Observer:
    """Middleware around all others: names, counts and logs each request."""

    def __init__(self, app: ASGIApp, counters: Counters) -> None:
        self.app = app
        self.counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        request_id.set(id)
        begin = time.perf_counter()
        status, sent, head = 500, 0, 0.0

        async def send_named(message: Message) -> None:
            nonlocal status, sent, head
            if message["type"] == "http.response.start":
                status, head = message["status"], time.perf_counter() - begin
                MutableHeaders(scope=message)[HEADER] = id
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_named)
        finally:
            seconds = time.perf_counter() - begin
            self.counters.count(scope["method"], _name_route(scope), status, head or seconds)
            if access_log.isEnabledFor(logging.INFO):
                access_log.info(
                    "%s %s",
                    scope["method"],
                    scope["path"],
                    extra={
                        "client": scope["client"][0] if scope.get("client") else "",
                        "status": status,
                        "bytes": sent,
                        "seconds": round(seconds, 6),
                    },
                )


class JsonFormatter(logging.Formatter):
    """A line of JSON for each entry of the log, with the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (id := request_id.get()) is not None:
            entry["request"] = id
        entry |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=True)


class LineFormatter(logging.Formatter):
    """The same for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        id = request_id.get()
        text = _escape(record.getMessage())
        shown = [f"{self.formatTime(record)} {record.levelname} {record.name}: {text}"]
        shown += [f"{name}={getattr(record, name)}" for name in _FIELDS if hasattr(record, name)]
        line = " ".join(shown if id is None else [*shown, f"request={id}"])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logging(level: str, form: str) -> None:
    """Send the log of the server to stderr, as lines or as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter())
    for name in ("glassformer", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper())
    logging.getLogger("uvicorn.access").disabled = True  # ours has the id and the time as well


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


def _name_route(scope: Scope) -> str:
    """The pattern that a request was routed by."""
    path: str = getattr(scope.get("route"), "path", OTHER)
    return OTHER if path == "/{path:path}" else path


def _escape(text: str) -> str:
    """Without line breaks and control characters: one entry is one line."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
