"""Jobs: the server hands requests to a workbench, and what it hears to the page."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from glassformer.api.jobs import Event, Job, JobRequest
from glassformer.api.routes import jobs
from glassformer.recorders.edits import AblateHead, PatchHead, PatchPath, PatchStates, Steer
from texts import text_of

ASKED = {"kind": "record", "model": "zoo/tiny", "text": "The fox"}


def read_events(text: str) -> list[tuple[str, Any]]:
    """Name and data of each server-sent event."""
    found = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.mark.slow
def test_models_and_presets(site: Any) -> None:
    assert site.json("/api/models")[0]["name"] == "zoo/tiny"
    preset = site.json("/api/presets")[0]
    assert text_of(preset["title"]) == "狐狸"
    assert preset["recording"] is None


@pytest.mark.parametrize("name", ["models", "presets"])
def test_folders_are_not_searched_on_the_event_loop(
    site: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    on_loop: list[bool] = []

    def search() -> list[Any]:
        on_loop.append(asyncio._get_running_loop() is not None)
        return []

    monkeypatch.setattr(site.workbench, name, search)
    assert site.json(f"/api/{name}") == []
    assert on_loop == [False]


def test_the_workbench_gets_ready_once_somebody_looks(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_FIRST", 0.0)
    with site.client:
        site.json("/api/about")
        site.json("/api/recordings")
        assert not site.workbench.warm
        site.json("/api/models")
        site.json("/api/about")  # a moment later
        assert site.workbench.warm


PATCH = {
    "kind": "patch_head",
    "stack": "decoder",
    "attention": "self",
    "layer": 1,
    "head": 3,
    "source": [4, 5],
}


def test_a_job_from_request_to_done(site: Any) -> None:
    whole = {
        **ASKED,
        "kind": "generate",
        "edits": [{"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 1}],
        "decode": {"method": "beam", "beams": 4, "max_new_tokens": 5},
        "want": ["weights", "hidden"],
    }
    answer = site.client.post("/api/jobs", json=whole)
    assert answer.status_code == 202
    job = answer.json()
    assert (job["kind"], job["state"], job["model"]) == ("generate", "queued", "zoo/tiny")
    asked = site.workbench.asked[0]
    assert asked.edits[0].head == 1
    assert asked.decode.beams == 4
    assert site.json(f"/api/jobs/{job['id']}") == job
    assert site.json("/api/jobs") == [job]
    events = site.client.get(f"/api/jobs/{job['id']}/events")
    assert events.headers["content-type"].startswith("text/event-stream")
    assert read_events(events.text) == [
        ("progress", {"stage": "running", "share": 0.5, "detail": None}),
        ("done", {"recording": "一"}),
    ]
    assert site.client.delete(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"
    assert site.app.state.listeners.total == 0


def test_edits_as_version_0_1_wrote_them(site: Any) -> None:
    fields = ("stack", "attention", "layer", "head", "query", "key", "how", "factor", "count")
    edit = {"kind": "ablate", **dict.fromkeys(fields), "stack": "decoder", "attention": "self"}
    old = {**ASKED, "edits": [{**edit, "layer": 0, "head": 1}]}
    assert site.client.post("/api/jobs", json=old).status_code == 202
    assert site.workbench.asked[0].read_edits() == [AblateHead("decoder", "self", 0, 1)]


def test_patches_and_vectors(site: Any) -> None:
    states = {"kind": "patch_states", "stack": "encoder", "part": "feed_forward", "layer": 1, "source": "a"}
    steer = {"kind": "steer", "stack": "decoder", "layer": 2, "vector": [1, 0.5], "positions": [-1]}
    path = {**PATCH, "kind": "patch_path", "receivers": ["decoder.residual"], "feed_forward": "frozen"}
    asked = {**ASKED, "edits": [{**PATCH, "positions": [0, 2]}, {**states, "target": "b"}, steer, path]}
    assert site.client.post("/api/jobs", json=asked).status_code == 202
    assert site.workbench.asked[0].read_edits() == [
        PatchHead("decoder", "self", 1, 3, (4, 5), (0, 2)),
        PatchStates("encoder", "feed_forward", 1, "a", target="b"),
        Steer("decoder", 2, (1.0, 0.5), (-1,)),
        PatchPath("decoder", "self", 1, 3, (4, 5), ("decoder.residual",), feed_forward="frozen"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "destroy"},
        {"model": ""},
        {"frob": 1},
        {"length": -1},
        {"multiplier": "NaN"},
        {"want": ["everything"]},
        {"edits": [{"kind": "explode"}]},
        {"edits": [{"kind": "ablate", "stack": "decoder", "layer": 0, "head": 1}]},
        {"edits": [{"kind": "layers", "count": 1, "factor": 2.0}]},
        {"edits": [{**PATCH, "source": 5}]},
        {"edits": [{**PATCH, "positions": [1.5]}]},
        {"edits": [{**PATCH, "part": "residual"}]},
        {"edits": [{**PATCH, "kind": "patch_path", "receivers": "decoder.residual"}]},
        {"edits": [{**PATCH, "kind": "patch_path", "receivers": [5]}]},
        {"edits": [{"kind": "steer", "stack": "decoder", "layer": 0, "vector": []}]},
        {"edits": [{"kind": "steer", "stack": "decoder", "layer": 0, "vector": [[1.0]]}]},
        {"edits": [{"kind": "steer", "stack": "decoder", "layer": 0, "vector": [float("nan")]}]},
        {"decode": {"method": "beam", "beams": 1000}},
        {"text": 5},
        {"edits": [{"kind": "scale", "factor": float("inf")}]},
    ],
)
def test_a_malformed_request_is_a_sentence(site: Any, change: dict[str, Any]) -> None:
    body = json.dumps({**ASKED, **change})
    error = site.refusal(
        "/api/jobs", 422, method="POST", content=body, headers={"content-type": "application/json"}
    )
    assert error["code"] == "malformed"
    assert next(iter(change)) in error["sentence"]


def test_what_is_no_json_is_a_sentence(site: Any) -> None:
    for body in (b"", b"{", b"\xff", b"[1]", b"null", b'"' + b"[" * 100_000):
        headers = {"content-type": "application/json"}
        assert (
            site.refusal("/api/jobs", 422, method="POST", content=body, headers=headers)["code"]
            == "malformed"
        )


def test_a_full_queue_and_unknown_jobs(site: Any) -> None:
    for _ in range(3):
        assert site.client.post("/api/jobs", json=ASKED).status_code == 202
    assert site.refusal("/api/jobs", 429, method="POST", json=ASKED)["code"] == "queue_full"
    for method, path in (("GET", "/api/jobs/99"), ("DELETE", "/api/jobs/99"), ("GET", "/api/jobs/99/events")):
        assert site.refusal(path, 404, method=method)["code"] == "no_job"


def test_without_a_workbench_it_says_why(build_site: Callable[..., Any]) -> None:
    site = build_site(workbench=False, why_no_workbench="There is no torch here.")
    assert site.json("/api/models") == site.json("/api/presets") == site.json("/api/jobs") == []
    error = site.refusal("/api/jobs", 409, method="POST", json=ASKED)
    assert error["code"] == "no_workbench"
    assert error["sentence"].startswith("There is no torch here.")


def test_too_many_listeners(build_site: Callable[..., Any]) -> None:
    site = build_site(listeners=0)
    site.client.post("/api/jobs", json=ASKED)
    assert site.refusal("/api/jobs/0/events", 429)["code"] == "busy"


def test_the_workbench_is_closed_with_the_server(site: Any) -> None:
    with site.client:
        assert site.client.get("/api/about").status_code == 200
        assert not site.workbench.closed
    assert site.workbench.closed


def test_one_client_has_a_share_of_the_queue(build_site: Callable[..., Any]) -> None:
    site = build_site(queue=3, jobs=1, client_share=0.5)
    for _ in range(2):
        assert site.client.post("/api/jobs", json=ASKED).status_code == 202
    assert site.refusal("/api/jobs", 429, method="POST", json=ASKED)["message"]["code"] == "api.too_many_jobs"
    site.client.delete("/api/jobs/0")
    assert site.client.post("/api/jobs", json=ASKED).status_code == 202


def test_events_end_with_a_last_one_when_the_server_does(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless(id: str) -> AsyncIterator[Event]:
        yield Event(name="progress", data={})
        site.app.state.closing.set()
        await asyncio.sleep(1000)

    monkeypatch.setattr(site.workbench, "events", endless)
    site.client.post("/api/jobs", json=ASKED)
    heard = read_events(site.client.get("/api/jobs/0/events").text)
    assert [name for name, _ in heard] == ["progress", "cancelled"]


def test_a_malformed_field_is_named_in_the_language_of_the_request(site: Any) -> None:
    chinese = {"accept-language": "zh"}
    answer = site.client.post("/api/jobs", json={**ASKED, "length": -1}, headers=chinese)
    assert "length：应不小于 1" in answer.json()["error"]["sentence"]
    assert "length: expected at least 1" in site.refusal(
        "/api/jobs", 422, method="POST", json={**ASKED, "length": -1}
    )["sentence"]  # fmt: skip


@pytest.mark.slow
def test_requests_at_once_are_counted_before_they_are_jobs(
    build_site: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = build_site(queue=7, jobs=1, client_share=0.5)
    site.workbench.queue = 100
    submit = site.workbench.submit

    def submit_slowly(request: JobRequest, owner: str | None) -> Job:
        time.sleep(0.3)
        return submit(request, owner)

    monkeypatch.setattr(site.workbench, "submit", submit_slowly)

    async def send_all() -> list[int]:
        transport = httpx.ASGITransport(site.app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:5000") as client:
            answers = await asyncio.gather(*(client.post("/api/jobs", json=ASKED) for _ in range(8)))
        return sorted(answer.status_code for answer in answers)

    assert asyncio.run(send_all()) == [202] * 4 + [429] * 4
    assert site.app.state.submitting.total == 0
