"""`glassformer models`."""

import json

from cli.conftest import Command


def test_models_lists_the_published_sizes(run: Command) -> None:
    printed = run("models")
    assert "gpt2-medium" in printed
    assert "albert-base-v2" in printed
    assert "\nmarian" not in printed  # the name of a size, but of no model on the hub


def test_models_for_programs(run: Command) -> None:
    listed = json.loads(run("models", "--json"))
    assert "zoo/translator" in listed["shipped"]
    assert listed["published"]["gpt2"]["layers"] == 12
