"""Curves of a training run."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.render.figures import figure
from glassformer.runlog import RunWriter, read_run


def test_curves_of_a_run(tmp_path):
    with RunWriter(tmp_path / "run") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 6))
    log = read_run(tmp_path / "run")
    line = figure(log).canvas.axes[0].get_lines()[0]
    np.testing.assert_allclose(line.get_ydata(), [1 / step for step in range(1, 6)])
    with pytest.raises(InputError, match="los"):
        figure(log, names=["los"])


def test_a_single_point_is_a_dot(tmp_path):
    with RunWriter(tmp_path / "run") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 6))
        writer.write_scalars([(5, {"dev_loss": 0.3})])
    loss, dev_loss = figure(read_run(tmp_path / "run")).canvas.axes[0].get_lines()
    assert (loss.get_marker(), dev_loss.get_marker()) == ("None", ".")
