"""`glassformer convert`: a folder that transformers opens, too."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece
import torch

from cli.conftest import WORDS, Command
from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
from glassformer.weights.presets import preset

TEXT = "the animal was too tired"


def expect(folder: Path, **settings: object) -> list[str]:
    """What generation says without the command line, for a decoder behind its prompt."""
    tokenizer = build_words(WORDS)
    prompt = tokenizer.encode(TEXT, special=False).ids
    chosen = GenerationSettings(max_new_tokens=6, **settings)
    answers = generate(open_checkpoint(folder).network, torch.tensor([prompt]), None, chosen)[0].n_best
    return [tokenizer.decode([*prompt, *answer.words]) for answer in answers]


def spell(folder: Path, texts: list[str]) -> dict[str, int]:
    """Two sentencepiece models for these texts, and the vocabulary of both."""
    for side in ("source", "target"):
        with (folder / f"{side}.spm").open("wb") as file:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(texts * 4),
                model_writer=file,
                vocab_size=40,
                hard_vocab_limit=False,
                minloglevel=2,
            )
    model = sentencepiece.SentencePieceProcessor(str(folder / "source.spm"))
    pieces = [model.id_to_piece(number) for number in range(model.get_piece_size())]
    words = pieces[3:]  # after <unk>, <s> and </s>
    return {piece: number for number, piece in enumerate(["</s>", "<unk>", *words, "<pad>"])}


def test_convert_writes_the_same_model(decoder: Path, tmp_path: Path, run: Command) -> None:
    copy = tmp_path / "copy"
    run("convert", decoder, copy)
    old, new = (open_checkpoint(folder).network.state_dict() for folder in (decoder, copy))
    assert all(torch.equal(old[name], new[name]) for name in old)
    assert run("generate", copy, TEXT) == f"{expect(decoder)[0]}\n"


def test_convert_does_not_overwrite_unasked(
    decoder: Path, translator: Path, run: Command, complain: Command
) -> None:
    assert "--overwrite" in complain("convert", decoder, translator)
    run("convert", decoder, translator, "--overwrite", "--dtype", "float16")
    assert json.loads((translator / "config.json").read_text())["dtype"] == "float16"


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@pytest.mark.slow
def test_a_published_translator_keeps_its_vocabulary_in_sentencepiece(tmp_path: Path, run: Command) -> None:
    vocabulary = spell(tmp_path, ["je suis étudiant", "I am a student"])
    padding = vocabulary["<pad>"]
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    small = {"layers": 1, "decoder_layers": 1, "width": 16, "heads": 2, "feed_forward": 16}
    special = {"padding_id": padding, "start_id": padding, "vocabulary_size": padding + 1}
    network = Transformer(replace(preset("marian"), **small, **special))
    assert save_checkpoint(network, tmp_path) == "marian"
    printed = run("record", tmp_path, "je suis étudiant", "--target", "I am a student")
    assert "Rows: the word that is written" in printed
    assert "cross 0" in printed
    run("convert", tmp_path, tmp_path / "copy")
    assert (tmp_path / "copy" / "source.spm").is_file()


def test_a_model_that_transformers_will_not_open_says_so(
    build: Callable[..., Path], tmp_path: Path, run: Command
) -> None:
    known = run("convert", "zoo/gpt2", tmp_path / "known")
    ours = run("convert", build("decoder"), tmp_path / "ours")
    assert "transformers will not open" not in known
    assert "transformers will not open" in ours
    assert json.loads((tmp_path / "ours" / "config.json").read_text())["model_type"] == "glassformer"
