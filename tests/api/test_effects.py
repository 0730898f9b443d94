"""Measurements of causes over HTTP: what is taken, and what is refused before anybody computes."""

from collections.abc import Callable
from typing import Any

import pytest

from glassformer.api.effects import EffectsRequest, EffectsStep, Measuring, PatchingRequest, PatchingStep

RUN = {"kind": "record", "model": "zoo/tiny", "text": "the cat"}


def test_requests_become_jobs_of_their_kind(site: Any) -> None:
    assert isinstance(site.workbench, Measuring)
    outcome = {"token": " sat", "against": 7, "position": -1}
    started = site.client.post("/api/effects", json={"run": RUN, "outcome": outcome, "ids": [1, 2]})
    assert started.status_code == 202
    assert (started.json()["kind"], started.json()["listed"]) == ("effects", False)
    started = site.client.post(
        "/api/patching", json={"run": RUN, "corrupted": "a cat", "outcome": outcome, "part": "heads"}
    )
    assert (started.status_code, started.json()["kind"]) == (202, "patching")
    effects, patching = site.workbench.measured
    assert isinstance(effects, EffectsRequest)
    assert (effects.outcome.token, effects.outcome.against, effects.ids) == (" sat", 7, (1, 2))
    assert isinstance(patching, PatchingRequest)
    assert (patching.corrupted, patching.part) == ("a cat", "heads")


def test_what_cannot_be_is_refused(site: Any) -> None:
    long = "x" * (site.app.state.context.settings.text_characters + 1)
    for path, body, status in (
        ("effects", {"run": {**RUN, "text": long}, "outcome": {}}, 413),
        ("patching", {"run": RUN, "corrupted": long, "outcome": {}}, 413),
        ("patching", {"run": RUN, "corrupted": "a", "outcome": {}, "part": "soul"}, 422),
        ("effects", {"run": RUN, "outcome": {"token": ""}}, 422),
        ("effects", {"run": RUN, "outcome": {"word": "x"}}, 422),
    ):
        assert site.client.post(f"/api/{path}", json=body).status_code == status, body
    assert site.workbench.measured == []


def test_without_a_workbench_nothing_is_measured(build_site: Callable[..., Any]) -> None:
    site = build_site(workbench=False)
    assert site.client.post("/api/effects", json={"run": RUN, "outcome": {}}).status_code == 409


@pytest.mark.slow
def test_events_are_in_the_schema(site: Any) -> None:
    schemas = site.app.openapi()["components"]["schemas"]
    for sent in (EffectsStep, PatchingStep):
        assert set(schemas[sent.__name__]["properties"]) == set(sent.model_fields)
