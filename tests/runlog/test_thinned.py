"""A long run in few points, against the whole log."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.runlog import RunWriter, read_run
from glassformer.runlog.thinned import read_thinned

DEEP = Place("encoder", "self", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with RunWriter(tmp_path / "first") as writer:
        writer.write_scalars((step, {"loss": 4 / step, "rate": 1e-3}) for step in range(1, 501))
        writer.write_heads(500, {DEEP: {"entropy_share": [0.5, 0.7]}})
    return tmp_path / "first"


def test_a_thinned_log_is_the_log_where_it_is_short_and_means_where_it_is_long(folder: Path) -> None:
    whole, thinned = read_run(folder), read_thinned(folder, "entropy_share")
    assert thinned.events == whole.events
    for name, curve in whole.scalars.items():
        np.testing.assert_array_equal(thinned.scalars[name].values, curve.values)
        np.testing.assert_array_equal(thinned.scalars[name].steps, curve.steps)
    np.testing.assert_array_equal(
        thinned.heads[DEEP].statistics["entropy_share"], whole.heads[DEEP].statistics["entropy_share"]
    )
    short = read_thinned(folder, "entropy_share", 50).scalars["loss"]
    assert len(short) == 50
    assert short.values[0] == pytest.approx(whole.scalars["loss"].values[:10].mean())
