"""Vocabularies learnt from text: complete, lossless where they can be, and open to transformers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns import rounds
from glassformer.errors import ConfigurationError, InputError
from glassformer.text.opening import open_tokenizer
from glassformer.text.tokenizer import LibraryTokenizer
from glassformer.text.vocabulary import Kind, Style, VocabularySettings, _train, count_words, train_vocabulary

TEXT = [
    "The animal didn't cross the street because it was too tired.",
    "Je suis étudiant. Merci !",
    "我爱你。一步两步三步四步望着天",
    "the cat sees the dog, and the dog sees the cat",
] * 3
KINDS: list[Kind] = ["bpe", "wordpiece", "unigram", "characters", "bytes"]
STYLES: list[Style] = ["text", "sequence", "pair"]
AROUND = {"text": (0, 0), "sequence": (0, 1), "pair": (1, 1)}


def learn(kind: Kind, style: Style = "sequence", size: int = 400, **others: Any) -> LibraryTokenizer:
    return train_vocabulary(TEXT, VocabularySettings(kind, size, style, **others))


BPE = learn("bpe")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_style_opens_in_transformers_with_the_same_ids(
    tmp_path: Path, kind: Kind, style: Style
) -> None:
    from transformers import AutoTokenizer

    tokenizer = learn(kind, style)
    tokenizer.save(tmp_path)
    ours, theirs = open_tokenizer(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    assert ours.roles == tokenizer.roles
    for text in TEXT[:4]:
        encoding = tokenizer.encode(text)
        assert ours.encode(text).ids == encoding.ids == tuple(theirs(text)["input_ids"])
        assert sum(encoding.special) == sum(AROUND[style])
        assert (kind == "wordpiece") or tokenizer.decode(encoding.ids) == text
    assert theirs.eos_token_id == ours.roles.get("end")
    assert theirs.pad_token_id == ours.roles.get("padding")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_spell_every_text(text: str) -> None:
    assert BPE.decode(BPE.encode(text).ids) == text


@pytest.mark.parametrize("style", STYLES)
def test_special_tokens_come_first_and_tags_right_after_them(style: Style) -> None:
    tokenizer = train_vocabulary(TEXT, VocabularySettings(size=300), style=style, tags=[">>fr<<", ">>de<<"])
    tags = [tokenizer.find(">>fr<<"), tokenizer.find(">>de<<")]
    first = {"text": 1, "sequence": 4, "pair": 5}[style]
    assert tags == [first, first + 1]
    assert all(tokenizer.is_special(tag) for tag in tags if tag is not None)
    assert tokenizer.size <= 300
    assert set(tokenizer.roles.values()) == set(range(first))


@pytest.mark.parametrize(
    ("kind", "space"), [("bpe", False), ("bpe", True), ("wordpiece", False), ("unigram", False)]
)
def test_a_tag_before_a_text_is_a_token_before_its_tokens(tmp_path: Path, kind: Kind, space: bool) -> None:
    from transformers import AutoTokenizer

    settings = VocabularySettings(kind, 350, prefix_space=space)
    train_vocabulary(TEXT, settings, tags=[">>fr<<"]).save(tmp_path)
    ours, theirs = open_tokenizer(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    wanted = [ours.find(">>fr<<"), *ours.encode("the cat sees").ids]
    assert theirs(">>fr<< the cat sees")["input_ids"] == wanted
    assert ours.decode([token for token in wanted if token is not None]).strip() == "the cat sees"


def test_a_setting_wins_over_what_the_task_wants() -> None:
    tokenizer = train_vocabulary(TEXT, VocabularySettings(size=300, style="pair"), style="text")
    assert "class" in tokenizer.roles


def test_lower_case_and_the_space_before_the_first_word() -> None:
    lower = learn("bpe", lowercase=True)
    assert lower.encode("THE Cat").ids == lower.encode("the cat").ids
    spaced = learn("bpe", prefix_space=True)
    assert spaced.encode("the", special=False).ids == spaced.encode("cat the", special=False).ids[-1:]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_no_text_is_refused(kind: Kind) -> None:
    with pytest.raises(InputError, match="no text to learn a vocabulary from"):
        train_vocabulary([], VocabularySettings(kind))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"kind": "bpe", "size": 200}, "too small for 256 bytes and 4 special tokens; expected at least 260"),
        ({"kind": "bytes", "lowercase": True}, "neither lowercase = true nor tags"),
        ({"kind": "words"}, "kind = 'words' is not possible"),
        ({"size": 0}, "size = 0 is not possible"),
    ],
)
def test_impossible_settings_are_refused(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        train_vocabulary(TEXT, VocabularySettings(**values))


class Panic(BaseException):
    """What a panic of the library looks like from here: no Exception."""


class Library:
    """A library whose training ends as it is told to."""

    def __init__(self, end: BaseException) -> None:
        self.end = end

    def train_from_iterator(self, texts: Iterator[list[str]], trainer: Any) -> None:
        raise self.end


def test_a_panic_becomes_advice() -> None:
    with pytest.raises(InputError, match=r"likelihood is NAN. Try kind = \"bpe\""):
        _train(Library(Panic("likelihood is NAN")), TEXT, None)
    with pytest.raises(KeyboardInterrupt):
        _train(Library(KeyboardInterrupt()), TEXT, None)


def test_a_broken_file_is_not_taken_for_a_broken_vocabulary() -> None:
    def texts() -> Iterator[str]:
        yield "fine"
        raise InputError("a.txt:2: byte 1 (0xFF) is not UTF-8")

    with pytest.raises(InputError, match=r"a.txt:2"):
        train_vocabulary(texts(), VocabularySettings(size=300))


def test_chinese_characters_are_tokens(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = learn("bpe", han=True, han_also="瓷")
    tokenizer.save(tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    for text in ("我爱你。望着天 the cat", "瓷", "Je suis 我 étudiant", "𠮷々〇鬱 unseen"):
        encoding = tokenizer.encode(text)
        assert tokenizer.decode(encoding.ids) == text
        assert encoding.ids == tuple(theirs(text)["input_ids"])
    assert tokenizer.encode("我爱瓷").texts == ("我", "爱", "瓷", "</s>")
    assert len(tokenizer.encode("鬱").ids) == 4, "no text has it: three bytes"
    marked = train_vocabulary(["你好，你（好）？", "ab cd…"] * 9, VocabularySettings(size=300, han=True))
    assert marked.encode("（你，好）…？").texts == (*"（你，好）…？", "</s>")
    assert not any("ĠĠ" in token for token in marked.library.get_vocab()), "blanks in place of characters"
    plain = learn("bpe")
    assert tokenizer.encode("the cat sees").texts == plain.encode("the cat sees").texts


@pytest.mark.parametrize("settings", [{"kind": "unigram", "han": True}, {"han_also": "瓷"}])
def test_chinese_characters_are_tokens_of_bpe_alone(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as error:
        VocabularySettings(**settings)
    assert error.value.message.code == "text.han_is_for_bpe"


LEARN = """
import hashlib, itertools
from glassformer.text.vocabulary import VocabularySettings, train_vocabulary
letters = ["".join(word) for word in itertools.product("abcdef", repeat=3)]  # ties everywhere
texts = [" ".join(letters[place::7]) for place in range(7)] * 2
for kind in ("bpe", "wordpiece", "unigram"):
    library = train_vocabulary(texts, VocabularySettings(kind, 300)).library
    pieces = sorted(library.get_vocab().items(), key=lambda item: item[1])
    print(kind, hashlib.sha256(repr([pieces, library.encode("abcdef fedcba").ids]).encode()).hexdigest())
