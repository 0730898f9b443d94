from dataclasses import replace
from pathlib import Path

from glassformer.render.terminal.search import draw_search
from glassformer.runlog.search import TrialRun
from runlog.search_logs import make_search


def test_a_search_is_drawn(tmp_path: Path) -> None:
    shown = draw_search(make_search(tmp_path), columns=120)
    lines = [line.split() for line in shown.splitlines()]
    assert lines[0][:2] == ["s:", "finished,"]
    order = [line[0] for line in lines if len(line) > 3 and line[0].rstrip("*=").isdecimal()]
    assert order[:4] == ["1*", "0*", "4*", "5"]  # the best first; * are those on the front
    assert "Best: trial 1, loss 1.55 ± 0.64" in shown
    assert "its score at step 20 is behind" in shown
    assert "a difference of -0.4\n" in shown or "a difference of -0.4 " in shown
    assert "No trial is better in all objectives than: 1, 0, 4" in shown


def test_a_search_without_any_result_is_drawn(tmp_path: Path) -> None:
    log = replace(make_search(tmp_path), trials=(), confirmed=(), importance={}, finished=False)
    assert draw_search(log).startswith("s: stopped, 0 of 5 configurations")


def test_runs_that_diverged_are_told(tmp_path: Path) -> None:
    log = make_search(tmp_path)
    best, own = log.confirmed
    lost = replace(best, runs=(*best.runs, TrialRun("s-001-seed5", 5, 40, {})))
    drawn = " ".join(draw_search(replace(log, confirmed=(lost, own)), columns=200).split())
    assert "Trial 1: 1 of 3 confirming runs diverged." in drawn
    assert "a difference of" not in drawn
