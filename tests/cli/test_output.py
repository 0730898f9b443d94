"""What verbs print: errors in one line, colours and progress."""

import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import cli
from glassformer.cli.output import has_colour

TEXTS = ["the animal was too tired", "the street", "", "too tired to cross"]


def test_a_word_without_end_is_cut_and_does_not_steer_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["show", "x" * 5000 + "\x1b[2J.bundle"]) == 2
    said = capsys.readouterr().err
    assert len(said) < 400
    assert "\x1b" not in said
    assert said.startswith("glassformer: xxx")


def test_colour_is_for_terminals(
    decoder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    run: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "one.bundle"
    run("record", decoder, "the animal", "--output", file)
    plain = run("score", file, "entropy")
    assert "\x1b" not in plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[" in run("score", file, "entropy")
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("score", file, "entropy") == plain


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "", "TERM": "xterm"}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colour_can_be_declined(
    terminal: bool, environment: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_colour() == expected


def test_progress_is_for_terminals(
    decoder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["generate", str(decoder), *TEXTS]) == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["generate", str(decoder), *TEXTS]) == 0
    watched = capsys.readouterr()
    assert watched.out == quiet.out
    assert "answers" in watched.err
    assert "4/" in watched.err
