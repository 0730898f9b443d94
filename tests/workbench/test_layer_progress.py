"""Progress, layer by layer."""

from pathlib import Path

import pytest

from glassformer.workbench.layer_progress import find_layers, reporting
from glassformer.workbench.runner import Runner
from glassformer.workbench.worker import StoppedError
from workbench.conftest import Build
from workbench.reports import open_reporter, said


def test_layers_are_found_in_every_kind_of_network(zoo: Path) -> None:
    runner = Runner(1 << 30)
    counts = {"decoder": 2, "translator": 4, "theirs": 2}
    for name, count in counts.items():
        assert len(find_layers(runner.open(name, str(zoo / name)).network)) == count


def test_progress_is_told_layer_by_layer_and_hooks_are_gone(
    zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassformer.workbench.reporter.QUIET", -1.0)
    subject = Runner(0).open("decoder", str(zoo / "decoder"))
    reporter, pipe = open_reporter()
    text = "the animal was too tired to cross the street " * 2  # 19 tokens: more than a check
    with reporting(subject, 19, reporter):
        subject.record(text)
    assert [(each["stage"], each["detail"]) for each in said(pipe)] == [
        ("running", "1/2"),
        ("running", "2/2"),
        ("statistics", None),
    ]
    for layer in find_layers(subject.network):
        assert not layer._forward_pre_hooks
        assert not layer._forward_hooks


def test_a_block_that_is_used_at_every_depth_counts_each_time(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassformer.workbench.reporter.QUIET", -1.0)
    build(tmp_path / "shared", shape="decoder", share_layers=True, layers=3)
    subject = Runner(0).open("shared", str(tmp_path / "shared"))
    reporter, pipe = open_reporter()
    with reporting(subject, 19, reporter):
        subject.record("the animal was too tired to cross the street " * 2)
    assert [each["detail"] for each in said(pipe)] == ["1/3", "2/3", "3/3", None]


def test_a_cancelled_job_stops_at_the_next_layer(zoo: Path) -> None:
    subject = Runner(0).open("decoder", str(zoo / "decoder"))
    reporter, _ = open_reporter({"1"})
    with pytest.raises(StoppedError), reporting(subject, 3, reporter):
        subject.record("the animal")
    subject.record("the animal")  # and the network is as it was
