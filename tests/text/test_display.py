"""What is shown for a piece of a vocabulary."""

from tokenizers import decoders, pre_tokenizers

from glassformer.text.display import byte_alphabet, display, display_bytes, find_spelling


def test_display_keeps_what_it_does_not_know() -> None:
    assert display("日本", "bytes") == "日本"
    assert display("▁", "plain") == "▁"
    assert display("<0xZZ>", "spaces") == "<0xZZ>"


def test_every_byte_has_one_letter() -> None:
    alphabet = byte_alphabet()
    assert sorted(alphabet.values()) == list(range(256))
    assert (alphabet["a"], alphabet["Ġ"]) == (ord("a"), ord(" "))


def test_bytes_that_are_no_character_are_shown_as_numbers() -> None:
    assert display_bytes("é汤".encode()) == "é汤"
    assert display_bytes(b"a\xe6\xb1 b\xff") == "a‹E6›‹B1› b‹FF›"


def test_a_character_that_no_font_has_is_shown_as_its_number() -> None:
    assert display("x\ue000", "plain") == "x‹U+E000›"


def test_the_spelling_is_found_by_decoder_or_pre_tokenizer() -> None:
    assert find_spelling(decoders.ByteLevel(), None) == "bytes"
    assert find_spelling(None, pre_tokenizers.Metaspace()) == "spaces"
    assert find_spelling(decoders.WordPiece(), pre_tokenizers.BertPreTokenizer()) == "plain"
