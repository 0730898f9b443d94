"""Training runs over HTTP: the list, one of them, and following it while it is written."""

import asyncio
import json
import shutil
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from glassformer.api import runs as api_runs
from glassformer.api.routes import runs as routes
from glassformer.api.runs import Runs
from glassformer.api.settings import SHIPPED_RUNS
from glassformer.errors import ApiError
from glassformer.messages import literal
from glassformer.place import Place
from glassformer.runlog import AlarmRecord, Event, RunIndex, RunWriter, open_run

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
    (runs / "first" / "data.json").write_text('{"epochs": 2}')
    return runs


@pytest.fixture
def runs(folder: Path, build_site: Callable[..., Any]) -> Any:
    return build_site(runs=folder)


def test_a_run_is_told_whole(runs: Any) -> None:
    (entry,) = runs.json("/api/runs")
    run = runs.json("/api/runs/first")
    assert {name: run[name] for name in entry} == entry
    assert (entry["id"], entry["state"], entry["last_step"], entry["alarms"]) == ("first", "killed", 50, 1)
    assert (entry["indexing"], len(entry["loss"]), entry["loss"][-2:]) == (None, 50, [0.02, None])
    assert (entry["score_name"], entry["score"]) == ("loss", 0.25)
    assert run["names"] == ["loss"]
    (heads,) = run["maps"]
    assert heads["place"]["address"] == "encoder.self.0"
    assert (heads["heads"], heads["statistics"]) == (2, ["entropy"])
    (started, best), (alarm,) = run["events"], run["alarm_list"]
    assert (started["message"]["code"], best["kind"]) == ("text.literal", "best")
    assert (alarm["cause"], alarm["first_step"], alarm["value"]) == ("loss spike", 7, 3.0)
    assert (run["recipe"], run["revision"], run["damaged"], run["data"]) == ("[task]\n", 1, 0, {"epochs": 2})


def test_an_alarm_is_told_with_its_heads_and_when_it_passed(runs: Any, folder: Path) -> None:
    heads = {DEEP: (1,)}
    with RunWriter(folder / "first") as writer:
        for step, kind, last in ((10, "alarm", 10), (14, "alarm_grew", 14), (30, "alarm_passed", 14)):
            record = AlarmRecord(1, "dead_heads", 10, last, heads, ("encoder.0",))
            writer.write_event(Event.from_message(step, kind, literal(f"Seen at {step}."), alarm=record))
    _, alarm = runs.json("/api/runs/first")["alarm_list"]
    assert (alarm["cause"], alarm["layers"]) == ("dead_heads", ["encoder.0"])
    assert [alarm[name] for name in ("first_step", "last_step", "passed_at")] == [10, 14, 30]
    assert [(each["place"]["address"], each["heads"]) for each in alarm["heads"]] == [(DEEP.address, [1])]
    assert alarm["message"]["parameters"]["text"] == "Seen at 14."
    assert runs.json("/api/runs")[0]["alarms"] == 2


def test_a_run_is_followed(runs: Any, folder: Path) -> None:
    first = runs.client.get("/api/runs/first")
    known = {"if-none-match": first.headers["etag"]}
    assert runs.client.get("/api/runs/first", headers=known).status_code == 304
    with RunWriter(folder / "first") as writer:
        writer.write_scalars([(51, {"loss": 0.25})])
    assert runs.json("/api/runs/first")["last_step"] == 51
    news = runs.json("/api/runs/first/series?start=51")["series"]
    assert (news["loss"]["first"], news["loss"]["mean"]) == ([51], [[0.25]])
    with RunWriter(folder / "first") as writer:
        writer.write_event(Event(40, "resumed", "It went on."))
    assert runs.json("/api/runs/first")["revision"] == 2  # what was fetched before is void


@pytest.mark.parametrize("id", ["nowhere", "..", "%2e%2e", "first%2f..", "first%5c", "%00"])
def test_other_folders_are_no_runs(runs: Any, id: str) -> None:
    assert runs.client.get(f"/api/runs/{id}").status_code in (404, 422)


def test_without_a_folder_there_are_none(build_site: Callable[..., Any], tmp_path: Path) -> None:
    assert build_site(runs=tmp_path / "nowhere").json("/api/runs") == []


def test_a_range_of_a_curve_has_lowest_and_highest_values(runs: Any) -> None:
    exact = runs.json("/api/runs/first/series?name=loss&start=2&stop=4")["series"]["loss"]
    assert (exact["first"], exact["last"], exact["exact"]) == ([2, 3, 4], None, True)
    assert exact["mean"] == [[1 / 3], [1 / 4], [1 / 5]]
    coarse = runs.json("/api/runs/first/series?name=loss&points=2")["series"]["loss"]
    assert (coarse["first"], coarse["last"], coarse["exact"]) == ([0, 26], [25, 50], False)
    assert coarse["low"][0] == [round(1 / 26, 7)]  # a millionth of what the curve reaches over
    assert coarse["high"][0] == [1.0]
    assert coarse["count"] == [[26], [24]]  # one was not finite


def test_large_numbers_that_differ_little_keep_their_difference(runs: Any, folder: Path) -> None:
    with RunWriter(folder / "clock") as writer:
        writer.write_event(Event(0, "started", "It began."))
        writer.write_scalars((step, {"time": 1.7e9 + step / 4}) for step in range(100))
    time = runs.json("/api/runs/clock/series?points=2")["series"]["time"]
    assert not time["exact"]
    assert time["high"] == [[1.7e9 + 49 / 4], [1.7e9 + 99 / 4]]


