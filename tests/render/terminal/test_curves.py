"""Runs drawn in a terminal: what is there is shown, what is not there does not break it."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.render.terminal.curves import draw_curve, draw_run, draw_runs, draw_spark
from glassformer.runlog import Curve, Event, RunLog, RunWriter, read_overview, read_run


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    with RunWriter(tmp_path / "mine") as writer:
        writer.write_event(Event(0, "started", "Begins."))
        for start in (1, 101):
            writer.write_scalars([(step, {"loss": 8 / step}) for step in range(start, start + 100)])
            writer.write_scalars([(start + 99, {"dev_loss": 9 / (start + 99)})])
        for step in (50, 100, 150):
            writer.write_heads(
                step, {Place("decoder", "self", 0): {"entropy_share": [step / 200, step / 200]}}
            )
        writer.write_event(Event(120, "alarm", "The loss rose.", topic="loss spike"))
        writer.write_event(Event(200, "finished", "Finished. The best loss was 0.045."))
    return read_run(tmp_path / "mine")


def test_a_run_shows_losses_heads_alarms_and_its_end(log: RunLog) -> None:
    text = draw_run(log, columns=60)
    assert text.startswith("mine: finished, step 200")
    assert "dev_loss  now 0.045, lowest 0.045, highest 0.09" in text
    assert "decoder layer 0, self  ▃▅▇  now 0.75" in text
    assert "step 120  loss spike: The loss rose." in text
    assert text.endswith("Finished. The best loss was 0.045.")
    curve = [line for line in text.splitlines() if "┤" in line]
    assert all(len(line) <= 60 for line in curve)


def test_a_falling_curve_falls() -> None:
    steps = np.arange(1, 101)
    lines = draw_curve(Curve(steps, 10.0 - steps / 10), columns=40, height=6).splitlines()
    assert lines[0].strip().startswith("9.8")  # the mean of the first dots, not the highest value
    starts = [len(line.split("┤")[1]) - len(line.split("┤")[1].lstrip()) for line in lines[:6]]
    assert starts == sorted(starts)
    assert starts[0] == 0
    assert starts[-1] > 20
    assert lines[-1].split() == ["1", "100"]


def test_gaps_and_constants_are_drawn() -> None:
    flat = draw_curve(Curve(np.array([1, 2, 3]), np.array([2.0, np.nan, 2.0])), columns=30)
    assert "2 ┤" in flat
    assert draw_curve(Curve(np.array([1, 2]), np.array([np.nan, np.nan]))) == "  no finite value"
    assert draw_spark(np.array([0.0, np.nan, 1.0]), 10) == "▁ █"


def test_a_list_of_runs(log: RunLog, tmp_path: Path) -> None:
    with RunWriter(tmp_path / "young") as writer:
        writer.write_event(Event(0, "started", "Begins."))
    lines = draw_runs([read_overview(log.folder), read_overview(tmp_path / "young")]).splitlines()
    assert lines[0].split() == ["run", "state", "step", "loss", "best", "score", "alarms"]
    assert lines[1].split() == ["mine", "finished", "200", "0.0403", "dev_loss", "0.045", "1"]
    with RunWriter(tmp_path / "mine") as writer:
        writer.write_event(
            Event(100, "best", "The best accuracy so far is 0.7.", topic="accuracy", value=0.7)
        )
        writer.write_event(
            Event(200, "best", "The best accuracy so far is 0.8.", topic="accuracy", value=0.8)
        )
    told = draw_runs([read_overview(tmp_path / "mine")]).splitlines()[1].split()
    assert told[4:6] == ["dev_accuracy", "0.8"]  # the score that decides, where the log says which
    assert lines[2].split() == ["young", "killed", "0", "–", "–", "–"]
    assert "no runs here yet" in draw_runs([])
    assert draw_run(read_run(tmp_path / "young")).startswith("young: killed, step 0")


def test_damage_is_told(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "torn") as writer:
        writer.write_event(Event(0, "started", "Begins."))
    with (tmp_path / "torn" / "scalars.jsonl").open("a") as file:
        file.write("nonsense\n")
    assert "1 line of the log could not be read." in draw_run(read_run(tmp_path / "torn"))
