"""`glassformer figure`."""

from pathlib import Path

import pytest

from cli.conftest import Command


@pytest.mark.parametrize("view", ["heatmap", "heads", "lines", "bars", "rollout"])
@pytest.mark.slow
def test_figure_draws_each_view(file: Path, run: Command, tmp_path: Path, view: str) -> None:
    run("figure", file, tmp_path / "figure.svg", "--view", view)
    assert "</svg>" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_figure_complains_in_a_sentence(file: Path, tmp_path: Path, complain: Command) -> None:
    assert "heatmap" in complain("figure", file, tmp_path / "figure.svg", "--view", "heatmop")
    assert "inches" in complain("figure", file, tmp_path / "figure.svg", "--width", "broad")
    assert list(tmp_path.glob("*.svg")) == []


@pytest.mark.slow
def test_figure_subtracts_chooses_and_scales(file: Path, run: Command, tmp_path: Path) -> None:
    svg = tmp_path / "figure.svg"
    run("figure", file, svg, "--view", "difference", "--against", file, "--cmap", "coolwarm")
    assert "first" in svg.read_text(encoding="utf-8")
    run("figure", file, svg, "--head", 0, 1, "--vmax", 0.5, "--scale", "root")
    assert "from 0 to 0.5" in svg.read_text(encoding="utf-8")