def test_several_curves_are_read_together(runs: Any, folder: Path) -> None:
    with RunWriter(folder / "first") as writer:
        writer.write_scalars([(50, {"dev_loss": 3.0})])
    found = runs.json("/api/runs/first/series?name=dev_loss&name=loss&start=49")["series"]
    assert found["dev_loss"]["first"] == [50]
    assert (found["loss"]["first"], found["loss"]["mean"]) == ([49, 50], [[1 / 50], [None]])
    assert set(runs.json("/api/runs/first/series")["series"]) == {"loss", "dev_loss"}


@pytest.mark.parametrize("place", ["", "&place=encoder.self.0"])
def test_a_statistic_of_all_heads(runs: Any, place: str) -> None:
    series = runs.json(f"/api/runs/first/heads?statistic=entropy&start=1{place}")["series"]
    (found,) = series.values()
    assert (list(series), found["first"]) == (["encoder.self.0"], [25, 50])
    assert found["mean"] == [[0.5, None]] * 2


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


@pytest.mark.parametrize("query", ["series?name=loss&start=-1", "series?name=a&points=1", "heads"])
def test_what_cannot_be_asked_is_refused(runs: Any, query: str) -> None:
    assert runs.client.get(f"/api/runs/first/{query}").status_code in (400, 422)


def test_a_run_that_has_ended_is_sent_once(runs: Any) -> None:
    response = runs.client.get("/api/runs/first/events")
    (name, news), end = [read_event(part) for part in response.text.strip().split("\n\n")]
    assert (name, end) == ("news", ("end", {}))
    assert news == runs.json("/api/runs/first")


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
            async for text in routes._stream(Runs(folder), "live", nullcontext(), threading.Event()):
                seen.append(read_event(text))
                if len(seen) == 1:
                    writer.write_scalars([(1, {"dev_loss": 3.0}), (2, {"loss": 1.0})])
                elif len(seen) == 2:
                    writer.write_event(Event(2, "finished", "Done."))
        return seen

    (_, first), (_, second), (_, third), end = asyncio.run(follow())
    assert (first["state"], first["names"], first["last_step"]) == ("running", ["loss"], 1)
    assert (second["names"], second["last_step"]) == (["loss", "dev_loss"], 2)
    assert (third["state"], end[0]) == ("finished", "end")


def test_a_long_log_without_an_index_shows_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(folder / "first" / "index")
    told, release = threading.Event(), threading.Event()

    def read_slowly(path: Path, tell: Any = None, *, keep: bool = True) -> RunIndex:
        if tell is not None:
            tell(0.25)
            told.set()
            release.wait()
        return open_run(path, tell, keep=keep)

    monkeypatch.setattr(api_runs, "LONG", 10)
    monkeypatch.setattr(api_runs, "open_run", read_slowly)
    runs = Runs(folder)
    runs.entries()
    told.wait()
    assert runs.entries()[0].indexing == 0.25
    with pytest.raises(ApiError) as error:
        runs.describe("first")
    assert (error.value.status, error.value.message.parameters["share"]) == (503, 0.25)
    release.set()
    while runs.entries()[0].indexing is not None:
        pass
    assert runs.describe("first").last_step == 50


MOST_SHIPPED = 300_000  # bytes of all examples together
EXAMPLE = "reversed-words"


def test_examples_come_after_the_runs_of_a_person_and_are_only_read(
    folder: Path, build_site: Callable[..., Any], tmp_path: Path
) -> None:
    shipped = tmp_path / "shipped"
    shutil.copytree(SHIPPED_RUNS, shipped)
    site = build_site(runs=folder, shipped_runs=shipped)
    entries = site.json("/api/runs")
    assert [(entry["id"], entry["shipped"]) for entry in entries] == [("first", False), (EXAMPLE, True)]
    assert [entry["id"] for entry in site.json("/api/runs?limit=1")] == ["first"]
    example = site.json(f"/api/runs/{EXAMPLE}")
    assert (example["shipped"], example["state"], example["checkpoint"]) == (True, "finished", False)
    assert 0 < example["updated"] - example["started"] < 3600  # not the time at which its files were copied
    assert set(site.json(f"/api/runs/{EXAMPLE}/series")["series"]) == set(example["names"])
    assert not (shipped / EXAMPLE / "index").exists()


def test_the_attention_of_an_example_can_be_watched(build_site: Callable[..., Any], tmp_path: Path) -> None:
    site = build_site(runs=tmp_path / "none", shipped_runs=SHIPPED_RUNS)
    (text,) = site.json(f"/api/runs/{EXAMPLE}/probes")["texts"]
    assert [step["step"] for step in text["steps"]] == [0, 50, 100, 150, 300]
    last = site.json(f"/api/recordings/{text['steps'][-1]['id']}")
    assert "decoder.cross.0" in {each["place"]["address"] for each in last["maps"]}
    recording = site.library.get(text["steps"][-1]["id"])
    weights = recording.map("decoder", "cross", 0).weights()
    assert weights[1].argmax(-1)[:6].tolist() == [5, 4, 3, 2, 1, 0]  # the word is read backwards


def test_a_run_of_a_person_hides_an_example_of_the_same_name(folder: Path) -> None:
    (folder / "first").rename(folder / EXAMPLE)
    runs = Runs(folder, SHIPPED_RUNS)
    assert [(entry.id, entry.shipped) for entry in runs.entries()] == [(EXAMPLE, False)]
    assert not runs.describe(EXAMPLE).shipped


def test_examples_are_small_and_without_checkpoints() -> None:
    files = [path for path in SHIPPED_RUNS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_SHIPPED
    assert not any(path.suffix == ".safetensors" for path in files)
