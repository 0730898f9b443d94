"""`glassformer classify`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import glassformer
from cli.conftest import Command

TEXTS = ["the animal was too tired", "the street", "", "too tired to cross"]


def test_classify_names_a_class(build: Callable[..., Path], run: Command, complain: Command) -> None:
    model = build("encoder", "classes", classes=2)
    found = list(glassformer.classify(model, TEXTS[:2]))
    lines = run("classify", model, *TEXTS[:2]).splitlines()
    assert lines == [f"{each.label}\t{each.probability:.4f}" for each in found]
    [row] = map(json.loads, run("classify", model, TEXTS[0], "--json").splitlines())
    assert set(row["probabilities"]) == {"bad", "good"}
    assert sum(row["probabilities"].values()) == pytest.approx(1)
    long = "the animal " * 20
    assert "reads 24 at most" in complain("classify", model, long, "--long", "refuse")
    assert run("classify", model, long, "--long", "start").startswith(("bad\t", "good\t"))
    assert "Text 2 is empty" in complain("classify", model, TEXTS[0], " ")
