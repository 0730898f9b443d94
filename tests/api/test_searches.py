"""Searches over HTTP."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glassformer.api.searches import SHIPPED
from glassformer.runlog.search import SEARCH, find_searches, read_search, write_search
from runlog.search_logs import make_search


@pytest.fixture
def site(tmp_path: Path, build_site: Callable[..., Any]) -> Any:
    folder = tmp_path / "runs" / "s"
    (folder / "recipes").mkdir(parents=True)
    write_search(make_search(folder))
    (folder / "recipes" / "001.toml").write_text("[model]\nheads = 4\n")
    broken = tmp_path / "runs" / "broken"
    broken.mkdir()
    (broken / SEARCH).write_text("{")
    return build_site(runs=tmp_path / "runs")


def test_a_search_is_listed_and_described(site: Any) -> None:
    listed = {each["id"]: each for each in site.json("/api/searches")}
    assert "broken" not in listed
    assert listed["s"]["best"] == pytest.approx(1.55)
    assert (listed["s"]["state"], listed["s"]["trained"], listed["s"]["shipped"]) == ("finished", 5, False)
    found = site.json("/api/searches/s")
    assert (found["best_trial"], found["baseline_trial"], found["pareto"]) == (1, 0, [1, 0, 4])
    assert found["best_recipe"] == "[model]\nheads = 4\n"
    assert [trial["state"] for trial in found["trials"]][2:4] == ["pruned", "infeasible"]
    assert found["trials"][2]["reason"]["code"] == "training.search.pruned"
    assert found["gains"]["loss"]["mean"] == pytest.approx(-0.4)
    assert found["parameters"][0] == {
        "name": "model.heads",
        "kind": "choice",
        "values": [2, 4],
        "low": None,
        "high": None,
        "log": False,
        "own": 2,
        "importance": {"loss": 1.0},
    }


@pytest.mark.parametrize("space", [{}, {"kind": "odd"}, {"kind": "int", "low": None, "high": 1}])
def test_a_damaged_space_is_no_search(site: Any, tmp_path: Path, space: Any) -> None:
    file = tmp_path / "runs" / "s" / SEARCH
    data = json.loads(file.read_text()) | {"space": {"model.heads": space}}
    file.write_text(json.dumps(data))
    site.refusal("/api/searches/s", 404)


@pytest.mark.parametrize("id", ["none", "..", "broken", "%2e%2e", "a%2Fb", "a%00b"])
def test_what_is_no_search_is_not_found(site: Any, id: str) -> None:
    site.refusal(f"/api/searches/{id}", 404)


def test_the_example_is_what_was_measured(site: Any) -> None:
    """32 configurations at equal cost; the best one beats the recipe's own on text that nobody chose by."""
    (folder,) = find_searches(SHIPPED)
    log = read_search(folder)
    assert log.state == "finished"
    assert sum(trial.state != "infeasible" for trial in log.trials) == log.wanted == 32
    assert log.best is not None
    sizes = {run.values["parameters"] for trial in log.complete for run in trial.runs}
    own = next(run.values["parameters"] for run in log.baseline.runs)
    assert max(sizes) <= 1.05 * own
    gain = log.gains["test_loss"]
    assert gain.count == 5
    assert gain.high < 0
    described = site.json(f"/api/searches/{folder.name}")
    assert described["shipped"]
    assert described["best_trial"] == log.best.number
    assert f"heads = {log.best.parameters['model.heads']}\n" in described["best_recipe"]
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 200_000
