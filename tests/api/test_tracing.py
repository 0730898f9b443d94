"""Traces: a span for each request and job, with the id of the request, and nothing that was asked for."""

import sys
from typing import Any

import pytest

from glassformer.api.tracing import add_span, collect, open_collector
from glassformer.errors import InputError
from glassformer.workbench.jobs import JobStore

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="the extra `telemetry` is not installed")


@pytest.fixture
def spans() -> Any:
    """What is collected while a test runs."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with collect(provider):
        yield exporter.get_finished_spans


def test_requests_and_jobs_leave_spans_with_the_id_of_the_request(site: Any, spans: Any) -> None:
    store = JobStore(queue=8, kept=8)
    site.app.state.context.workbench.submit = lambda request, owner: store.submit(request, None, owner)
    body = {"kind": "record", "model": "zoo/gpt2", "text": "a private text"}
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"x-request-id": "seen-by-the-proxy", "traceparent": parent}
    made = site.client.post("/api/jobs?token=secret", json=body, headers=headers)
    assert made.status_code == 202
    entry = store.take(0)
    store.finish(entry, "a-recording")
    request, job = spans()
    assert (request.name, job.name) == ("POST /api/jobs", "job record")
    assert request.attributes["http.response.status_code"] == 202
    assert format(request.context.trace_id, "032x") == parent[3:35]
    assert (job.attributes["glassformer.job"], job.attributes["glassformer.state"]) == (entry.id, "done")
    for span in (request, job):
        assert span.attributes["glassformer.request_id"] == "seen-by-the-proxy"
        assert span.end_time - span.start_time >= 0
        assert not any(word in str(dict(span.attributes)) for word in ("secret", "private"))


def test_without_a_collector_nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    add_span("a request", 0.1, {}, failed=True)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InputError, match="not installed"):
        open_collector("http://localhost:4318")
