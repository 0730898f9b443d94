"""Recordings, scores and runs as plain values."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from drawings import make_recording
from glassformer.metrics import difference, score
from glassformer.render.summary import COLUMNS, summarise, summarise_run, summarise_score, to_csv, to_json
from glassformer.render.terminal.heatmap import draw_recording
from glassformer.render.terminal.tables import draw_scores
from glassformer.runlog import RunWriter


def test_a_recording_is_summed_up() -> None:
    recording = make_recording()
    about = json.loads(to_json(summarise(recording)))
    assert about["source"]["tokens"] == list("xyzw")
    assert [each["shape"] for each in about["maps"]] == [[2, 3, 4]] * 2
    np.testing.assert_allclose(about["maps"][0]["entropy"], score(recording, "entropy").parts[0].values)
    assert about["evidence"]["kernel"] == "eager"
    assert about["output"] == []


def test_every_value_of_a_score_is_a_line() -> None:
    measured = score(make_recording(), "entropy")
    rows = list(csv.DictReader(io.StringIO(to_csv([measured]))))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["layer"], row["head"]) for row in rows] == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    assert [float(row["value"]) for row in rows] == measured.values.ravel().tolist()
    pairs = list(csv.DictReader(io.StringIO(to_csv([score(make_recording(layers=1), "head_divergence")]))))
    assert (pairs[1]["head"], pairs[1]["row"]) == (
        "decoder layer 0, cross, head 0",
        "decoder layer 0, cross, head 1",
    )


def test_what_is_no_number_is_null() -> None:
    undefined = score(make_recording(), "distance")  # cross-attention has none
    assert json.loads(to_json(summarise_score(undefined)))["parts"][0]["values"] == [None, None]
    assert summarise_score(undefined)["undefined"]
    assert to_csv([undefined]).splitlines()[1].split(",")[-3] == ""


def test_a_run_shows_where_it_stands(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 5))
    about = summarise_run(tmp_path / "run")
    assert (about["run"], about["step"], about["scalars"], about["alarms"]) == ("run", 4, {"loss": 0.25}, [])


def test_an_edited_model_is_named_in_every_row_and_object() -> None:
    plain = make_recording()
    edited = replace(plain, evidence=replace(plain.evidence, edits=("head 1 silenced", "layer 2 scaled")))
    mark = "Edited model: head 1 silenced and layer 2 scaled"
    for recording, said in ((plain, None), (edited, mark)):
        measured = score(recording, "entropy", over="layer")
        assert {row["edited"] for row in csv.DictReader(io.StringIO(to_csv([measured])))} == {said or ""}
        assert summarise_score(measured)["edited"] == said
        assert json.loads(to_json(summarise(recording)))["edited"] == said
        assert (mark in draw_scores([measured], columns=200)) == (said is not None)
        assert draw_recording(recording, columns=200).startswith(mark) == (said is not None)
    assert f"{mark} (second recording)" == str(difference(plain, edited, "entropy").edited)
    assert f"{mark} (first recording)" == str(difference(edited, plain, "entropy", over="model").edited)
    assert str(difference(edited, edited, "entropy").edited).count(mark) == 2
