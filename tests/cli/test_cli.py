"""The command line: exit codes, one-line errors, and a help that fits on one screen."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer import __version__, cli
from glassformer.errors import InputError


def with_verb(monkeypatch: pytest.MonkeyPatch, run: Callable[[cli.Arguments], None]) -> None:
    """Make `glassformer try` run a function."""
    verb = cli.Verb("try", lambda parser: None, run, summary="try something")
    monkeypatch.setattr(cli, "find_verbs", lambda: (verb,))


def test_an_error_that_a_person_can_mend_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: cli.Arguments) -> None:
        raise InputError("The text is empty; write a sentence.")

    with_verb(monkeypatch, refuse)
    assert cli.main(["try"]) == 2
    printed = capsys.readouterr()
    assert printed.err == "glassformer: The text is empty; write a sentence.\n"
    assert printed.out == ""


def test_a_file_that_cannot_be_written_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with_verb(monkeypatch, lambda _: tmp_path.write_text("a folder is not a file"))
    assert cli.main(["try"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"glassformer: {tmp_path}: Is a directory")
    assert error.count("\n") == 1


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: cli.Arguments) -> None:
        raise KeyboardInterrupt

    with_verb(monkeypatch, interrupt)
    assert cli.main(["try"]) == 130
    assert capsys.readouterr().err == ""


def test_a_bug_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with_verb(monkeypatch, lambda _: [][0])
    with pytest.raises(IndexError):
        cli.main(["try"])


def test_a_reader_that_leaves_early_is_no_error() -> None:
    many_lines = (
        "from glassformer import cli; "
        "cli.find_verbs = lambda: "
        "(cli.Verb('try', lambda p: None, lambda a: print('line\\n' * 100_000), summary='try'),); "
        "raise SystemExit(cli.main(['try']))"
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", many_lines], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_poor_terminal_gets_question_marks() -> None:
    one_block = (
        "from glassformer import cli; "
        "cli.find_verbs = lambda: (cli.Verb('try', lambda p: None, lambda a: print('█'), summary='try'),); "
        "cli.main(['try'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", one_block],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "?\n"


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
    assert said.endswith(", train, translate. `glassformer --help` lists what is possible.\n")


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


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried …")]
)
def test_too_little_memory_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def take_all(_: cli.Arguments) -> None:
        raise error

    with_verb(monkeypatch, take_all)
    assert cli.main(["try"]) == 2
    assert capsys.readouterr().err.startswith("glassformer: There is too little memory on this machine. ")


def test_nobody_has_to_read_what_it_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    with_verb(monkeypatch, lambda _: sys.stdout.write("to nobody"))
    monkeypatch.setattr(sys, "stdout", None)  # as Python does where stdout is closed
    assert cli.main(["try"]) == 0


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "glassformer", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"glassformer {__version__}\n"


def test_a_word_without_end_is_cut_and_does_not_steer_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["show", "x" * 5000 + "\x1b[2J.bundle"]) == 2
    said = capsys.readouterr().err
    assert len(said) < 400
    assert "\x1b" not in said
    assert said.startswith("glassformer: xxx")


def test_where_stderr_is_closed_nothing_goes_to_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert cli.main(["metrics", "nothing"]) == 2
    assert capsys.readouterr().out == ""


def test_a_folder_of_models_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--models", str(tmp_path / "none"), "--no-browser", "--port", "0"]) == 2
    assert "to take models from" in capsys.readouterr().err