"""


@pytest.mark.slow
def test_every_process_learns_the_same_vocabulary() -> None:
    found = []
    for seed, threads in (("1", "1"), ("2", "5")):
        chosen = os.environ | {"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads}
        answer = subprocess.run(
            [sys.executable, "-c", LEARN], env=chosen, capture_output=True, text=True, check=True
        )
        found.append(answer.stdout)
    assert found[0].count("\n") == 3
    assert found[0] == found[1]


def test_a_wordpiece_is_merged_from_the_most_frequent_pair() -> None:
    texts = ["low low low low low lower lower newest newest newest newest newest newest widest widest widest"]
    tokenizer = train_vocabulary(texts, VocabularySettings("wordpiece", 40))
    ranks = tokenizer.library.get_vocab()
    learnt = [piece for piece, _ in sorted(ranks.items(), key=lambda item: item[1])][4:]
    letters = {"l", "o", "w", "e", "r", "n", "s", "t", "i", "d"}
    inside = {"##o", "##w", "##e", "##r", "##s", "##t", "##i", "##d"}
    assert set(learnt[: len(letters) + len(inside)]) == letters | inside
    merges = learnt[len(letters) + len(inside) :]
    assert merges[0] in ("##es", "##st")  # 9 times each
    assert set(merges[:2]) == {merges[0], "##est"}
    assert tokenizer.encode("lowest", special=False).texts == ("low", "##est")


@pytest.mark.parametrize(
    ("kind", "letters"), [("bpe", "ab"), ("bpe", " "), ("wordpiece", "ab"), ("unigram", "ab")]
)
@pytest.mark.long
def test_one_endless_word_is_learnt_from(kind: Kind, letters: str) -> None:
    endless = letters * (rounds(600_000, 3_000_000) // len(letters))
    tokenizer = train_vocabulary(
        [*TEXT, endless], VocabularySettings(kind, 400)
    )  # hours, if it were one word
    assert tokenizer.encode("the cat", special=False).texts
    assert tokenizer.library.encode(endless).ids


def test_tabs_and_line_ends_are_characters_of_words() -> None:
    texts = ["one\ttwo\n", "three\tfour\n"] * 5
    tokenizer = train_vocabulary(texts, VocabularySettings("unigram", 60))
    assert tokenizer.decode(tokenizer.encode("two\tone\n").ids) == "two\tone\n"


def test_the_library_says_which_words_it_counted() -> None:
    """`count_words` reads the state of a trainer: a newer library may keep it elsewhere."""
    library = learn("wordpiece").library
    assert count_words(library, ["The cat, the cat"]) == {",": 1, "The": 1, "cat": 2, "the": 1}
