"""`glassformer translate`."""

from pathlib import Path

import glassformer
from cli.conftest import Command

TEXTS = ["the animal was too tired", "the street", "", "too tired to cross"]

TEXT = "the animal was too tired"


def test_translate_translates(translator: Path, run: Command, complain: Command) -> None:
    words = run("translate", translator, TEXT, "--max-new-tokens", 2).split()
    assert len(words) <= 2
    assert "use `translate`" in complain("generate", translator, TEXT)


def test_eight_bits(translator: Path, run: Command) -> None:
    model = glassformer.load(translator, weights="int8")
    [wanted] = glassformer.translate(model, TEXTS[:1], target_language="de")
    assert run("translate", translator, TEXTS[0], "--target-language", "de", "--int8") == f"{wanted}\n"


def test_a_language_is_a_choice(translator: Path, run: Command, complain: Command) -> None:
    [wanted] = glassformer.translate(translator, TEXTS[:1], target_language="de")
    assert run("translate", translator, TEXTS[0], "--target-language", "de") == f"{wanted}\n"
    assert "'fr'" in complain("translate", translator, TEXTS[0], "--target-language", "fr")
