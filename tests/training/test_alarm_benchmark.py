"""The alarms, proved on logs of real runs, which benchmarks/alarms.py made."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "tests" / "data" / "alarms.npz"
sys.path.insert(0, str(ROOT / "benchmarks"))
from alarm_logs import Verdict, judge, pack, unpack  # noqa: E402

sys.path.pop(0)


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [judge(case) for case in unpack(LOGS)]


@pytest.mark.parametrize("chosen_on", [True, False])
@pytest.mark.slow
def test_troubles_are_found_in_time_and_healthy_runs_are_left_alone(
    verdicts: list[Verdict], chosen_on: bool
) -> None:
    """In the half that thresholds were chosen with, and in the half that nothing was chosen with."""
    half = [verdict for verdict in verdicts if verdict.case.chosen_on is chosen_on]
    ill = [verdict for verdict in half if verdict.case.trouble]
    well = [verdict for verdict in half if not verdict.case.trouble]
    missed = [verdict.case.log.name for verdict in ill if verdict.found is None]
    assert len(missed) <= 0.05 * len(ill), missed
    assert sum(len(verdict.false) for verdict in well) <= len(well)


def test_there_are_enough_runs_of_both_kinds(verdicts: list[Verdict]) -> None:
    assert sum(1 for verdict in verdicts if verdict.case.trouble) >= 40
    assert sum(1 for verdict in verdicts if not verdict.case.trouble) >= 40
    assert LOGS.stat().st_size < 2_000_000


def test_an_alarm_before_the_trouble_is_not_counted_as_its_discovery(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        if verdict.found:
            assert verdict.delay >= 0
            assert verdict.found in verdict.raised


def test_what_is_packed_is_unpacked(tmp_path: Path, verdicts: list[Verdict]) -> None:
    cases = [verdict.case for verdict in verdicts[:3]]
    pack(cases, tmp_path / "logs.npz")
    assert [judge(case).raised for case in unpack(tmp_path / "logs.npz")] == [
        each.raised for each in verdicts[:3]
    ]
