"""Training runs over HTTP: the list, one of them, and following it while it is written."""

import asyncio
import json
import shutil
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.api import runs as api_runs
from glassformer.api.routes import runs as routes
from glassformer.api.runs import Runs
from glassformer.errors import ApiError
from glassformer.place import Place
from glassformer.runlog import Event, RunIndex, RunWriter, open_run

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
        writer.write_event(Event(3, "best", "The best.", topic="loss", value=0.25))
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
    assert (entry["id"], entry["state"], entry["last_step"], entry["alarms"]) == ("first", "killed", 50, 1)
    assert (entry["indexing"], len(entry["loss"]), entry["loss"][0]) == (None, 51, 1.0)
    assert (entry["score_name"], entry["score"]) == ("loss", 0.25)
    loss = run["curves"]["loss"]
    assert loss["steps"] == list(range(51))
    assert (loss["values"][1], loss["values"][50]) == (0.5, None)
    (heads,) = run["heads"]
    assert heads["place"]["address"] == "encoder.self.0"
    assert (heads["heads"], heads["steps"]) == (2, [0, 25, 50])
    assert heads["statistics"]["entropy"] == [[0.5, None]] * 3
    started, _, alarm = run["events"]
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


def test_long_curves_are_thinned_to_the_lowest_and_highest_of_each_stretch(runs: Any) -> None:
    run = runs.json("/api/runs/first?points=6")
    curve = run["curves"]["loss"]
    assert len(curve["steps"]) == 6
    steps, values = (np.reshape(curve[name], (-1, 2)) for name in ("steps", "values"))
    for (start, stop), lowest_and_highest in zip(steps[:2], values[:2], strict=True):  # the last has a gap
        stretch = [1 / (step + 1) for step in range(start, stop + 1)]
        assert lowest_and_highest == pytest.approx([min(stretch), max(stretch)])
    assert run["heads"][0]["steps"] == [0, 50]
    assert run["thinned"]


@pytest.mark.parametrize("id", ["nowhere", "..", "%2e%2e", "first%2f..", "first%5c", "%00"])
def test_other_folders_are_no_runs(runs: Any, id: str) -> None:
    assert runs.client.get(f"/api/runs/{id}").status_code in (404, 422)


def test_without_a_folder_there_are_none(build_site: Callable[..., Any], tmp_path: Path) -> None:
    assert build_site(runs=tmp_path / "nowhere").json("/api/runs") == []


def test_a_range_of_a_curve_has_lowest_and_highest_values(runs: Any) -> None:
    exact = runs.json("/api/runs/first/series?name=loss&start=2&stop=4")
    assert (exact["first"], exact["last"], exact["exact"]) == ([2, 3, 4], [2, 3, 4], True)
    assert exact["mean"] == [[1 / 3], [1 / 4], [1 / 5]]
    coarse = runs.json("/api/runs/first/series?name=loss&points=2")
    assert (coarse["first"], coarse["exact"]) == ([0, 26], False)
    assert (coarse["low"][0], coarse["high"][0]) == ([1 / 26], [1.0])
    assert coarse["count"] == [[26], [24]]  # one was not finite


def test_a_statistic_of_all_heads(runs: Any) -> None:
    found = runs.json("/api/runs/first/heads?place=encoder.self.0&statistic=entropy&start=1")
    assert (found["first"], found["mean"]) == ([25, 50], [[0.5, None]] * 2)


@pytest.mark.parametrize(
    "path",
    [
        "nowhere/series?name=loss",
        "first/series?name=lost",
        "first/heads?place=encoder.self.0&statistic=lost",
        "first/heads?place=encoder.self.9&statistic=entropy",
        "nowhere/events",
    ],
)
def test_what_is_not_there_is_not_found(runs: Any, path: str) -> None:
    assert runs.client.get(f"/api/runs/{path}").status_code == 404


@pytest.mark.parametrize("query", ["series", "series?name=loss&start=-1", "series?name=a&points=1", "heads"])
def test_what_cannot_be_asked_is_refused(runs: Any, query: str) -> None:
    assert runs.client.get(f"/api/runs/first/{query}").status_code in (400, 422)


def test_a_run_that_has_ended_is_sent_once(runs: Any) -> None:
    response = runs.client.get("/api/runs/first/events?since=48")
    (name, news), end = [read_event(part) for part in response.text.strip().split("\n\n")]
    assert (name, end) == ("news", ("end", {}))
    assert (news["curves"]["loss"]["steps"], news["since"]) == ([49, 50], 48)


def read_event(text: str) -> tuple[str, Any]:
    event, data = text.strip().splitlines()
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_a_run_is_sent_while_it_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_POLL", 0.001)

    async def follow() -> list[Any]:
        seen: list[Any] = []
        with RunWriter(folder / "live") as writer:
            writer.write_event(Event(0, "started", "Go."))
            writer.write_scalars([(1, {"loss": 2.0})])
            async for text in routes._stream(
                Runs(folder), "live", None, 100, nullcontext(), threading.Event()
            ):
                seen.append(read_event(text))
                if len(seen) == 1:
                    writer.write_scalars([(1, {"dev_loss": 3.0}), (2, {"loss": 1.0})])
                elif len(seen) == 2:
                    writer.write_event(Event(2, "finished", "Done."))
        return seen

    (_, first), (_, second), (_, third), end = asyncio.run(follow())
    assert (first["state"], first["curves"]["loss"]["values"]) == ("running", [2.0])
    assert second["curves"]["dev_loss"]["values"] == [3.0]  # of a step that was sent before
    assert second["curves"]["loss"] == {"steps": [1, 2], "values": [2.0, 1.0]}
    assert (third["state"], end[0]) == ("finished", "end")


def test_a_long_log_without_an_index_shows_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(folder / "first" / "index")
    told, release = threading.Event(), threading.Event()

    def read_slowly(path: Path, tell: Any = None) -> RunIndex:
        if tell is not None:
            tell(0.25)
            told.set()
            release.wait()
        return open_run(path, tell)

    monkeypatch.setattr(api_runs, "LONG", 10)
    monkeypatch.setattr(api_runs, "open_run", read_slowly)
    runs = Runs(folder)
    runs.entries()
    told.wait()
    assert runs.entries()[0].indexing == 0.25
    with pytest.raises(ApiError) as error:
        runs.describe("first", None, 100)
    assert (error.value.status, error.value.message.parameters["share"]) == (503, 0.25)
    release.set()
    while runs.entries()[0].indexing is not None:
        pass
    assert runs.describe("first", None, 100).curves["loss"].steps[-1] == 50
