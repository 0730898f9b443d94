"""Probes of training runs as recordings: their ids, and which others belong to one.

In:   folders of runs; the id of a run or of a probe.
Out:  ids, files and series for JSON.

The id of a probe is "RUN:STEP:TEXT", such as "first:100:0". It names a place in a run, so it stays when a
run that is resumed writes the file again.
"""

from collections.abc import Iterable
from pathlib import Path

from glassformer.api.folders import names_folder
from glassformer.runlog import find_probes, is_run
from glassformer.runlog.probes import PROBES, name_probe
from glassformer.schema import ResponseModel

BEST = "best"  # in the folder of a run, a link to the best checkpoint


class ProbeStep(ResponseModel):
    """One recording of a series."""

    step: int  # of training; 0: before the first
    id: str  # of the recording


class ProbeText(ResponseModel):
    """One text, recorded at several steps."""

    number: int
    excerpt: str
    steps: tuple[ProbeStep, ...]  # in order


class ProbeSeries(ResponseModel):
    """The texts that were recorded while a network learnt."""

    run: str
    texts: tuple[ProbeText, ...]


class ProbeDescription(ProbeSeries):
    """Where a recording stands in the series of its run."""

    number: int  # of its text
    step: int


def make_id(run: str, step: int, text: int) -> str:
    """The id of a recording."""
    return f"{run}:{step}:{text}"


def read_id(id: str) -> tuple[str, int, int] | None:
    """Run, step and text of the id of a probe; None for every other id."""
    run, _, rest = id.rpartition(":")
    run, _, step = run.rpartition(":")
    if not run or not all(part.isascii() and part.isdigit() and len(part) <= 15 for part in (step, rest)):
        return None
    parts = run, int(step), int(rest)
    return parts if make_id(*parts) == id else None  # no second id, such as 007, for the same recording


def find_run(folders: Iterable[Path], id: str) -> Path | None:
    """The folder of a run directly inside the first of some folders that has one of this name."""
    if not names_folder(id):
        return None
    return next((path for folder in folders if is_run(path := folder / id)), None)


def find_best(run: Path) -> Path | None:
    """The best network that a run kept, inside its own folder; None where it kept none."""
    try:
        best = (run / BEST).resolve()
        found = best.is_relative_to(run.resolve()) and (best / "config.json").is_file()
    except (OSError, RuntimeError):  # a loop of links
        return None
    return best if found else None


def find_file(folders: Iterable[Path], id: str) -> Path | None:
    """The bundle of a probe; None where there is none."""
    parts = read_id(id)
    folder = None if parts is None else find_run(folders, parts[0])
    if parts is None or folder is None:
        return None
    path = folder / PROBES / name_probe(*parts[1:])
    return path if path.is_file() else None


def list_series(run: Path) -> dict[int, tuple[ProbeStep, ...]]:
    """By the number of a text, its recordings in order."""
    found: dict[int, tuple[ProbeStep, ...]] = {}
    for probe in find_probes(run):
        step = ProbeStep(step=probe.step, id=make_id(run.name, probe.step, probe.text))
        found[probe.text] = (*found.get(probe.text, ()), step)
    return found
