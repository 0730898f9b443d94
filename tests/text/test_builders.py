"""Tokenizers that need no files: bytes, characters, words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import ConfigurationError
from glassformer.text.builders import build_bytes, build_characters, build_words


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
