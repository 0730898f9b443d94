"""Traces for OpenTelemetry: one span for each request and each job, both with the id of the request.

In:   where spans are collected (OTLP over HTTP; extra `telemetry`), or any provider of tracers.
Out:  spans, sent by a thread of the SDK. What is asked for (queries, texts, tokens) is not in them.

Without a collector nothing happens and nothing is imported.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from glassformer import __version__
from glassformer.errors import InputError

_tracers: list[Any] = []  # the last one is used

Values = Mapping[str, str | int | float | None]


@contextmanager
def collect(provider: Any) -> Iterator[None]:
    """Give spans to a provider of tracers while the block runs."""
    tracer = provider.get_tracer("glassformer", __version__)
    _tracers.append(tracer)
    try:
        yield
    finally:
        _tracers.remove(tracer)
        provider.shutdown()  # sends what waits


def open_collector(endpoint: str) -> Any:
    """The provider for a collector, as http://localhost:4318; the SDK's own variables (OTEL_…) hold, too."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InputError("api.no_telemetry") from error
    name = os.environ.get("OTEL_SERVICE_NAME", "glassformer")
    provider = TracerProvider(
        resource=Resource.create({"service.name": name, "service.version": __version__})
    )
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def add_span(
    name: str, seconds: float, values: Values, *, failed: bool, parent: str = "", server: bool = False
) -> None:
    """Something that took so long has just ended; `parent` is the `traceparent` that came with a request."""
    if not _tracers:
        return
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    now = time.time_ns()
    span = _tracers[-1].start_span(
        name,
        context=TraceContextTextMapPropagator().extract({"traceparent": parent}),
        kind=SpanKind.SERVER if server else SpanKind.INTERNAL,
        attributes={key: value for key, value in values.items() if value is not None},
        start_time=now - int(seconds * 1e9),
    )
    if failed:
        span.set_status(StatusCode.ERROR)
    span.end(now)
