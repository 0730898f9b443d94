"""Training runs over HTTP: the list, one of them, and following it while it is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glassformer.place import Place
from glassformer.runlog import Event, RunWriter

DEEP = Place("encoder", "self", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    with RunWriter(runs / "first") as writer:
        writer.write_event(Event(0, "started", "It began."))
        writer.write_scalars((step, {"loss": 1.0 / (step + 1)}) for step in range(50))
        writer.write_scalars([(50, {"loss": float("nan")})])
        for step in (0, 25, 50):
            writer.write_heads(step, {DEEP: {"entropy": [0.5, float("nan")]}})
        writer.write_event(Event(7, "alarm", "A spike.", topic="loss spike", place=DEEP.address, value=3.0))
    (runs / "first" / "recipe.toml").write_text("[task]\n")
    return runs


@pytest.fixture
def runs(folder: Path, build_site: Callable[..., Any]) -> Any:
    return build_site(runs=folder)


def test_a_run_is_told_whole(runs: Any) -> None:
    (entry,) = runs.json("/api/runs")
    run = runs.json("/api/runs/first")
    assert {name: run[name] for name in entry} == entry
    assert (entry["id"], entry["state"], entry["last_step"], entry["alarms"]) == ("first", "open", 50, 1)
    loss = run["curves"]["loss"]
    assert loss["steps"] == list(range(51))
    assert (loss["values"][1], loss["values"][50]) == (0.5, None)
    (heads,) = run["heads"]
    assert heads["place"]["address"] == "encoder.self.0"
    assert (heads["heads"], heads["steps"]) == (2, [0, 25, 50])
    assert heads["statistics"]["entropy"] == [[0.5, None]] * 3
    started, alarm = run["events"]
    assert (started["place"], started["message"]["code"]) == (None, "text.literal")
    assert (alarm["place"]["address"], alarm["value"], alarm["where"]) == ("encoder.self.0", 3.0, "")
    assert (run["recipe"], run["revision"], run["damaged"], run["thinned"]) == ("[task]\n", 1, 0, False)


def test_a_run_is_followed(runs: Any, folder: Path) -> None:
    first = runs.client.get("/api/runs/first")
    known = {"if-none-match": first.headers["etag"]}
    assert runs.client.get("/api/runs/first", headers=known).status_code == 304
    with RunWriter(folder / "first") as writer:
        writer.write_scalars([(51, {"loss": 0.25})])
    assert runs.client.get("/api/runs/first", headers=known).status_code == 200
    news = runs.json("/api/runs/first?since=50")
    assert news["curves"] == {"loss": {"steps": [51], "values": [0.25]}}
    assert (news["heads"], news["events"], news["since"]) == ([], [], 50)
    with RunWriter(folder / "first") as writer:
        writer.write_event(Event(40, "resumed", "It went on."))
    assert runs.json("/api/runs/first?since=51")["revision"] == 2  # what was fetched before is void


def test_long_curves_are_thinned_and_keep_their_ends(runs: Any) -> None:
    run = runs.json("/api/runs/first?points=5")
    steps = run["curves"]["loss"]["steps"]
    assert (len(steps), steps[0], steps[-1]) == (5, 0, 50)
    assert run["heads"][0]["steps"] == [0, 50]
    assert run["thinned"]


@pytest.mark.parametrize("id", ["nowhere", "..", "%2e%2e", "first%2f..", "first%5c", "%00"])
def test_other_folders_are_no_runs(runs: Any, id: str) -> None:
    assert runs.client.get(f"/api/runs/{id}").status_code in (404, 422)


def test_without_a_folder_there_are_none(build_site: Callable[..., Any], tmp_path: Path) -> None:
    assert build_site(runs=tmp_path / "nowhere").json("/api/runs") == []
