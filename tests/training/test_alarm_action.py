"""What happens when an alarm begins: a run stops, or a command is started."""

import json
import sys
from pathlib import Path

import pytest

from glassformer.errors import ConfigurationError
from glassformer.runlog import read_run
from glassformer.settings import read_settings
from glassformer.training.alarm_action import OUTPUT, AlarmAction, check_command
from glassformer.training.evaluate import evaluate
from glassformer.training.settings import MonitorSettings
from training.runs import run
from training.watching import look


def test_a_run_stops_at_an_alarm_where_that_is_wanted(recipe: Path) -> None:
    log = read_run(run(recipe, "monitor.explode=0.5", "monitor.on_alarm=stop", name="stops"))
    assert log.state == "stopped"
    assert log.last_step == 1  # the alarm is that of the first look, before step 1
    assert log.events[-1].message.startswith("Stopped at step 1 by an alarm (exploding scores")


def test_a_command_gets_the_alarm(tmp_path: Path) -> None:
    script = (
        "import json, os, sys; print(os.environ['GLASSFORMER_CAUSE'], json.load(sys.stdin)['alarm']['heads'])"
    )
    act = AlarmAction(f'"{sys.executable}" -c "{script}"', tmp_path)
    (event,) = look({}, {"spread": [500.0, 1.0, 1.0]})
    act.on_event(event)
    for process in act._started:
        process.wait(timeout=300)
    assert (tmp_path / OUTPUT).read_text() == "exploding_scores {'decoder.self.3': [0]}\n"
    assert act.stopped_by is None


def test_a_command_that_is_not_there_is_refused() -> None:
    for value in ("", 'no-such-program --now "'):
        with pytest.raises(ConfigurationError) as error:
            read_settings(MonitorSettings, {"on_alarm": value})
        assert error.value.message.code == "training.on_alarm"
    for value in ("stopp", "no-such-program now"):
        with pytest.raises(ConfigurationError) as error:
            check_command(value)
        assert error.value.message.code == "training.on_alarm"
    with pytest.raises(ConfigurationError, match="'stop'"):
        check_command("stopp")


def test_training_needs_the_command_and_evaluation_does_not(recipe: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\[monitor\].*no-such-program"):
        run(recipe, "monitor.on_alarm=no-such-program")
    folder = run(recipe, "train.steps=1")
    settings = json.loads((folder / "settings.json").read_text())
    (folder / "settings.json").write_text(json.dumps(settings | {"monitor.on_alarm": "of-another-machine"}))
    assert evaluate(folder, "dev", device="cpu")


def test_a_command_that_cannot_be_started_later_is_noted(tmp_path: Path) -> None:
    (event,) = look({}, {"spread": [500.0, 1.0, 1.0]})
    AlarmAction("no-such-program", tmp_path).on_event(event)
    assert "no-such-program" in (tmp_path / OUTPUT).read_text()
