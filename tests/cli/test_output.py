"""What verbs print: errors in one line, colours and progress."""

import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import cli
from glassformer.cli.output import has_colour, print_error

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


def test_a_long_error_is_wrapped_in_a_terminal_and_one_line_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "There is no metric called 'nosuch'. Known: " + ", ".join(f"metric_{i}" for i in range(40))
    print_error(text)
    assert capsys.readouterr().err == f"glassformer: {text}\n"
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    print_error(text)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 60
    assert " ".join(line.strip() for line in lines) == f"glassformer: {text}"
