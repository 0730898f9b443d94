"""docs/metrics.md has every metric, as the code has it; its examples run."""

import re
from pathlib import Path

import numpy as np

from glassformer.metrics import METRICS, score

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


def test_the_page_says_what_the_code_says(write_page) -> None:
    """If this fails: `python docs/make_metrics.py`."""
    assert write_page(PAGE) == PAGE
    assert set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)) == set(METRICS)


def test_a_metric_that_is_gone_leaves_the_page(write_page) -> None:
    old = PAGE.replace("### `entropy`", "### `entropie`")
    new = write_page(old)
    assert "entropie" not in new
    assert new.count("### `entropy`") == 1


def test_the_example_of_a_new_metric_runs(make_map, record, monkeypatch) -> None:
    (example,) = re.findall(r"## Write your own.*?```python no-run\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.setattr(METRICS, "_things", dict(METRICS._things))  # gone again after the test
    exec(compile(example, "docs/metrics.md", "exec"), {"__name__": "example"})
    recording = record(make_map([[[1.0, 0.0], [0.5, 0.5]]]))
    assert score(recording, "confident_rows").part().values.tolist() == [0.5]
    assert np.isfinite(score(recording, "confident_rows", least=0.2, over="model").value)
