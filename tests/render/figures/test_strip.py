"""One head while it is learnt."""

from pathlib import Path

import numpy as np
import pytest

from glassformer import bundle
from glassformer.errors import InputError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure
from glassformer.render.figures.figure import Figure
from glassformer.runlog import PROBES, Event, RunLog, RunWriter, read_run
from glassformer.runlog.probes import name_probe

STEPS = [0, 1, 2, 3, 5, 8, 13, 100, 500]


def invent(step: int) -> np.ndarray:  # type: ignore[type-arg]
    """Two heads: one learns to look at itself, the other never learns."""
    uniform, own = np.full((6, 6), 1 / 6, np.float32), np.eye(6, dtype=np.float32)
    share = step / 500
    return np.stack([share * own + (1 - share) * uniform, uniform])


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    folder = tmp_path / "run"
    with RunWriter(folder) as writer:
        writer.write_event(Event(0, "started", "It began."))
    (folder / PROBES).mkdir()
    for step in STEPS:
        recording = from_arrays(invent(step), list("abcdef"))
        bundle.save(recording, folder / PROBES / name_probe(step, 0))
    bundle.save(from_arrays(invent(0), list("ghijkl")), folder / PROBES / name_probe(0, 3))
    return read_run(folder)


def read_titles(drawn: Figure) -> list[str]:
    return [title for axes in drawn.canvas.axes if (title := axes.get_title(loc="left"))]


@pytest.mark.parametrize(("width", "panels"), [(3.4, 3), (7.0, 6)])
@pytest.mark.slow
def test_a_panel_for_each_step_on_one_scale(log: RunLog, width: float, panels: int) -> None:
    drawn = figure(log, "strip", width=width)
    assert drawn.canvas.get_size_inches()[0] == width
    titles = read_titles(drawn)
    assert len(titles) == panels
    assert (titles[0], titles[-1]) == ("step 0", "step 500")
    found = drawn.canvas.axes[:panels]
    meshes = [axes.collections[0] for axes in found]
    np.testing.assert_allclose(meshes[-1].get_array(), np.eye(6))  # head 0: the most focused in the end
    assert {mesh.get_clim() for mesh in meshes} == {meshes[0].get_clim()}, (
        "colours mean the same in all panels"
    )


@pytest.mark.slow
def test_steps_head_and_text_can_be_chosen(log: RunLog) -> None:
    drawn = figure(log, "strip", head=1, steps=[100, 2])
    titles = read_titles(drawn)
    assert titles[:2] == ["step 100", "step 2"]
    np.testing.assert_allclose(drawn.canvas.axes[0].collections[0].get_array(), np.full((6, 6), 1 / 6))
    assert read_titles(figure(log, "strip", text=3, language="zh")) == ["第 0 步"]
    for options, code in (
        ({"steps": [4]}, "no_probe_step"),
        ({"text": 1}, "no_probe_text"),
        ({"head": [0, 1]}, "one_head"),
    ):
        with pytest.raises(InputError) as caught:
            figure(log, "strip", **options)  # type: ignore[arg-type]
        assert caught.value.message.code == f"render.figures.{code}"


def test_a_run_without_probes_says_how_to_get_some(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run") as writer:
        writer.write_event(Event(0, "started", "It began."))
    with pytest.raises(InputError, match=r"\[probe\]"):
        figure(read_run(tmp_path / "run"), "strip")
