"""`study`: a file of texts becomes a folder of tables."""

import json
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer.studies import open_study
from tiny_models import build_model


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_bytes("the animal was tired\nthe street\n\xff\n".encode("latin-1"))
    return path


def test_a_study_of_a_file(texts: Path, run: Command, tmp_path: Path) -> None:
    model, folder = build_model(tmp_path / "model", "decoder"), tmp_path / "found"
    command = ("study", model, texts, "--output", folder, "--metric", "entropy", "--loss", "--values")
    printed = run(*command)
    assert "2 texts" in printed
    assert "texts.txt:3" in printed  # which is damaged
    heads = open_study(folder).frame("heads").sort_values("value")
    assert f"entropy: from {heads['value'].iloc[0]:.3g} (" in printed
    assert f" to {heads['value'].iloc[-1]:.3g} (" in printed
    effects = open_study(folder).frame("effects")
    strongest = effects.loc[effects["value"][1:].abs().idxmax()]
    assert f"{strongest['edit']}: {strongest['value']:+.3g}" in printed
    assert open_study(folder).frame("values")["metric"].unique().tolist() == ["entropy"]
    shown = json.loads(run("study", "--show", folder, "--json"))
    assert shown["complete"]
    assert {row["metric"] for row in shown["heads"]} == {"entropy"}
    assert shown["effects"][0]["edit"] == ""
    assert run(*command) == printed  # nothing is left to do


def test_refusals(texts: Path, complain: Command, tmp_path: Path) -> None:
    assert "--output" in complain("study", "zoo/bert", texts)
    assert "--show" in complain("study", "zoo/bert", "--show", tmp_path)
    assert "no study" in complain("study", "--show", tmp_path)
    assert "no file" in complain("study", "zoo/bert", tmp_path / "none.txt", "--output", tmp_path / "x")
