"""The parser: helps, unknown verbs, commands that are not understood."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer import cli
from glassformer.cli import answering, parser
from glassformer.cli.parser import help_text
from glassformer.cli.verbs import completion, find_verb, record
from glassformer.messages import read_catalogue
from glassformer.messages.catalogues import FALLBACK


def test_the_help_fits_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 30
    assert all(verb.name in text for verb in cli.find_verbs())


def test_an_unknown_verb_lists_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["recrod"])
    said = capsys.readouterr().err
    assert said.startswith("glassformer: There is no verb 'recrod'. Did you mean 'record'? Known: ")
    assert said.endswith(", tree, users. `glassformer --help` lists what is possible.\n")


def test_a_file_in_the_place_of_a_verb_is_told_how_it_opens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "an animal.bundle"
    path.touch()
    with pytest.raises(SystemExit, match="2"):
        cli.main([str(path)])
    assert f"`glassformer serve '{path}'`" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.main(["x" * 5000])
    assert "There is no verb" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "port"), [([], 5000), (["--port", "8000"], 8000), (["--no-browser", "--port", "8000"], 8000)]
)
def test_options_without_a_verb_are_those_of_the_page(
    words: list[str], port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[cli.Arguments] = []
    serve = find_verb("serve")
    assert serve is not None
    monkeypatch.setattr(cli, "find_verb", {"serve": replace(serve, run=shown.append)}.get)
    assert cli.main(words) == 0
    assert [each.port for each in shown] == [port]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["recrod"], "'recrod'"),
        (["--frob"], "--frob"),
        (["record"], "MODEL"),
        (["generate", "gpt2", "x", "--seed", "1e9"], "--seed"),
    ],
)
def test_a_command_that_is_not_understood_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(words)
    error = capsys.readouterr().err
    assert error.startswith("glassformer: ")
    assert error.endswith("--help` lists what is possible.\n")
    assert error.count("\n") == 1
    assert said in error


def test_an_unknown_option_leads_to_the_help_of_its_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["study", "zoo/gpt2", "texts.txt", "--limt", "100"])
    assert "--limt 100. `glassformer study --help` lists" in capsys.readouterr().err


def test_every_argument_has_a_help_and_every_help_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    def note(code: str, /, default: str | None = None, **parameters: Any) -> str:
        asked.add(code)
        return help_text(code, default, **parameters)

    for module in (parser, answering, completion, record):
        monkeypatch.setattr(module, "help_text", note)
    verbs = next(each for each in cli.build_parser()._actions if isinstance(each, argparse._SubParsersAction))
    for name, verb in verbs.choices.items():
        assert not [each.dest for each in verb._actions if not each.help], name
    assert asked == {code for code in read_catalogue(FALLBACK) if code.startswith("cli.help.")}
