"""docs/metrics.md has every metric, as the code has it; its examples run."""

import re
from pathlib import Path

import numpy as np
import pytest

from glassformer.metrics import METRICS, score

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_is_documented_as_it_is(name: str) -> None:
    metric, text = METRICS[name], SECTIONS[name]
    said = [
        metric.caption.english,
        metric.wording.label.english,
        metric.wording.label.chinese,
        f"over {metric.over}",
    ]
    said += [phrase.english for phrase in (metric.wording.lower, metric.wording.higher) if phrase]
    said += [f"in {metric.unit}", f"reads {metric.needs}"]
    for parameter in metric.parameters:
        default = "required" if parameter.required else f"default {parameter.default!r}"
        said.append(f"`{parameter.name}` ({default}): {parameter.about.meaning}.")
    for words in said:
        assert words in text
    assert set(re.findall(r"^- `(\w+)` \(", text, re.MULTILINE)) == {each.name for each in metric.parameters}


def test_no_metric_is_documented_that_is_not_there() -> None:
    assert set(SECTIONS) == set(METRICS)


def test_the_example_of_a_new_metric_runs(make_map, record, monkeypatch) -> None:
    (example,) = re.findall(r"## Write your own.*?```python no-run\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.setattr(METRICS, "_things", dict(METRICS._things))  # gone again after the test
    exec(compile(example, "docs/metrics.md", "exec"), {"__name__": "example"})
    recording = record(make_map([[[1.0, 0.0], [0.5, 0.5]]]))
    assert score(recording, "confident_rows").part().values.tolist() == [0.5]
    assert np.isfinite(score(recording, "confident_rows", least=0.2, over="model").value)
