"""What a network wrote or guessed at each evaluation: a file of JSON lines beside the log.

In:   samples of a step, appended as one line.
Out:  all of them by step. What a resumed run writes again replaces what was written for later steps.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from glassformer.runlog.lines import is_count

SAMPLES = "samples.jsonl"
LONGEST = 2_000  # characters of a text


class Sample(NamedTuple):
    """One text, what the network made of it, and what was wanted, where that is known."""

    input: str
    output: str
    wanted: str | None = None


def append_samples(folder: Path, step: int, samples: Iterable[Sample]) -> None:
    """Add what was written at a step."""
    rows = [[text if text is None else text[:LONGEST] for text in sample] for sample in samples]
    line = json.dumps({"step": step, "samples": rows}, ensure_ascii=False)
    with (folder / SAMPLES).open("a+b") as file:
        torn = file.seek(0, os.SEEK_END) > 0 and _read_last(file) != b"\n"
        file.write(f"\n{line}\n".encode() if torn else f"{line}\n".encode())


def _read_last(file: IO[bytes]) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def read_samples(folder: Path) -> dict[int, tuple[Sample, ...]]:
    """Samples by step, in order; lines that cannot be read are left out."""
    found: dict[int, tuple[Sample, ...]] = {}
    try:
        content = (folder / SAMPLES).read_bytes()
    except OSError:
        return {}
    for line in content[: content.rfind(b"\n") + 1].splitlines():
        try:
            step, samples = _parse(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        while found and next(reversed(found)) >= step:  # steps are in order
            found.popitem()
        found[step] = samples
    return found


def _parse(entry: Mapping[str, Any]) -> tuple[int, tuple[Sample, ...]]:
    step, samples = entry["step"], tuple(Sample(*each) for each in entry["samples"])
    texts = [text for sample in samples for text in sample[:2]]
    wanted = [sample.wanted for sample in samples if sample.wanted is not None]
    if not is_count(step) or not all(isinstance(text, str) for text in [*texts, *wanted]):
        raise ValueError("not samples of a step")
    return step, samples
