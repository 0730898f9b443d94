"""Probes of a run: recordings of a few texts at chosen steps, made while it trains.

In:   the folder of a run.
Out:  which texts were recorded at which steps, and where the files are.

`probes/step-00000100-0.bundle` is the text of number 0 as the network read it after 100 steps; step 0 is
before the first. `probes/texts.json` has the texts by number. A number keeps its text: a run that is resumed
with other texts gives them other numbers.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROBES = "probes"  # the folder, in that of a run
TEXTS = "texts.json"

_NAME = re.compile(r"step-(\d{8,15})-(\d{1,4})\.bundle")


@dataclass(frozen=True, slots=True, order=True)
class Probe:
    """One recording: a text at a step."""

    text: int  # its number
    step: int
    path: Path


def name_probe(step: int, text: int) -> str:
    """The file of a text at a step."""
    return f"step-{step:08d}-{text}.bundle"


def find_probes(run: str | Path) -> list[Probe]:
    """The probes of a run, which are recordings: by text, then by step.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md", "probe.steps": [0, 2]}
    >>> outcome = gf.train("recipes/first.toml", changes, name="probed", silent=True)
    >>> [(probe.text, probe.step) for probe in gf.find_probes("runs/probed")]
    [(0, 0), (0, 2), (1, 0), (1, 2)]
    """
    found = []
    for path in (Path(run) / PROBES).glob("step-*.bundle"):
        parts = _NAME.fullmatch(path.name)
        if parts is not None:
            found.append(Probe(int(parts[2]), int(parts[1]), path))
    return sorted(found)


def read_probe_texts(run: str | Path) -> dict[int, Mapping[str, Any]]:
    """By number, what was read: `source`, and where there are any `target`, `second_text` and `language`.

    A source or target is a text or a list of token ids. Empty where there is no list, or a damaged one.
    """
    try:
        content = json.loads((Path(run) / PROBES / TEXTS).read_text(encoding="utf-8"))
        return {int(number): dict(text) for number, text in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
