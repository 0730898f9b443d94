"""Every head over the steps of a run."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.render.figures import figure
from glassformer.runlog import RunLog, RunWriter, open_run, read_run


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    with RunWriter(tmp_path / "run") as writer:
        for step in (0, 10, 50):
            shares = {layer: [0.1 * layer + step / 100, float("nan")] for layer in (0, 1)}
            maps = {
                Place("decoder", "self", layer): {"entropy_share": share, "likeness": [-0.5, 0.5]}
                for layer, share in shares.items()
            }
            writer.write_heads(step, maps)
        writer.write_scalars([(50, {"loss": 1.0})])
    return read_run(tmp_path / "run")


@pytest.mark.parametrize("width", [3.4, 7.0])
@pytest.mark.slow
def test_a_row_for_each_head_and_a_column_for_each_look(log: RunLog, width: float) -> None:
    drawn = figure(log, "learning", width=width)
    assert drawn.canvas.get_size_inches()[0] == width
    axes = drawn.canvas.axes[0]
    values = axes.collections[0].get_array()
    np.testing.assert_allclose(values[0], [0, 0.1, 0.5])
    np.testing.assert_allclose(values[2], [0.1, 0.2, 0.6])
    assert values.mask[1].all(), "what is not defined stays empty"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "10", "50"]
    assert len(axes.get_yticklabels()) == 4
    assert "3 looks" in drawn.caption


def test_one_map_and_another_statistic(log: RunLog) -> None:
    with open_run(log.folder) as run:
        values = figure(run, "learning", layer=1, metric="likeness").canvas.axes[0].collections[0].get_array()
    np.testing.assert_allclose(values, [[-0.5] * 3, [0.5] * 3])
    with pytest.raises(InputError) as caught:
        figure(log, "learning", metric="entropy")
    assert caught.value.message.code == "render.figures.unknown_statistic"
    with pytest.raises(InputError) as caught:
        figure(log, "learning", layer=7)
    assert caught.value.message.code == "render.figures.no_heads"
