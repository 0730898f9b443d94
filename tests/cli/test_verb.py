"""Examples below the help: there for every verb, and they parse."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import cli
from glassformer.cli import verbs

VERB = '''
"""A verb of somebody else."""

from glassformer.cli.parser import help_text

SUMMARY = "say hello"
EXAMPLES = ("glassformer greet --loud",)


def add_arguments(parser):
    parser.add_argument("--loud", action="store_true", help=help_text("greet.loud", "in capitals, 100 %"))


def run(arguments):
    print("HELLO" if arguments.loud else "hello")
'''

EXAMPLES = {verb.name: verb.examples for verb in cli.find_verbs()}
LINES = [line for name, lines in EXAMPLES.items() if name != "completion" for line in lines]


def test_every_verb_has_examples_of_its_own() -> None:
    for name, lines in EXAMPLES.items():
        assert lines
        assert all(f"glassformer {name}" in line or line == "glassformer" for line in lines)


@pytest.mark.parametrize("line", LINES)
def test_examples_parse(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.toml").write_text("port = 8000\n")  # of `serve --config`, read while parsing
    monkeypatch.chdir(tmp_path)
    cli.build_parser().parse_args(shlex.split(line)[1:])


def test_help_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["figure", "--help"])
    printed = capsys.readouterr().out
    assert all(line in printed for line in EXAMPLES["figure"])


@pytest.mark.slow
def test_the_first_recipe_learns_from_a_text_in_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(Path(__file__).parents[2] / "recipes", tmp_path / "recipes")
    (tmp_path / "my-text.txt").write_text("the cat sat on the mat\n" * 300, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(EXAMPLES["train"][0])[1:]
    assert cli.main([*words, "--set", "train.steps=1", "--set", "train.warmup=0"]) == 0
    assert "runs/first" in capsys.readouterr().out


def test_a_verb_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], run: Command
) -> None:
    (tmp_path / "greet.py").write_text(VERB)
    monkeypatch.setattr(verbs, "__path__", [*verbs.__path__, str(tmp_path)])
    assert run("greet") == "hello\n"
    assert run("greet", "--loud") == "HELLO\n"
    assert "greet" in run("completion", "bash")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "greet       say hello" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["greet", "--help"])
    printed = capsys.readouterr().out
    assert "Say hello." in printed
    assert "in capitals, 100 %" in printed
    assert "  glassformer greet --loud" in printed
    monkeypatch.delitem(sys.modules, "glassformer.cli.verbs.greet")
