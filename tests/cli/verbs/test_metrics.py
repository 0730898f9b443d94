"""`glassformer metrics`."""

from cli.conftest import Command
from glassformer.metrics import METRICS


def test_metrics_lists_every_metric_with_its_caption(run: Command, complain: Command) -> None:
    printed = " ".join(run("metrics").split())
    for name in METRICS:
        assert f"{name} {METRICS[name].caption}" in printed
    assert run("metrics", "entropy").splitlines()[1].strip() == "entropy"
    assert "entropi" in complain("metrics", "entropi")
