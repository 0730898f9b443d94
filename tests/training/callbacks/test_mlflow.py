"""What MLflow keeps of a run, read back from a store in files."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from glassformer.runlog import read_run
from glassformer.training.callbacks.mlflow import clean_name
from glassformer.training.recipe import train

pytestmark = pytest.mark.skipif(
    find_spec("mlflow") is None, reason="MLflow is not installed: pip install mlflow-skinny"
)


@pytest.mark.slow
def test_a_run_and_its_continuation(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_TRACKING_URI", (recipe.parent / "store").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    changes = {
        "monitor.callbacks": ["mlflow"],
        "monitor.explode": 0.001,
        "train.schedule": "constant",
        "train.steps": 5,
    }
    runs = recipe.parent / "runs"
    train(recipe, changes, runs=runs, name="run", silent=True)
    train(None, {"train.steps": 9}, resume=True, runs=runs, name="run", silent=True)
    log = read_run(runs / "run")
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("glassformer")
    (kept,) = client.search_runs([experiment.experiment_id])
    assert kept.info.run_name == "run"
    assert kept.info.status == "FINISHED"
    assert kept.data.params["train.rate"] == "0.005"
    for name in ("loss", "dev_loss"):
        points = [(point.step, point.value) for point in client.get_metric_history(kept.info.run_id, name)]
        curve = log.scalars[name]
        assert points == list(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
    entropies = client.get_metric_history(kept.info.run_id, "entropy/decoder.self.1.0")
    assert [point.step for point in entropies] == [0, 4, 8]
    alarm = next(event for event in log.events if event.is_alarm)
    assert alarm.message in kept.data.tags["alarm.exploding_scores"]


@pytest.mark.slow
def test_names_of_metrics_are_what_mlflow_takes() -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.utils.validation import _validate_metric_name

    labels = ("PRP$", "PRP_", "``", "''", "#", "/", "名", "entropy/decoder.self.1.0")
    names = [clean_name(f"dev_f1.{label}") for label in labels]
    for name in names:
        _validate_metric_name(name)
    assert len(set(names)) == len(names)
    assert names[0] == "dev_f1.PRP_x24"
    assert names[-1] == "dev_f1.entropy/decoder.self.1.0"
    with pytest.raises(MlflowException):
        _validate_metric_name("dev_f1.PRP$")
