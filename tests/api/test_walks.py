"""The walk over HTTP."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer import bundle
from glassformer.api.frames import decode_frame
from glassformer.api.jobs import JobRequest
from glassformer.recording import Recording
from glassformer.walk import make_plan
from tolerances import assert_near
from traces import record_full, record_traced, slim


@pytest.fixture
def traced() -> Recording:
    return record_traced()


@pytest.fixture
def full() -> Recording:
    return record_full()


@pytest.fixture
def opened(site: Any, traced: Recording, tmp_path: Path) -> str:
    path = tmp_path / "traced.bundle"
    bundle.save(traced, path)
    posted = site.client.post(
        "/api/recordings", content=path.read_bytes(), headers={"origin": "http://localhost:5000"}
    )
    return f"/api/recordings/{posted.json()['id']}"


@pytest.mark.slow
def test_the_plan_over_http(site: Any, opened: str, traced: Recording) -> None:
    plan = site.json(f"{opened}/walk")
    assert not plan["more"]
    bare = {name: array for name, array in traced.trace.items() if not name.startswith("parameters/")}
    assert make_plan(replace(traced, trace=bare)).more
    assert plan == make_plan(traced).model_dump(mode="json")
    assert [chapter["id"] for chapter in plan["chapters"]][:3] == [
        "encoder.embedding",
        "encoder.0.self",
        "encoder.0.feed_forward",
    ]
    names = [step["id"].rsplit(".", 1)[1] for step in plan["chapters"][1]["steps"]]
    scores = ["queries", "keys", "values", "products", "scaled", "weights"]
    assert names == [*scores, "mixed", "joined", "output", "sum", "norm"]
    assert plan["norm_position"] == "post"
    assert [each["causal"] for each in plan["stacks"]] == [False, True]


def test_arrays_over_http(site: Any, opened: str, traced: Recording) -> None:
    def ask(address: str) -> Any:
        return decode_frame(site.client.get(f"{opened}/trace/{address}").content).arrays["values"].array

    queries = traced.trace["encoder/0/self/queries"]
    assert (ask("encoder/0/self/queries") == queries).all()
    assert (ask("encoder/0/self/queries?head=1&rows=1:3&columns=2:4") == queries[1, 1:3, 2:4]).all()
    weight = traced.trace["parameters/encoder.layers.0.attention.qkv.weight"]
    assert (ask("parameters/encoder.layers.0.attention.qkv.weight?rows=3:5") == weight[3:5]).all()
    assert (ask("parameters/encoder.layers.0.attention.qkv.bias?columns=3:5") == np.zeros(2)).all()
    assert (ask("decoder/ids") == traced.target.ids).all()  # type: ignore[union-attr]
    assert np.isneginf(ask("decoder/0/self/scores?head=0")[0, 1])
    assert ask("output/probabilities").sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("trace/encoder/0/self/nothing", "not_recorded"),
        ("trace/parameters/..%2f..%2fetc/passwd", "not_recorded"),
        ("trace/encoder/0/self/queries?head=2", "no_cell"),
        ("trace/encoder/0/self/queries?rows=1:9", "no_cell"),
        ("trace/encoder/ids?rows=1:2", "no_cell"),
        ("trace/nothing/ids", "not_recorded"),
        ("cell/encoder.0.self.nothing", "no_step"),
        ("cell/encoder.0.self.queries?head=0&row=9", "no_cell"),
        ("cell/encoder.0.self.sum?head=0", "no_cell"),
        ("cell/encoder.0.self.sum?row=-1", "malformed"),
    ],
)
def test_refusals(site: Any, opened: str, address: str, code: str) -> None:
    answer = site.client.get(f"{opened}/{address}")
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["code"] == code


def test_a_cell_over_http(site: Any, opened: str, traced: Recording) -> None:
    cell = site.json(f"{opened}/cell/encoder.0.self.queries?head=1&row=2&column=3")
    weight = traced.trace["parameters/encoder.layers.0.attention.qkv.weight"]
    read = traced.trace["encoder/embedding/sum"][2].astype(np.float64)
    assert [term["product"] for term in cell["terms"]] == pytest.approx((read * weight[11]).tolist())
    assert cell["value"] == float(traced.trace["encoder/0/self/queries"][1, 2, 3])
    assert abs(cell["difference"]) < 1e-6
    assert cell["reads"] == [
        {"name": "encoder/embedding/sum", "head": None, "row": 2, "column": None},
        {"name": "parameters/encoder.layers.0.attention.qkv.weight", "head": None, "row": 11, "column": None},
    ]


def test_what_follows_is_there_over_http(site: Any, full: Recording, tmp_path: Path) -> None:
    path = tmp_path / "slim.bundle"
    bundle.save(slim(full), path)
    headers = {"origin": "http://localhost:5000"}
    posted = site.client.post("/api/recordings", content=path.read_bytes(), headers=headers)
    here = f"/api/recordings/{posted.json()['id']}"
    answer = site.client.get(f"{here}/trace/encoder/0/feed_forward/active?rows=1:3")
    active = decode_frame(answer.content).arrays["values"].array
    assert_near(active, full.trace["encoder/0/feed_forward/active"][1:3])
    assert site.client.get(f"{here}/trace/encoder/0/feed_forward/nothing").status_code == 404


def test_a_job_may_ask_for_a_trace() -> None:
    assert JobRequest(kind="record", model="m", text="x", want=("trace", "parameters")).want
