"""`glassformer fill`."""

import json
from collections.abc import Callable
from pathlib import Path

import glassformer
from cli.conftest import Command

GAPS = ["the <mask> was too tired", "[MASK] street <mask>"]


def test_fill_guesses_each_gap(build: Callable[..., Path], run: Command, complain: Command) -> None:
    model = build("encoder", "masked")
    rows = [json.loads(line) for line in run("fill", model, *GAPS, "--best", 3, "--json").splitlines()]
    assert [[len(gap) for gap in row["gaps"]] for row in rows] == [[3], [3, 3]]
    best = next(iter(glassformer.fill(model, GAPS[:1])))
    assert run("fill", model, GAPS[0]).startswith(f"{best.text}\t{best.gaps[0][0].text} ")
    assert "no gap" in complain("fill", model, "the street")
    assert "at least 1" in complain("fill", model, GAPS[0], "--best", 0)
