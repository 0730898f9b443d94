"""A metric is one file: dropped into the folder of metrics, it is everywhere."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import glassformer.metrics
from glassformer.api.scores import describe_metrics
from glassformer.cli import main
from glassformer.errors import ConfigurationError
from glassformer.metrics import METRICS, score
from glassformer.recording import from_arrays

TOY = '''
from typing import Annotated
import numpy as np
from glassformer.metrics import About, Rows, head_metric

Least = Annotated[float, About("rows below {this} are left out", 0.0)]

@head_metric("toy_peak", unit="share")
def measure(attention_map, *, least: Least = 0.0) -> Rows:
    """The largest weight {of a row}, averaged over rows.

    max w, averaged.
    """
    peak = attention_map.statistics.peak
    return Rows(np.where(peak > least, peak, 0), peak > least, "Every row is below the limit.")
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The toy in a folder that belongs to the package for the length of a test."""
    assert "toy_peak" not in METRICS
    (tmp_path / "toy_of_a_test.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(glassformer.metrics, "__path__", [*glassformer.metrics.__path__, str(tmp_path)])
    monkeypatch.setattr(METRICS, "_things", dict(METRICS._things))
    monkeypatch.setattr(METRICS, "_complete", False)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return "toy_peak"


def test_it_measures(toy: str) -> None:
    recording = from_arrays(np.full((1, 1, 2, 2), 0.5))
    assert score(recording, toy, over="model").value == 0.5
    assert [str(reason) for reason in score(recording, toy, least=0.9).undefined] == [
        "Every row is below the limit."
    ]
    with pytest.raises(ConfigurationError, match=r"rows below \{this\} are left out"):
        score(recording, toy, least=-1)


def test_the_command_line_lists_it(toy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    printed = capsys.readouterr().out
    assert toy in printed
    assert "The largest weight {of a row}, averaged over rows." in printed


def test_the_documents_have_it(toy: str, write_page: Callable[[str], str]) -> None:
    page = write_page("## Write your own")
    assert "### `toy_peak`\n\nThe largest weight {of a row}, averaged over rows. *Toy peak*" in page
    assert "- max w, averaged." in page
    assert page.index("### `toy_peak`") < page.index("## Write your own")


def test_the_server_lists_it(toy: str) -> None:
    [found] = [each for each in describe_metrics() if each.name == toy]
    assert found.family == "toy_of_a_test"
    assert [each.name for each in found.parameters] == ["least"]
    assert "Toy peak" in found.model_dump_json()
