"""Words tokenised once: the same ids as the tokenizer gives to whole texts, whatever the blanks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.text import encoder
from glassformer.text.encoder import Encoder, parts_at_spaces
from glassformer.text.vocabulary import Kind, VocabularySettings, train_vocabulary

TEXT = [
    "The animal didn't cross the street, because it's 1,000 m wide.",
    "naïve café  ÉTÉ\t12\n",
    "我爱你 hello",
] * 3
KINDS: list[Kind] = ["bpe", "wordpiece", "unigram", "characters", "bytes"]
TOKENIZERS = {kind: train_vocabulary(TEXT, VocabularySettings(kind, 400)) for kind in KINDS}
LOWER = {kind: train_vocabulary(TEXT, VocabularySettings(kind, 400, lowercase=True)) for kind in KINDS[:2]}

Pieces = st.sampled_from(
    ["the", "The", "didn't", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2028", "\x1c", "\x85", ",",
     "'s", "'", "é", "e\u0301", "\u0301", "12", "½", "我", "_", "-", "</s>",
     "<unk>", "##ing", "\u200b", "İ", "Σ", "ﬁ"]
)  # fmt: skip
Texts = st.lists(Pieces, max_size=12).map("".join)


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(Texts | st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_ids_are_those_of_whole_texts(kind: Kind, texts: list[str]) -> None:
    for tokenizer in filter(None, (TOKENIZERS[kind], LOWER.get(kind))):
        wanted = [tokenizer.library.encode(text, add_special_tokens=False).ids for text in texts]
        encode = Encoder(tokenizer)
        for _ in range(2):  # new words, then known ones
            assert [ids.tolist() for ids in encode(texts)] == wanted


def test_known_kinds_are_quick_and_others_are_left_alone() -> None:
    assert [kind for kind in KINDS if parts_at_spaces(TOKENIZERS[kind])] == ["bpe", "wordpiece", "bytes"]
    assert not parts_at_spaces(train_vocabulary(TEXT, VocabularySettings(size=400, prefix_space=True)))
    tagged = train_vocabulary(TEXT, VocabularySettings(size=400), tags=[">>fr<<"])  # takes a space along
    assert not parts_at_spaces(tagged)
    text = "a >>fr<< the"
    assert Encoder(tagged)([text])[0].tolist() == tagged.library.encode(text, add_special_tokens=False).ids


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "MOST", 3)
    encode = Encoder(TOKENIZERS["bpe"])
    for _ in range(3):
        for text in TEXT:
            assert (
                encode([text])[0].tolist()
                == TOKENIZERS["bpe"].library.encode(text, add_special_tokens=False).ids
            )
    assert encode.words is not None
    assert len(encode.words.first) + len(encode.words.inner) <= 3


def test_many_new_words_are_tokenised_as_few_texts() -> None:
    words = [" the", " animal", " naïve", " 12,000", " </s>", " 我"]
    for kind in ("bpe", "bytes"):
        encode = Encoder(TOKENIZERS[kind]).words
        assert encode is not None
        joined = encode._encode_joined(words)
        assert joined is not None
        rows = encode._encode(words)
        assert joined[0].tolist() == [number for row in rows for number in row]
        assert joined[1].tolist() == [*map(len, rows)]
    pieces = Encoder(TOKENIZERS["wordpiece"]).words  # its tokens do not show the spaces
    assert pieces is not None
    assert pieces._encode_joined(words) is None
