"""The logs of the runs of alarm_runs.py in one small file, and what the rules of alarms find in them.

In:   folders of runs; or the file that `pack` made of them.
Out:  `Case`s: a log, and what is wrong with the run; verdicts on the alarms that are raised.

A trouble is found in time if an alarm of an expected cause begins within 20 steps, or by the second look (at
heads) or evaluation after it was planted. Where a run only has too little text (`begins` is 0), over-fitting
begins, by its definition, with the lowest loss on held-out text. Thresholds were chosen with the runs whose
name ends in an odd number; the others were only judged.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.place import Place
from glassformer.runlog import ALARM, CHANCE, LAYER_NORM, Curve, HeadHistory, RunLog
from glassformer.training.alarms import replay
from glassformer.training.head_rules import HEAD_CAUSES
from glassformer.training.step_rules import LOOK_CAUSES, SCORE_CAUSES

STEPS, LOOKS = 20, 2  # in which a trouble must be found
CURVES = ("loss", "norm", "rate", "dev_loss")
STATISTICS = ("entropy_share", "spread", "contribution", "likeness", "twin")  # those that rules read
BITS = 12  # of a number's mantissa that are kept: 0.02 %


@dataclass(frozen=True)
class Case:
    """A log, and what is wrong with its run."""

    log: RunLog
    trouble: str  # "": nothing
    begins: int
    expected: tuple[str, ...]  # causes of alarms that find it

    @property
    def chosen_on(self) -> bool:
        """Whether thresholds were chosen with this run."""
        return int(self.log.name[-1]) % 2 == 1


@dataclass(frozen=True)
class Verdict:
    """What the rules say about a case."""

    case: Case
    raised: tuple[tuple[int, str], ...]  # step and cause of each alarm
    found: tuple[int, str] | None  # the first one that finds the trouble in time
    delay: int  # of that one, in steps
    false: tuple[tuple[int, str], ...]  # alarms of a healthy run, or before the trouble was planted


def judge(case: Case) -> Verdict:
    """The alarms of a case, and which of them are right."""
    raised = tuple(
        (event.step, str(event.alarm["cause"]))
        for event in replay(case.log)
        if event.kind == ALARM and event.alarm
    )
    begins = _find_beginning(case)
    if not case.trouble:
        return Verdict(case, raised, None, 0, raised)
    right = [
        (step, cause)
        for step, cause in raised
        if cause in case.expected and _in_time(case, begins, step, cause)
    ]
    false = tuple((step, cause) for step, cause in raised if step < case.begins)
    return Verdict(case, raised, right[0] if right else None, right[0][0] - begins if right else 0, false)


def _find_beginning(case: Case) -> int:
    if case.begins or not case.trouble:
        return case.begins
    dev = case.log.scalars["dev_loss"]
    return int(dev.steps[np.nanargmin(dev.values)])


def _in_time(case: Case, begins: int, step: int, cause: str) -> bool:
    if step < begins:
        return False
    if cause in SCORE_CAUSES:
        looks = case.log.scalars["dev_loss"].steps
    elif cause in (*HEAD_CAUSES, *LOOK_CAUSES):
        looks = next(iter(case.log.heads.values())).steps
    else:
        return step <= begins + STEPS
    first = begins if case.begins else begins + 1
    return step in looks[looks >= first][:LOOKS]


# One file


def pack(cases: Iterable[Case], path: Path) -> None:
    """All logs, as one vector of numbers and a description."""
    parts: list[NDArray[np.float64]] = []
    described = []
    for case in cases:
        log = case.log
        names = [name for name in log.scalars if name in CURVES or name.startswith(LAYER_NORM)]
        curves = {name: len(log.scalars[name]) for name in names}
        for name in names:
            parts += [log.scalars[name].steps.astype(np.float64), log.scalars[name].values]
        heads = {}
        for place, history in log.heads.items():
            heads[place.address] = [len(history.steps), history.heads]
            parts.append(history.steps.astype(np.float64))
            parts += [history.statistics[name].ravel() for name in STATISTICS]
        described.append(
            {
                "name": log.name,
                "chance": log.environment[CHANCE],
                "trouble": case.trouble,
                "begins": case.begins,
                "expected": case.expected,
                "curves": curves,
                "heads": heads,
            }
        )
    numbers = _round(np.concatenate(parts))
    text = np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)
    np.savez_compressed(path, numbers=numbers, described=text)


def unpack(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    with np.load(path) as file:
        numbers, described = file["numbers"].astype(np.float64), json.loads(file["described"].tobytes())
    place = 0

    def take(count: int) -> NDArray[np.float64]:
        nonlocal place
        place += count
        return numbers[place - count : place]

    for entry in described:
        scalars = {
            name: Curve(take(count).astype(np.int64), take(count)) for name, count in entry["curves"].items()
        }
        heads = {}
        for address, (looks, count) in entry["heads"].items():
            steps = take(looks).astype(np.int64)
            statistics = {name: take(looks * count).reshape(looks, count) for name in STATISTICS}
            heads[Place.parse(address)] = HeadHistory(steps, statistics)
        log = make_log(entry["name"], scalars, heads, entry["chance"])
        yield Case(log, entry["trouble"], entry["begins"], tuple(entry["expected"]))


def make_log(
    name: str, scalars: Mapping[str, Curve], heads: Mapping[Place, HeadHistory], chance: float
) -> RunLog:
    """A log of these curves and statistics."""
    return RunLog(name, Path(name), scalars, heads, (), "", {CHANCE: chance}, 0)


def _round(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """Fewer bits, so that a file of them is small."""
    limits = np.finfo(np.float32)
    bits = np.clip(numbers, limits.min, limits.max).astype(np.float32).view(np.uint32)
    lost = 23 - BITS
    rounded = (bits + np.uint32(1 << (lost - 1))) & np.uint32(0xFFFFFFFF << lost & 0xFFFFFFFF)
    return np.where(np.isnan(numbers), np.float32(np.nan), rounded.view(np.float32))


# The report


def report(verdicts: Iterable[Verdict]) -> str:
    """Tables in Markdown: both halves; each trouble; each kind of healthy run that was accused."""
    known = list(verdicts)
    lines = ["| runs | with trouble | found in time | median delay, steps | healthy | false alarms per run |"]
    lines.append("|---|---|---|---|---|---|")
    for title, half in (("thresholds chosen on", True), ("report only", False)):
        chosen = [verdict for verdict in known if verdict.case.chosen_on is half]
        ill = [verdict for verdict in chosen if verdict.case.trouble]
        well = [verdict for verdict in chosen if not verdict.case.trouble]
        found = [verdict.delay for verdict in ill if verdict.found]
        share = f"{len(found)} ({len(found) / max(1, len(ill)):.1%})"
        false = sum(len(verdict.false) for verdict in well) / max(1, len(well))
        lines.append(
            f"| {title} | {len(ill)} | {share} | {np.median(found or [0]):g} | {len(well)} | {false:.2f} |"
        )
    lines += ["", "| trouble | runs | found | by | delay, steps |", "|---|---|---|---|---|"]
    troubles: dict[str, list[Verdict]] = {}
    for verdict in known:
        troubles.setdefault(verdict.case.trouble, []).append(verdict)
    for trouble, group in troubles.items():
        if trouble:
            found_by = [verdict for verdict in group if verdict.found]
            causes = ", ".join(dict.fromkeys(str(verdict.found[1]) for verdict in found_by if verdict.found))
            delays = ", ".join(str(verdict.delay) for verdict in found_by)
            lines.append(f"| {trouble} | {len(group)} | {len(found_by)} | {causes} | {delays} |")
    accused = [verdict for verdict in known if verdict.false]
    lines += ["", "False alarms:", ""]
    lines += [
        f"- {verdict.case.log.name}: " + ", ".join(f"{cause} at {step}" for step, cause in verdict.false)
        for verdict in accused
    ]
    return "\n".join(lines)


def describe_case(log: RunLog, run: Any) -> Case:
    """A case from a log and the run (alarm_runs.Run) that wrote it."""
    return Case(log, run.trouble, run.begins, run.expected)
