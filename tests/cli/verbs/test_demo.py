"""`glassformer demo`."""

from cli.conftest import Command


def test_the_demonstration_translates_and_draws(run: Command) -> None:
    printed = run("demo")
    assert "le chat blanc suit le chien noir" in printed
    assert "le → chat" in printed
