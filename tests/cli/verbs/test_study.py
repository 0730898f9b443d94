"""`study`: a file of texts becomes a folder of tables."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from cli.conftest import Command
from glassformer.cli import main, output
from glassformer.studies import open_study
from glassformer.studies.study import State
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
    value, low, high = (f"{strongest[name]:+.3g}" for name in ("value", "low", "high"))
    assert f"{strongest['edit']}: {strongest['outcome']} {value} ({low} to {high})" in printed
    value, low, high = (f"{effects[name][0]:.3g}" for name in ("value", "low", "high"))
    assert f"without an edit: {effects['outcome'][0]} {value} ({low} to {high})\n" in printed
    assert open_study(folder).frame("values")["metric"].unique().tolist() == ["entropy"]
    assert "texts.txt:3" in run("study", "--show", folder)  # also later
    shown = json.loads(run("study", "--show", folder, "--json"))
    assert shown["complete"]
    assert shown["left_out"]["count"] == 1
    assert {row["metric"] for row in shown["heads"]} == {"entropy"}
    assert shown["effects"][0]["edit"] == ""
    assert run(*command) == printed  # nothing is left to do


def test_the_strongest_of_many_edits(texts: Path, run: Command, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("glassformer.cli.verbs.study.EDITS", 1)
    model, folder = build_model(tmp_path / "model", "decoder"), tmp_path / "found"
    printed = run("study", model, texts, "--output", folder, "--metric", "entropy", "--loss")
    heads = len(open_study(folder).frame("effects")) - 1
    assert printed.count("silenced") == 1
    assert f"… and {heads - 1} edits that change it less" in printed


def test_refusals(texts: Path, complain: Command, tmp_path: Path) -> None:
    assert "--output" in complain("study", "zoo/bert", texts)
    assert "--show" in complain("study", "zoo/bert", "--show", tmp_path)
    assert "no study" in complain("study", "--show", tmp_path)
    assert "--pool" in complain("study", "--show", tmp_path, "--pool", tmp_path, "--output", tmp_path / "x")
    assert "no file" in complain("study", "zoo/bert", tmp_path / "none.txt", "--output", tmp_path / "x")


def test_heads_of_a_model_that_only_gives_vectors_are_silenced(
    texts: Path, run: Command, complain: Command, tmp_path: Path
) -> None:
    model = build_model(tmp_path / "model", "encoder", "none")
    printed = run("study", model, texts, "--output", tmp_path / "found", "--similarity")
    assert "silenced: cosine of the text's vector and the one without edits -" in printed
    effects = open_study(tmp_path / "found").frame("effects")
    assert effects["value"][0] == pytest.approx(1)
    assert (effects["value"][1:] < 0).all()
    assert "Similarity" in complain("study", model, texts, "--output", tmp_path / "lost", "--loss")


def test_an_interrupted_study_says_how_it_goes_on(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, save = build_model(tmp_path / "model", "decoder"), State.save

    def interrupt(state: State, folder: Path) -> None:
        if state.shards == 2:
            raise KeyboardInterrupt
        save(state, folder)

    monkeypatch.setattr(State, "save", interrupt)
    command = ["study", str(model), str(texts), "--output", str(tmp_path / "found"), "--shard", "1"]
    assert main(command) == 130
    said = capsys.readouterr()
    assert said.err.startswith("interrupted after 1 text (")
    assert said.err.endswith("The same command goes on with it.\n")
    assert not said.out
    monkeypatch.undo()
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("2 texts (")


def test_the_first_texts_alone(run: Command, complain: Command, tmp_path: Path) -> None:
    model, path = build_model(tmp_path / "model", "decoder"), tmp_path / "texts.txt"
    path.write_text("the animal was tired\n" * 5)
    command = ("study", model, path, "--output", tmp_path / "found", "--metric", "entropy", "--limit")
    assert run(*command, 3).startswith("3 texts (")
    assert "other texts" in complain(*command, 4)
    assert "at least 1" in complain(*command, 0)


@pytest.mark.slow
def test_processes_without_work_are_told(run: Command, tmp_path: Path) -> None:
    model, path = build_model(tmp_path / "model", "decoder"), tmp_path / "texts.txt"
    path.write_text("the animal was tired\n" * 5)
    command = ("study", model, path, "--metric", "entropy", "--jobs", 2, "--output")
    said = run(*command, tmp_path / "found")
    assert "1 shard, so no more than 1 of 2 processes had work. --shard 3 divides" in said
    assert "--shard" not in run(*command, tmp_path / "divided", "--shard", 3)


def test_a_job_without_a_terminal_says_now_and_then_how_far_it_is(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "SECONDS", 0.0)
    model, path = build_model(tmp_path / "model", "decoder"), tmp_path / "texts.txt"
    path.write_text("the animal was tired\n" * 3)
    command = ["study", str(model), str(path), "--output", str(tmp_path / "found"), "--shard", "2"]
    assert main(command) == 0
    first, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"2 of 3 texts, \d+:\d\d:\d\d left", first)
    assert last == "3 of 3 texts, 0:00:00 left"


def test_studies_and_recordings_are_pooled(run: Command, complain: Command, tmp_path: Path) -> None:
    model = build_model(tmp_path / "model", "decoder")
    for name, text in {"one": "the animal was tired", "other": "the street"}.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(text + "\n")
        printed = run("study", model, path, "--output", tmp_path / name, "--metric", "entropy")
        assert "interval not known" in printed  # of one text
        gf.record(model, text).save(tmp_path / f"{name}.bundle")
    both, bundles = (
        ("study", "--pool", *(tmp_path / f"{name}{end}" for name in ("one", "other")), "--output")
        for end in ("", ".bundle")
    )
    assert "2 texts" in run(*both, tmp_path / "both")
    assert "2 texts" in run(*bundles, tmp_path / "recorded", "--metric", "entropy")
    assert "2 texts" in run("study", "--pool", tmp_path, "--output", tmp_path / "x", "--metric", "entropy")
    pooled, recorded = (open_study(tmp_path / name).frame("heads") for name in ("both", "recorded"))
    assert pooled["value"].to_numpy() == pytest.approx(recorded["value"].to_numpy(), rel=1e-4)
    assert "--output" in complain("study", "--pool", tmp_path / "one", tmp_path / "other")
    assert "one of the three" in complain(
        "study", model, "--pool", tmp_path / "one", "--output", tmp_path / "x"
    )
    (tmp_path / "empty").mkdir()
    assert str(tmp_path / "empty") in complain(*both[:2], tmp_path / "empty", "--output", tmp_path / "x")


def test_texts_that_are_all_refused_are_an_error_in_a_sentence(complain: Command, tmp_path: Path) -> None:
    model = build_model(tmp_path / "model", "decoder")
    (tmp_path / "long.txt").write_text("tired " * 5000 + "\n" + "street " * 5000 + "\n")
    said = complain("study", model, tmp_path / "long.txt", "--output", tmp_path / "found")
    assert "No text could be measured; 2 were refused. The first: The text has" in said
