"""A tokenizer of transformers behind our interface, also one without offsets."""

from pathlib import Path

import pytest

from glassformer.text.opening import open_tokenizer, wrap_tokenizer


@pytest.mark.slow
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
