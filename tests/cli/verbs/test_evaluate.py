"""`glassformer evaluate`: the scores are those of training."""

import json
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer.runlog import read_run


def test_scores_are_those_of_training(recipe: Path, run: Command, complain: Command) -> None:
    run("train", recipe, "--name", "first")
    scores = read_run("runs/first").scalars
    told = json.loads(run("evaluate", "runs/first/last", "--split", "dev", "--json"))
    assert told["scores"]["loss"] == scores["dev_loss"].values[-1]
    assert run("evaluate", "runs/first", "--split", "dev").startswith("dev loss ")
    assert "There is no folder" in complain("evaluate", "runs/frist/best")


@pytest.mark.parametrize("limit", ["-1", "0"])
def test_a_limit_below_one_is_refused(limit: str, complain: Command) -> None:
    assert f"The limit is {limit} examples; expected 1 or more" in complain("evaluate", "x", "--limit", limit)
