"""The command line: exit codes, one-line errors, and a help that fits on one screen."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import WORDS, Command
from glassformer import __version__, cli
from glassformer.errors import InputError
from glassformer.text.builders import build_words

TEXT = "the animal was too tired"


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


def test_where_stderr_is_closed_nothing_goes_to_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert cli.main(["metrics", "nothing"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"heads": 3}, "cannot be divided among heads = 3"),
        ({"widht": 16}, "Did you mean 'width'?"),
        ({"model_type": "gtp2"}, "Did you mean 'gpt2'?"),
        ({"feed_forward": 64}, "feed_forward"),  # the weights in the folder are narrower
        ({"vocabulary_size": 20}, "embeddings.tokens.weight"),
    ],
)
def test_a_configuration_that_cannot_be(
    decoder: Path, complain: Command, change: dict[str, object], said: str
) -> None:
    config = decoder / "config.json"
    settings = json.loads(config.read_text())
    assert settings["model_type"] == "glassformer"
    config.write_text(json.dumps(settings | change))
    assert said in complain("generate", decoder, TEXT)


def test_weights_that_were_cut_short(decoder: Path, complain: Command) -> None:
    weights = decoder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "model.safetensors" in complain("record", decoder, TEXT)
    weights.write_bytes(b"no weights at all")
    assert "model.safetensors" in complain("record", decoder, TEXT)


def test_a_tokenizer_that_belongs_to_another_model(decoder: Path, complain: Command) -> None:
    build_words([*WORDS, "elephant"]).save(decoder)
    assert "not in the vocabulary" in complain("generate", decoder, "elephant", "--json")
    assert "not in the vocabulary" in complain("record", decoder, "elephant")


def test_a_folder_without_a_tokenizer(decoder: Path, complain: Command) -> None:
    for file in decoder.glob("tokenizer*"):
        file.unlink()
    assert "tokenizer" in complain("generate", decoder, TEXT)
    assert "tokenizer" in complain("record", decoder, TEXT)
