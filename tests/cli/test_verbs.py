"""The verbs on small models in folders, and what a person reads when something about them is wrong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import sentencepiece
import torch

from glassformer import bundle, cli
from glassformer.config import ModelConfig
from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_bytes, build_words
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
from glassformer.weights.presets import preset

WORDS = ["the", "animal", "street", "was", "too", "tired", "to", "cross"]
TEXT = "the animal was too tired"


def build(folder: Path, shape: str, seed: int = 0, max_length: int = 24) -> Path:
    """A random model in a folder: GPT-2's kind for a decoder, BERT's for an encoder, else a translator."""
    tokenizer = build_words(WORDS)
    torch.manual_seed(seed)
    network = Transformer(
        ModelConfig(
            vocabulary_size=tokenizer.size,
            shape=shape,
            layers=2,
            width=16,
            heads=2,
            feed_forward=32,
            max_length=max_length,
            dropout=0.0,
            head="masked" if shape == "encoder" else "language",
            padding_id=tokenizer.roles["padding"],
            start_id=tokenizer.roles["start"],
            end_id=tokenizer.roles["end"],
        )
    )
    save_checkpoint(network, folder, tokenizer, generation=GenerationSettings(max_new_tokens=6))
    return folder


@pytest.fixture
def decoder(tmp_path: Path) -> Path:
    return build(tmp_path / "decoder", "decoder")


@pytest.fixture
def translator(tmp_path: Path) -> Path:
    return build(tmp_path / "translator", "encoder-decoder")


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command prints when all is well."""
    assert cli.main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def complain(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one sentence that a command prints when something is wrong."""
    assert cli.main([str(word) for word in words]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("glassformer: ")
    assert "Traceback" not in printed.err
    return printed.err


def expect(folder: Path, **settings: object) -> list[str]:
    """What generation says without the command line, for a decoder behind its prompt."""
    tokenizer = build_words(WORDS)
    prompt = tokenizer.encode(TEXT, special=False).ids
    chosen = GenerationSettings(max_new_tokens=6, **settings)
    answers = generate(open_checkpoint(folder).network, torch.tensor([prompt]), None, chosen)[0].n_best
    return [tokenizer.decode([*prompt, *answer.words]) for answer in answers]


def test_generate_streams_what_generation_says(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "generate", decoder, TEXT) == f"{expect(decoder)[0]}\n"


def test_generate_draws_the_same_words_from_the_same_seed(
    decoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--sample", "--temperature", 2, "--top-k", 9, "--top-p", 0.9, "--seed", 3)
    drawn = expect(decoder, sample=True, temperature=2.0, top_k=9, top_p=0.9, seed=3)[0]
    assert run(capsys, "generate", decoder, TEXT, *options) == f"{drawn}\n"
    assert run(capsys, "generate", decoder, TEXT, *options) == f"{drawn}\n"


def test_generate_never_prints_half_a_character(
    decoder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = build_bytes()
    tokenizer.save(decoder)
    said = tokenizer.encode("汤姆追逐杰瑞", special=False).ids  # three bytes a character, one a step
    monkeypatch.setattr("glassformer.loaded.native.stream", lambda *_: ([Said(token)] for token in said))
    assert run(capsys, "generate", decoder, "Tom: ") == "Tom: 汤姆追逐杰瑞\n"


class Said(NamedTuple):
    token: int


def test_generate_lists_the_best_of_a_beam_search(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, "generate", decoder, TEXT, "--beams", 3, "--n-best", 2).splitlines()
    best = expect(decoder, beams=3, n_best=2)
    assert [line.rpartition("  (")[0] for line in lines] == best
    assert run(capsys, "generate", decoder, TEXT, "--beams", 3) == f"{best[0]}\n"


def test_asking_to_draw_is_stronger_than_a_models_habit(
    decoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (decoder / "generation_config.json").write_text('{"num_beams": 3, "max_new_tokens": 6}')
    drawn = expect(decoder, sample=True, seed=3)[0]
    assert run(capsys, "generate", decoder, TEXT, "--sample", "--seed", 3) == f"{drawn}\n"
    (decoder / "generation_config.json").write_text('{"do_sample": true, "max_new_tokens": 6}')
    assert run(capsys, "generate", decoder, TEXT, "--beams", 3) == f"{expect(decoder, beams=3)[0]}\n"


def test_what_would_do_nothing_is_not_ignored(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("--temperature", 0.5), ("--top-k", 3), ("--top-p", 0.5), ("--seed", 1)):
        said = complain(capsys, "generate", decoder, TEXT, *words)
        assert f"{words[0]} would do nothing" in said
        assert "Add --sample" in said
    assert "Add --beams" in complain(capsys, "generate", decoder, TEXT, "--length-penalty", 2)


def test_generate_starts_from_the_end_of_a_text_before(
    decoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "generate", decoder, "</s>").endswith("\n")  # how GPT-2 begins without a prompt


def test_translate_translates(translator: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = run(capsys, "translate", translator, TEXT, "--max-new-tokens", 2).split()
    assert len(words) <= 2
    assert "use `translate`" in complain(capsys, "generate", translator, TEXT)


def test_record_draws_and_keeps(translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cat.bundle"
    printed = run(capsys, "record", translator, TEXT, "--target", "the street", "--output", file)
    assert "cross 1" in printed
    assert "the → street" in printed
    recording = bundle.open(file)
    assert recording.source.text == TEXT
    assert recording.target is not None
    assert recording.target.text == "the street"


def test_record_draws_the_head_that_is_asked_for(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "decoder layer 1, self, head 0" in run(capsys, "record", decoder, TEXT, "--layer", 1, "--head", 0)
    assert "no layer 5" in complain(capsys, "record", decoder, TEXT, "--layer", 5)
    assert "no head 2" in complain(capsys, "record", decoder, TEXT, "--head", 2)


def test_a_record_that_fails_keeps_nothing(
    decoder: Path, translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cat.bundle"
    complain(capsys, "record", decoder, TEXT, "--layer", 5, "--output", file)
    assert "text is empty" in complain(capsys, "record", translator, TEXT, "--target", " ", "--output", file)
    assert not file.exists()


def test_convert_writes_the_same_model(
    decoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    run(capsys, "convert", decoder, copy)
    old, new = (open_checkpoint(folder).network.state_dict() for folder in (decoder, copy))
    assert all(torch.equal(old[name], new[name]) for name in old)
    assert run(capsys, "generate", copy, TEXT) == f"{expect(decoder)[0]}\n"


def test_convert_does_not_overwrite_unasked(
    decoder: Path, translator: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--overwrite" in complain(capsys, "convert", decoder, translator)
    run(capsys, "convert", decoder, translator, "--overwrite", "--dtype", "float16")
    assert json.loads((translator / "config.json").read_text())["dtype"] == "float16"


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_a_published_translator_keeps_its_vocabulary_in_sentencepiece(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vocabulary = spell(tmp_path, ["je suis étudiant", "I am a student"])
    padding = vocabulary["<pad>"]
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    small = {"layers": 1, "decoder_layers": 1, "width": 16, "heads": 2, "feed_forward": 16}
    special = {"padding_id": padding, "start_id": padding, "vocabulary_size": padding + 1}
    network = Transformer(replace(preset("marian"), **small, **special))
    assert save_checkpoint(network, tmp_path) == "marian"
    printed = run(capsys, "record", tmp_path, "je suis étudiant", "--target", "I am a student")
    assert "<pad> → " in printed
    assert "cross 0" in printed
    run(capsys, "convert", tmp_path, tmp_path / "copy")
    assert (tmp_path / "copy" / "source.spm").is_file()


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


def test_models_lists_the_published_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "models")
    assert "gpt2-medium" in printed
    assert "albert-base-v2" in printed
    assert "\nmarian" not in printed  # the name of a size, but of no model on the hub


def test_the_demonstration_translates_and_draws(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "demo")
    assert "le chat blanc suit le chien noir" in printed
    assert "le → chat" in printed


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_text(decoder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert "text is empty" in complain(capsys, "record", decoder, text)
    assert "text is empty" in complain(capsys, "generate", decoder, text)


def test_text_over_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build(tmp_path / "short", "decoder", max_length=8)
    assert "positions for 8" in complain(capsys, "record", folder, "the animal " * 10)
    assert "reads 8 at most" in complain(capsys, "generate", folder, "the animal " * 10)


def test_a_model_that_cannot_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build(tmp_path / "encoder", "encoder")
    assert "choose a decoder" in complain(capsys, "generate", folder, TEXT)


def test_settings_that_contradict_each_other(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot be combined" in complain(capsys, "generate", decoder, TEXT, "--sample", "--beams", 2)
    assert "max_new_tokens = 0" in complain(capsys, "generate", decoder, TEXT, "--max-new-tokens", 0)


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
    decoder: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], said: str
) -> None:
    config = decoder / "config.json"
    settings = json.loads(config.read_text())
    assert settings["model_type"] == "glassformer"
    config.write_text(json.dumps(settings | change))
    assert said in complain(capsys, "generate", decoder, TEXT)


def test_weights_that_were_cut_short(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = decoder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "model.safetensors" in complain(capsys, "record", decoder, TEXT)
    weights.write_bytes(b"no weights at all")
    assert "model.safetensors" in complain(capsys, "record", decoder, TEXT)


def test_a_tokenizer_that_belongs_to_another_model(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_words([*WORDS, "elephant"]).save(decoder)
    assert "not in the vocabulary" in complain(capsys, "generate", decoder, "elephant")
    assert "not in the vocabulary" in complain(capsys, "record", decoder, "elephant")


def test_a_folder_without_a_tokenizer(decoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in decoder.glob("tokenizer*"):
        file.unlink()
    assert "tokenizer" in complain(capsys, "generate", decoder, TEXT)
    assert "tokenizer" in complain(capsys, "record", decoder, TEXT)


def test_paths_that_lead_nowhere(decoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no folder" in complain(capsys, "record", tmp_path / "nothing", TEXT)
    absent = tmp_path / "absent" / "a.bundle"
    assert str(tmp_path / "absent") in complain(capsys, "record", decoder, TEXT, "--output", absent)
