"""Probes of runs over HTTP: recordings like others, which belong to their run."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer import bundle
from glassformer.api.probes import make_id, read_id
from glassformer.recording import Recording, from_arrays
from glassformer.runlog import PROBES, Event, RunWriter
from glassformer.runlog.probes import name_probe


def invent(tokens: int, seed: int) -> Recording:
    """A decoder of one layer with two heads."""
    weights = np.tril(np.random.default_rng(seed).random((2, tokens, tokens), dtype=np.float32) + 0.1)
    return from_arrays(weights / weights.sum(-1, keepdims=True), ["a", "b", "c", "d", "e"][:tokens])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    for name in ("first", "a run: 2"):
        with RunWriter(runs / name) as writer:
            writer.write_event(Event(0, "started", "It began."))
    probes = runs / "first" / PROBES
    probes.mkdir()
    for step in (0, 10, 200):
        for text in (0, 1):
            bundle.save(invent(tokens=4 + text, seed=step + text), probes / name_probe(step, text))
    shutil.copytree(probes, runs / "a run: 2" / PROBES)
    return runs


@pytest.fixture
def site(folder: Path, build_site: Callable[..., Any]) -> Any:
    return build_site(runs=folder)


@pytest.mark.parametrize("id", ["first:100:0", "a run: 2:7:12"])
def test_ids_name_a_place_in_a_run(id: str) -> None:
    parts = read_id(id)
    assert parts is not None
    assert make_id(*parts) == id


@pytest.mark.parametrize(
    "id",
    ["gpt2-0a1b2c", "first:1", ":1:0", "first:x:0", "first:1:", "first:²:0", "first:010:0", "first:10:00"],
)
def test_other_ids_are_none(id: str) -> None:
    assert read_id(id) is None


@pytest.mark.slow
def test_probes_are_listed_and_open_as_recordings(site: Any) -> None:
    listed = site.json("/api/runs/first/probes")
    assert listed["run"] == "first"
    assert [text["number"] for text in listed["texts"]] == [0, 1]
    assert [step["step"] for step in listed["texts"][0]["steps"]] == [0, 10, 200]
    assert listed["texts"][0]["excerpt"]
    known = {entry["id"] for entry in site.json("/api/recordings")}
    for text in listed["texts"]:
        for step in text["steps"]:
            description = site.json(f"/api/recordings/{step['id']}")
            probe = description["probe"]
            assert (probe["run"], probe["step"], probe["number"]) == ("first", step["step"], text["number"])
            assert probe["texts"] == listed["texts"]
            assert description["title"]["parameters"]["step"] == step["step"]
            place = description["maps"][0]["place"]["address"]
            frame = site.frame(f"/api/recordings/{step['id']}/maps/{place}/weights?as=float32")
            assert frame.arrays["weights"].array.shape[-1] == description["maps"][0]["keys"]
            assert step["id"] not in known, "they are not in the list of recordings"
    assert site.json("/api/recordings") == site.json("/api/recordings")
    assert site.json(site.of("decoder"))["probe"] is None
    assert site.json("/api/recordings/a run: 2:10:0")["probe"]["run"] == "a run: 2"


def test_a_link_to_a_probe_works_at_once_and_shows_what_was_written_last(site: Any, folder: Path) -> None:
    path = "/api/recordings/first:10:0"
    weights = f"{path}/maps/encoder.self.0/weights?as=float32"
    first = site.client.get(weights)
    assert first.status_code == 200
    assert "no-cache" in first.headers["cache-control"]
    known = {"if-none-match": first.headers["etag"]}
    assert site.client.get(weights, headers=known).status_code == 304
    again = invent(tokens=4, seed=99)
    bundle.save(again, folder / "first" / PROBES / name_probe(10, 0))  # resumed: made again
    changed = site.client.get(weights, headers=known)
    assert changed.status_code == 200
    assert changed.content != first.content
    values = site.frame(weights).arrays["weights"].array
    np.testing.assert_array_equal(values, again.maps[0].weights())
    bundle.save(invent(tokens=4, seed=5), folder / "first" / PROBES / name_probe(12, 0))
    steps = site.json("/api/runs/first/probes")["texts"][0]["steps"]
    assert [step["step"] for step in steps] == [0, 10, 12, 200], "while a run goes on, steps are added"


def test_damaged_probes_do_not_hide_the_others(site: Any, folder: Path) -> None:
    whole = site.json("/api/runs/first/probes")["texts"]
    for step, text in ((200, 0), (0, 1), (10, 1), (200, 1)):
        (folder / "first" / PROBES / name_probe(step, text)).write_bytes(b"torn")
    texts = site.json("/api/runs/first/probes")["texts"]
    assert texts == [whole[0], {**whole[1], "excerpt": ""}]
    assert site.json("/api/recordings/first:10:0")["probe"]["texts"] == texts
    site.refusal("/api/recordings/first:200:0", 422)


def test_runs_may_be_in_a_folder_that_is_named_from_here(
    folder: Path, build_site: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert build_site(runs=Path("runs")).json("/api/recordings/first:10:0")["probe"]["step"] == 10


@pytest.mark.slow
def test_probes_belong_to_their_run(site: Any, folder: Path) -> None:
    site.refusal("/api/recordings/first:10:0", 403, method="DELETE")
    assert (folder / "first" / PROBES / name_probe(10, 0)).is_file()
    (folder / "first" / PROBES / name_probe(10, 0)).unlink()
    site.refusal("/api/recordings/first:10:0", 404)
    site.refusal("/api/recordings/first:10:0/maps/encoder.self.0/weights", 404)
    for wrong in (
        "first:11:0",
        "first:10:7",
        "none:10:0",
        "..:10:0",
        "../first:0:0",
        "first:99999999999999999:0",
    ):
        site.refusal(f"/api/recordings/{wrong.replace('/', '%2F')}", 404)
    site.refusal("/api/runs/none/probes", 404)
    shutil.rmtree(folder / "first")
    site.refusal("/api/recordings/first:0:0", 404)
    (folder / "a run: 2" / PROBES / name_probe(0, 0)).write_bytes(b"torn")
    error = site.refusal("/api/recordings/a run: 2:0:0", 422)
    assert error["code"]
