"""`glassformer runs`."""

import json
import shutil
from pathlib import Path

from cli.conftest import Command


def test_runs_are_listed_and_drawn(recipe: Path, run: Command, complain: Command) -> None:
    assert "no runs here yet" in run("runs")
    run("train", recipe, "--name", "first")
    assert run("runs").splitlines()[1].split()[:3] == ["first", "finished", "6"]
    assert "dev_loss" in run("runs")
    run("train", recipe, "--name", "second", "--set", "train.best_by=bits_per_byte")
    [told] = [line for line in run("runs").splitlines() if line.startswith("second")]
    shutil.rmtree(Path("runs") / "second")
    assert "dev_bits_per_byte" in told
    drawn = run("runs", "first")
    assert "first: finished, step 6" in drawn
    assert "decoder layer 0, self" in drawn
    [told] = json.loads(run("runs", "--json"))
    assert (told["run"], told["step"]) == ("first", 6)
    assert json.loads(run("runs", "first", "--json")) == told
    assert run("runs", Path("runs") / "first") == drawn
    assert "Did you mean 'first'?" in complain("runs", "frist")
