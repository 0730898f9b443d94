"""What TensorBoard shows of a run, read back from its event files."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.runlog import read_run
from glassformer.training.callbacks.tensorboard import SQUARE, draw
from glassformer.training.recipe import train
from training.runs import run

pytest.importorskip("tensorboard", reason="TensorBoard is not installed: pip install tensorboard")


def read_board(folder: Path) -> "EventAccumulator":  # noqa: F821
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = EventAccumulator(str(folder / "tensorboard"), {"scalars": 0, "images": 0, "tensors": 0})
    return board.Reload()


@pytest.mark.slow
def test_the_board_has_curves_heads_and_alarms(recipe: Path) -> None:
    folder = run(recipe, "monitor.tensorboard=true", "monitor.explode=0.001")
    log, board = read_run(folder), read_board(folder)
    for name in ("loss", "norm", "rate", "norm.decoder.1", "dev_loss", "dev_perplexity"):
        points = [(event.step, event.value) for event in board.Scalars(name)]
        curve = log.scalars[name]
        assert points == [
            (step, float(np.float32(value)))
            for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True)
        ]
    for place, history in log.heads.items():
        for name, values in history.statistics.items():
            for head in range(values.shape[1]):
                points = [event.value for event in board.Scalars(f"{name}/{place.address}.{head}")]
                np.testing.assert_allclose(points, values[:, head], rtol=1e-4)  # the log keeps five digits
    images = board.Images("entropy_share/decoder.self")
    assert [image.step for image in images] == [0, 4, 8, 12]
    assert (images[0].height, images[0].width) == (2 * SQUARE, 2 * SQUARE)  # layers, heads
    (alarm,) = board.Tensors("alarms/text_summary")
    (event,) = (event for event in log.events if event.is_alarm)
    assert (alarm.step, alarm.tensor_proto.string_val[0].decode()) == (event.step, event.message)


@pytest.mark.slow
def test_a_resumed_run_goes_on_in_the_same_curves(recipe: Path) -> None:
    changes = {"monitor.callbacks": ["tensorboard"], "train.schedule": "constant"}
    runs = recipe.parent / "runs"
    train(recipe, changes | {"train.steps": 5}, runs=runs, name="run", silent=True)
    train(None, {"train.steps": 9}, resume=True, runs=runs, name="run", silent=True)
    steps = [event.step for event in read_board(runs / "run").Scalars("loss")]
    assert steps == list(range(1, 10))


def test_a_picture_of_heads() -> None:
    picture = draw([[0.0, 0.5], [1.0, float("nan")]], whole=True)
    assert picture.shape == (3, 2 * SQUARE, 2 * SQUARE)
    corners = picture[:, ::SQUARE, ::SQUARE].transpose(1, 2, 0).tolist()
    assert corners == [[[0, 0, 0], [128, 128, 128]], [[255, 255, 255], [255, 0, 0]]]
    assert draw([[2.0, 4.0]], whole=False)[0, 0, ::SQUARE].tolist() == [128, 255]
