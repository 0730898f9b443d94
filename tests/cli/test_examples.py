"""Examples below the help: there for every verb, and they parse."""

import shlex

import pytest

from glassformer import cli
from glassformer.cli.examples import EXAMPLES

LINES = [line for name, lines in EXAMPLES.items() if name != "completion" for line in lines]


def test_every_verb_has_examples_of_its_own() -> None:
    assert set(EXAMPLES) == {verb.name for verb in cli.VERBS}
    for name, lines in EXAMPLES.items():
        assert all(f"glassformer {name}" in line or line == "glassformer" for line in lines)


@pytest.mark.parametrize("line", LINES)
def test_examples_parse(line: str) -> None:
    cli.build_parser().parse_args(shlex.split(line)[1:])


def test_help_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["figure", "--help"])
    printed = capsys.readouterr().out
    assert all(line in printed for line in EXAMPLES["figure"])
