"""Tokenizers: what each token shows, where it stands, and that folders open here and in transformers."""

import pytest
import tokenizers
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import PreTrainedTokenizerFast

from glassformer.errors import InputError
from glassformer.text.builders import build_bytes, build_characters
from glassformer.text.opening import wrap_tokenizer
from glassformer.text.tokenizer import LibraryTokenizer
from tiny_tokenizers import byte_level, sentence_pieces, word_pieces


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


def test_an_id_that_the_vocabulary_lacks_is_shown_as_its_number() -> None:
    assert build_characters("ab").display([5, 99]) == ("a", "‹99›")


def test_bad_text_is_refused_in_words() -> None:
    tokenizer = build_bytes()
    with pytest.raises(InputError, match="of type int"):
        tokenizer.encode(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Character 1 .* half of a surrogate pair \(U\+D800\)"):
        tokenizer.encode("a\ud800b")
    with pytest.raises(InputError, match="dict is not a tokenizer"):
        wrap_tokenizer({})


def test_words_that_a_vocabulary_has_no_token_for_are_refused_in_words() -> None:
    library = tokenizers.Tokenizer(WordLevel({"a": 0, "b": 1}))
    library.pre_tokenizer = Whitespace()
    fast = wrap_tokenizer(PreTrainedTokenizerFast(tokenizer_object=library))
    for tokenizer in (LibraryTokenizer(library), fast):
        assert tokenizer.encode("a b").ids == (0, 1)
        with pytest.raises(InputError, match=r"cannot read this text: .*\[UNK\]"):
            tokenizer.encode("a c")
        with pytest.raises(InputError, match="token for unknown words"):
            tokenizer.encode_many(["a b", "a c"])
