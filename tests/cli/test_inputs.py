"""What verbs read: texts, files, models."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer.cli import main
from glassformer.weights.hub import could_be_model

TEXT = "the animal was too tired"


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_text(decoder: Path, complain: Command, text: str) -> None:
    assert "text is empty" in complain("record", decoder, text)
    assert "text is empty" in complain("generate", decoder, text)


def test_text_over_the_limit(complain: Command, build: Callable[..., Path]) -> None:
    folder = build("decoder", max_length=8)
    assert "positions for 8" in complain("record", folder, "the animal " * 10)
    assert "reads 8 at most" in complain("generate", folder, "the animal " * 10, "--long", "refuse")


def test_paths_that_lead_nowhere(decoder: Path, tmp_path: Path, complain: Command) -> None:
    assert "no folder" in complain("record", tmp_path / "nothing", TEXT)
    absent = tmp_path / "absent" / "a.bundle"
    assert str(tmp_path / "absent") in complain("record", decoder, TEXT, "--output", absent)


@pytest.mark.parametrize(
    ("word", "model"),
    [
        ("gpt2", True),
        ("owner/model-1.5", True),
        ("zoo/nothing", True),
        ("~/my models/one", True),
        ("./my model", True),
        ("folder/sub/model", True),
        ("I love you", False),
        ("我爱你。", False),
        ("Hello!", False),
        ("[MASK]", False),
        ("either/or, she said", False),
        (" ", False),
        ("x" * 5000, False),
    ],
)
def test_what_may_name_a_model(word: str, model: bool) -> None:
    assert could_be_model(word) is model


@pytest.mark.parametrize(
    ("words", "written"),
    [(("generate",), "\n"), (("record", "--file", "-"), "")],  # an answer without text keeps its line
)
def test_bytes_that_are_no_text_are_named_in_any_terminal(
    words: tuple[str, ...],
    written: str,
    decoder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_in_c = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00abc"), encoding="ascii", errors="surrogateescape")
    monkeypatch.setattr(sys, "stdin", as_in_c)
    assert main([words[0], str(decoder), *words[1:]]) == 2
    printed = capsys.readouterr()
    assert "stdin:1: the line contains zero bytes and is not UTF-8 text" in " ".join(printed.err.split())
    assert printed.out == written


def test_without_stdin_there_is_no_text(
    decoder: Path, complain: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "no stdin" in complain("generate", decoder)
