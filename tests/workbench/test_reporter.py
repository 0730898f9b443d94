"""What a job reports."""

from workbench.reports import open_reporter, said


def test_progress_is_not_told_more_often_than_can_be_seen() -> None:
    reporter, pipe = open_reporter()
    for share in (0.0, 0.1, 0.2, 0.3):
        reporter.progress("running", share)
    reporter.progress("saving")
    assert [(each["stage"], each["share"]) for each in said(pipe)] == [("running", 0.0), ("saving", None)]
