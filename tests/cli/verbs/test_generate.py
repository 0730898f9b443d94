"""`glassformer generate`."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from cli.conftest import WORDS, Command
from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.text.builders import build_bytes, build_words
from glassformer.weights.checkpoint import open_checkpoint

TEXT = "the animal was too tired"


def expect(folder: Path, **settings: object) -> list[str]:
    """What generation says without the command line, for a decoder behind its prompt."""
    tokenizer = build_words(WORDS)
    prompt = tokenizer.encode(TEXT, special=False).ids
    chosen = GenerationSettings(max_new_tokens=6, **settings)
    answers = generate(open_checkpoint(folder).network, torch.tensor([prompt]), None, chosen)[0].n_best
    return [tokenizer.decode([*prompt, *answer.words]) for answer in answers]


class Said(NamedTuple):
    token: int


def test_generate_streams_what_generation_says(decoder: Path, run: Command) -> None:
    assert run("generate", decoder, TEXT) == f"{expect(decoder)[0]}\n"


def test_generate_draws_the_same_words_from_the_same_seed(decoder: Path, run: Command) -> None:
    options = ("--sample", "--temperature", 2, "--top-k", 9, "--top-p", 0.9, "--seed", 3)
    drawn = expect(decoder, sample=True, temperature=2.0, top_k=9, top_p=0.9, seed=3)[0]
    assert run("generate", decoder, TEXT, *options) == f"{drawn}\n"
    assert run("generate", decoder, TEXT, *options) == f"{drawn}\n"


def test_generate_never_prints_half_a_character(
    decoder: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = build_bytes()
    tokenizer.save(decoder)
    said = tokenizer.encode("汤姆追逐杰瑞", special=False).ids  # three bytes a character, one a step
    monkeypatch.setattr("glassformer.loaded.native.stream", lambda *_: ([Said(token)] for token in said))
    assert run("generate", decoder, "Tom: ") == "Tom: 汤姆追逐杰瑞\n"


def test_generate_lists_the_best_of_a_beam_search(decoder: Path, run: Command) -> None:
    lines = run("generate", decoder, TEXT, "--beams", 3, "--n-best", 2).splitlines()
    best = expect(decoder, beams=3, n_best=2)
    assert [line.rpartition("  (")[0] for line in lines] == best
    assert run("generate", decoder, TEXT, "--beams", 3) == f"{best[0]}\n"


def test_asking_to_draw_is_stronger_than_a_models_habit(decoder: Path, run: Command) -> None:
    (decoder / "generation_config.json").write_text('{"num_beams": 3, "max_new_tokens": 6}')
    drawn = expect(decoder, sample=True, seed=3)[0]
    assert run("generate", decoder, TEXT, "--sample", "--seed", 3) == f"{drawn}\n"
    (decoder / "generation_config.json").write_text('{"do_sample": true, "max_new_tokens": 6}')
    assert run("generate", decoder, TEXT, "--beams", 3) == f"{expect(decoder, beams=3)[0]}\n"


def test_what_would_do_nothing_is_not_ignored(decoder: Path, complain: Command) -> None:
    for words in (("--temperature", 0.5), ("--top-k", 3), ("--top-p", 0.5), ("--seed", 1)):
        said = complain("generate", decoder, TEXT, *words)
        assert f"{words[0]} would do nothing" in said
        assert "Add --sample" in said
    assert "Add --beams" in complain("generate", decoder, TEXT, "--length-penalty", 2)


def test_generate_starts_from_the_end_of_a_text_before(decoder: Path, run: Command) -> None:
    assert run("generate", decoder, "</s>").endswith("\n")  # how GPT-2 begins without a prompt


def test_a_model_that_cannot_generate(complain: Command, build: Callable[..., Path]) -> None:
    folder = build("encoder", "masked")
    assert "choose a decoder" in complain("generate", folder, TEXT)


def test_settings_that_contradict_each_other(decoder: Path, complain: Command) -> None:
    assert "cannot be combined" in complain("generate", decoder, TEXT, "--sample", "--beams", 2)
    assert "max_new_tokens = 0" in complain("generate", decoder, TEXT, "--max-new-tokens", 0)
