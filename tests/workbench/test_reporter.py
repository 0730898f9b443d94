"""What a job reports."""

from workbench.reports import open_reporter, said


def test_progress_is_not_told_more_often_than_can_be_seen() -> None:
    reporter, pipe = open_reporter()
    for share in (0.0, 0.1, 0.2, 0.3):
        reporter.progress("running", share)
    reporter.progress("saving")
    assert [(each["stage"], each["share"]) for each in said(pipe)] == [("running", 0.0), ("saving", None)]


def test_a_change_of_stage_is_always_told() -> None:
    reporter, pipe = open_reporter()
    reporter.progress("loading")
    reporter.progress("running")
    reporter.progress("statistics", 0.5)
    assert [each["stage"] for each in said(pipe)] == ["loading", "running", "statistics"]
