"""`score` and `metrics`: the numbers of the library, as tables and for programs."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import bundle, difference, score
from glassformer.metrics import METRICS, PANEL
from glassformer.render.terminal.tables import format_value
from tolerances import assert_near

TEXT = "the animal was too tired to cross the street"


def test_the_panel_is_what_is_shown_unasked(file: Path, run: Command) -> None:
    printed = run("score", file)
    recording = bundle.open(file)
    for name in PANEL:
        measured = score(recording, name, over="model")
        [line] = [line for line in printed.splitlines() if line.startswith(f"{measured.label}  ")]
        assert format_value(measured.value) in line.split()
        for reading in (METRICS[name].lower, METRICS[name].higher):
            assert str(reading) in " ".join(printed.split())
    assert "训" not in printed


def test_one_metric_is_told_by_head(file: Path, run: Command) -> None:
    *_, header, first, second = run("score", file, "entropy").splitlines()
    values = score(bundle.open(file), "entropy").part(layer=0).values
    assert header.split() == ["0", "1"]
    assert first.split()[-2:] == [format_value(value) for value in values]
    assert second.startswith("decoder layer 1, self")


def test_layers_are_lines(file: Path, run: Command) -> None:
    lines = run("score", file, "entropy", "sink_mass", "--over", "layer").splitlines()
    assert lines[0].split() == ["entropy", "sink_mass"]
    value = float(score(bundle.open(file), "sink_mass", over="layer").part(layer=1).values)
    assert lines[2].split()[-1] == format_value(value)


def test_a_model_and_a_text_do_as_well(decoder: Path, file: Path, run: Command, complain: Command) -> None:
    assert run("score", decoder, TEXT, "entropy") == run("score", file, "entropy")
    assert "Give a TEXT" in complain("score", decoder)
    assert "text is empty" in complain("score", decoder, " ")


def test_parameters_go_to_the_metrics_that_have_them(file: Path, run: Command, complain: Command) -> None:
    rows = json.loads(run("score", file, "nonzero_share", "entropy", "--set", "threshold=0.2", "--json"))
    recording = bundle.open(file)
    assert (
        rows[0]["parts"][0]["values"] == score(recording, "nonzero_share", over="model", threshold=0.2).value
    )
    assert rows[0]["parameters"] == {"threshold": 0.2, "relative": False}
    assert rows[1]["parameters"] == {}
    assert "Did you mean 'threshold'?" in complain("score", file, "--set", "treshold=1")
    for word in ("True", "true"):
        [row] = json.loads(run("score", file, "nonzero_share", "--set", f"relative={word}", "--json"))
        assert row["parameters"]["relative"] is True
    assert "'x'" in complain("score", file, "--set", "threshold=x")
    assert "'threshold' is not a setting" in complain("score", file, "--set", "threshold")


def test_two_recordings_are_compared(decoder: Path, file: Path, tmp_path: Path, run: Command) -> None:
    other = tmp_path / "other.bundle"
    run("record", decoder, TEXT, "--edit", "scale 0", "--output", other)
    [row] = json.loads(run("score", file, "entropy", "--against", other, "--json"))
    wanted = difference(bundle.open(file), bundle.open(other), "entropy")
    assert row["parts"][1]["values"] == wanted.parts[1].values.tolist()
    printed = run("score", file, "entropy", "--against", other)
    assert f"{file} (first) minus {other} (second)" in " ".join(printed.split())
    assert "Entropy, first minus second" in printed
    assert min(row["parts"][1]["values"]) < 0  # equal scores spread a head as widely as can be


def test_csv_has_a_line_for_each_value(file: Path, run: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(run("score", file, "entropy", "attention_received", "--csv"))))
    entropies = [row for row in rows if row["metric"] == "entropy"]
    assert [row["head"] for row in entropies] == [""]
    received = [row for row in rows if row["metric"] == "attention_received"]
    assert {row["over"] for row in received} == {METRICS["attention_received"].over}
    first = [float(row["value"]) for row in received if row["layer"] == "0" and row["head"] == "0"]
    assert_near(sum(first), 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["entropi"], "Did you mean 'entropy'?"),
        (["rollout", "--over", "head"], "rollout has values over"),
        (["dependency_accuracy"], "Give a MODEL and --trees"),
        (["alignment_error"], "Give a MODEL and --links"),
        (["--against", "none.bundle"], "none.bundle could not be opened"),
    ],
)
def test_what_cannot_be_measured(words: list[str], said: str, file: Path, complain: Command) -> None:
    assert said in complain("score", file, *words)


def test_a_file_that_is_no_bundle(tmp_path: Path, complain: Command) -> None:
    assert "could not be opened" in complain("score", tmp_path / "none.bundle")
    (tmp_path / "text").write_text("no bundle at all, but a file of some bytes")
    assert "is no Glassformer recording" in complain("score", tmp_path / "text")


@pytest.mark.slow
def test_a_bundle_is_scored_without_torch(file: Path) -> None:
    question = (
        f"import sys; from glassformer.cli import main; main(['score', {str(file)!r}]); "
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", question], check=True, stdout=subprocess.DEVNULL)


def test_tables_stay_within_the_terminal(file: Path, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for words in (
        ("score", file),
        ("score", file, "--over", "layer"),
        ("score", file, "entropy"),
        ("metrics",),
    ):
        assert max(map(len, run(*words).splitlines())) <= 60
