"""Anything at all, thrown at every address of the schema: no 5xx, and every answer of the promised form."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import content_type_conformance, not_a_server_error, response_schema_conformance
from schemathesis.specs.openapi.checks import status_code_conformance

from atlases.invented import invent_atlas
from campaigns import rounds
from glassformer.place import Place
from glassformer.runlog import Event, RunWriter
from glassformer.runlog.search import write_search
from glassformer.workbench import LocalTrainer, TrainerSettings
from inventions import invent_captioner, invent_listener
from runlog.search_logs import make_search

EXAMPLES = rounds(4, 200)  # for each address
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)

NEED_USERS = {f"PUT /api/{each}/{{id}}/visibility" for each in ("recordings", "runs", "searches", "atlases")}
NEED_A_RUN = {  # that was trained: see test_training.py
    "PUT /api/recordings/{id}/branch",  # of a branch: see test_branches.py
    "POST /api/training",
    "GET /api/training/{id}/recipe",
    "POST /api/training/{id}/stop",
    "POST /api/training/{id}/resume",
    "POST /api/training/{id}/fork",
    "DELETE /api/training/{id}",
}

settings = hypothesis.settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.first
def test_no_request_breaks_the_server(build_site: Callable[..., Any], tmp_path: Path) -> None:
    with RunWriter(tmp_path / "runs" / "first") as writer:
        writer.write_event(Event(0, "started", "It began."))
        writer.write_scalars([(1, {"loss": 2.0})])
        writer.write_heads(1, {Place("encoder", "self", 0): {"entropy": [0.5]}})
    (tmp_path / "data").mkdir()
    trainer = LocalTrainer(TrainerSettings(runs=tmp_path / "runs", data=tmp_path / "data"))
    (tmp_path / "runs" / "found").mkdir()
    write_search(make_search(tmp_path / "runs" / "found"))
    invent_atlas(layers=1, heads=2).save(tmp_path / "atlases" / "one")
    site = build_site(waiting=10_000, runs=tmp_path / "runs", atlases=tmp_path / "atlases", trainer=trainer)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", site.app, headers={"host": "localhost"})
    asked: dict[str, set[int]] = {}
    ids = list(site.ids.values())
    made = {"picture": site.library.add(invent_captioner()), "sound": site.library.add(invent_listener())}
    # ids that are of no recording
    others = {"runs": "first", "training": "first", "searches": "found", "atlases": "one"}

    def ask(case: Any, **places: Any) -> None:
        for name, value in places.items():
            if name in case.path_parameters:
                case.path_parameters[name] = value
        if places and case.path in ("/api/runs/{id}/series", "/api/runs/{id}/heads"):
            known = {"name": "loss", "place": "encoder.self.0", "statistic": "entropy"}
            case.query = {**(case.query or {}), **known}
        response = case.call(session=site.client, base_url="http://localhost:5000")
        asked.setdefault(f"{case.method} {case.path}", set()).add(response.status_code)
        case.validate_response(response, checks=CHECKS)
        if response.status_code >= 400:
            assert set(response.json()["error"]) == {"sentence", "code", "message"}

    for outcome in schema.get_all_operations():
        operation = outcome.ok()
        modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
        for mode in modes:

            @hypothesis.seed(0)
            @settings
            @hypothesis.given(
                case=operation.as_strategy(generation_mode=mode), data=hypothesis.strategies.data()
            )
            def explore(case: Any, data: Any) -> None:
                ask(case)
                if case.method != "DELETE":
                    known = data.draw(hypothesis.strategies.sampled_from(ids))
                    ask(
                        case,
                        id=others.get(case.path.split("/")[2], made.get(case.path.split("/")[-1], known)),
                        other="one",
                        language="zh",
                        side="source",
                        place="0",
                        head=0,
                        level=0,
                        row=0,
                        column=0,
                        stack="decoder",
                        metric="entropy",
                        topic="lookup",
                        step="decoder.0.self.weights",
                        name="decoder/hidden/0",
                    )

            with suppress(Unsatisfiable):  # an address without words cannot be asked wrongly
                explore()
    assert len(asked) == sum(len(methods) for methods in site.app.openapi()["paths"].values())
    assert not any(status >= 500 for statuses in asked.values() for status in statuses)
    reached = {address for address, statuses in asked.items() if statuses & {200, 201, 202, 204}}
    missed = set(asked) - reached - NEED_A_RUN - NEED_USERS
    assert len(missed) <= 3, sorted(missed)
