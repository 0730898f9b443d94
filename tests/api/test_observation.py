"""What an operator sees: probes, counters, request ids and the log."""

import json
import logging
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families

from glassformer.api import logs
from glassformer.api.logs import JsonFormatter, LineFormatter, Observer
from glassformer.api.roles import PERSON


def read_counters(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Each sample of a scrape by its name and labels, read by Prometheus' own parser."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route_method_and_status(site: Any) -> None:
    for _ in range(3):
        assert site.client.get("/api/jobs/77").status_code == 404
    site.client.get("/api/about")
    site.client.request("BREW", "/api/about")
    answer = site.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    counted = read_counters(answer.text)

    def requests(method: str, route: str, status: str) -> float:
        labels = frozenset({("method", method), ("route", route), ("status", status)})
        return counted.get(("glassformer_requests_total", labels), 0)

    assert requests("GET", "/api/jobs/{id}", "404") == 3
    assert requests("GET", "/api/about", "200") == 1
    assert sum(value for (name, _), value in counted.items() if name == "glassformer_requests_total") == 5
    assert not any(("method", "BREW") in labels for _, labels in counted)  # strangers add no counters
    assert counted["glassformer_request_seconds_count", frozenset({("route", "/api/jobs/{id}")})] == 3


def test_the_state_of_the_server_is_in_the_counters(site: Any) -> None:
    before = read_counters(site.client.get("/metrics").text)
    assert before["glassformer_recordings", frozenset()] == site.library.count()
    assert before["glassformer_jobs", frozenset({("state", "queued")})] == 0
    site.client.post("/api/jobs", json={"kind": "record", "model": "zoo/tiny", "text": "x"})
    after = read_counters(site.client.get("/metrics").text)
    assert after["glassformer_jobs", frozenset({("state", "queued")})] == 1
    assert after["glassformer_event_streams", frozenset()] == 0
    assert after["process_resident_memory_bytes", frozenset()] > 1e6


def test_counters_need_the_token_and_probes_do_not(build_site: Callable[..., Any]) -> None:
    site = build_site(token="a long secret token")
    assert site.client.get("/metrics").status_code == 401
    given = {"authorization": "Bearer a long secret token"}  # as Prometheus sends it
    assert site.client.get("/metrics", headers=given).status_code == 200
    for probe in ("/healthz", "/readyz"):  # a balancer asks by an address, without a token
        answer = site.client.get(probe, headers={"host": "10.1.2.3:5000"})
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_server_that_ends_or_cannot_write_is_not_ready(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert site.client.get("/readyz").text == "ready\n"
    monkeypatch.setattr("glassformer.api.library._LEAST_FREE", 1 << 80)
    assert site.client.get("/readyz").status_code == 503
    monkeypatch.undo()
    site.app.state.closing.set()
    assert site.client.get("/readyz").status_code == 503
    assert site.client.get("/healthz").status_code == 200


def test_each_response_has_a_request_id_and_a_proxy_may_give_it(site: Any) -> None:
    first, second = (site.client.get("/api/about").headers["x-request-id"] for _ in range(2))
    assert re.fullmatch("[0-9a-f]{16}", first)
    assert first != second
    given = site.client.get("/api/about", headers={"x-request-id": "from-proxy.7"})
    assert given.headers["x-request-id"] == "from-proxy.7"
    for forged in ("a b", "x" * 65, 'a"b', "é"):
        answer = site.client.get("/api/about", headers={"x-request-id": forged.encode()})
        assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


def test_the_access_log_has_a_line_for_each_request(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Kept()
    handler.setFormatter(JsonFormatter())
    logs.access_log.addHandler(handler)
    try:
        with caplog.at_level(logging.INFO, logs.access_log.name):
            answer = site.client.get("/api/recordings/%0anew%20line?secret=1")
            handler.setFormatter(LineFormatter())
            site.client.get("/api/recordings/%0anew%20line")
    finally:
        logs.access_log.removeHandler(handler)
    entry = json.loads(lines[0])
    assert entry["request"] == answer.headers["x-request-id"]
    assert (entry["status"], entry["client"]) == (404, "testclient")
    assert entry["bytes"] == len(answer.content)
    assert 0 < entry["seconds"] < 60
    assert "secret" not in lines[0]  # a query may hold a token
    assert "\n" not in lines[1]
    assert "status=404" in lines[1]


def test_the_access_log_says_whose_a_request_was() -> None:
    entries: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            entries.append(json.loads(JsonFormatter().format(record)))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/his":
            scope[PERSON] = SimpleNamespace(name="rob")  # as access control notes it
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        pass

    async def ask() -> None:
        for path in ("/his", "/nobodys"):
            scope = {"type": "http", "method": "GET", "path": path, "headers": []}
            await Observer(app, SimpleNamespace(count=lambda *_: None))(scope, None, send)  # type: ignore[arg-type]

    handler, level = Kept(), logs.access_log.level
    logs.access_log.addHandler(handler)
    logs.access_log.setLevel(logging.INFO)
    try:
        anyio.run(ask)
    finally:
        logs.access_log.setLevel(level)
        logs.access_log.removeHandler(handler)
    assert [(each["message"], each.get("person")) for each in entries] == [
        ("GET /his", "rob"),
        ("GET /nobodys", None),
    ]


def test_an_error_in_the_log_has_its_traceback() -> None:
    try:
        raise ValueError("seen")
    except ValueError as error:
        caught = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("glassformer.server", logging.ERROR, "", 0, "a bug at %s", ("/x",), caught)
    entry = json.loads(JsonFormatter().format(record))
    assert (entry["level"], entry["message"]) == ("error", "a bug at /x")
    assert "ValueError: seen" in entry["error"]
    assert "ValueError: seen" in LineFormatter().format(record)
