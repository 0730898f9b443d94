"""Examples below the help: there for every verb, and they parse."""

import shlex
import shutil
from pathlib import Path

import pytest

from glassformer import cli

EXAMPLES = {verb.name: verb.examples for verb in cli.find_verbs()}
LINES = [line for name, lines in EXAMPLES.items() if name != "completion" for line in lines]


def test_every_verb_has_examples_of_its_own() -> None:
    for name, lines in EXAMPLES.items():
        assert lines
        assert all(f"glassformer {name}" in line or line == "glassformer" for line in lines)


@pytest.mark.parametrize("line", LINES)
def test_examples_parse(line: str) -> None:
    cli.build_parser().parse_args(shlex.split(line)[1:])


def test_help_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["figure", "--help"])
    printed = capsys.readouterr().out
    assert all(line in printed for line in EXAMPLES["figure"])


def test_the_first_recipe_learns_from_a_text_in_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(Path(__file__).parents[2] / "recipes", tmp_path / "recipes")
    (tmp_path / "my-text.txt").write_text("the cat sat on the mat\n" * 300, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(EXAMPLES["train"][0])[1:]
    assert cli.main([*words, "--set", "train.steps=1", "--set", "train.warmup=0"]) == 0
    assert "runs/first" in capsys.readouterr().out
