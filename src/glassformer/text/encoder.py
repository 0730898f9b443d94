"""Many texts into tokens, quickly: every word is tokenised once, however often it occurs.

In:   a tokenizer, texts.
Out:  the ids of each text, exactly those that the tokenizer gives it.

This is possible where a tokenizer parts every text before a single space that stands between two other
characters: then " word" has the same tokens wherever it stands. Byte-level BPE and WordPiece of BERT do so.
All other tokenizers are asked for each text as a whole.
"""

import json
import re
from collections.abc import Sequence
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.text.tokenizer import LibraryTokenizer, Tokenizer, check_text

Ids = NDArray[np.int32]

MOST = 1 << 19  # words that are remembered
JOINED = 2048  # words that are tokenised as one text
SPACE = "Ġ"  # how byte-level vocabularies spell a space
BETWEEN = re.compile(r"(?<=\S)(?= \S)")  # before a single space between two characters


class Encoder:
    """A tokenizer that is given one part of a large text after another."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.words = _Words(tokenizer) if parts_at_spaces(tokenizer) else None

    def __call__(self, texts: Sequence[str], *, target: bool = False) -> list[Ids]:
        """The ids of each text, without special tokens; `target`: they are translations."""
        if self.words is not None:
            check_text(*texts)
            return self.words.encode(texts)
        if isinstance(self.tokenizer, LibraryTokenizer):  # many at once: the library uses all cores
            check_text(*texts)
            rows = self.tokenizer.library.encode_batch_fast(list(texts), add_special_tokens=False)
            return [np.array(row.ids, dtype=np.int32) for row in rows]
        return [
            np.array(self.tokenizer.encode(text, special=False, target=target).ids, dtype=np.int32)
            for text in texts
        ]


class _Words:
    """The tokens of words that occurred, by a number for each word."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        assert isinstance(tokenizer, LibraryTokenizer)
        self.library = tokenizer.library
        self.begins = np.zeros(tokenizer.size, dtype=bool)  # tokens that begin with a space
        for piece, number in self.library.get_vocab().items():
            self.begins[number] = piece.startswith(SPACE)
        self._forget()

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text."""
        numbers: list[int] = []
        ends = [0]  # of each text, in `numbers`
        for text in texts:
            line = text.removesuffix("\n")
            if (
                line.isprintable() and "  " not in line and line[:1] != " " != line[-1:]
            ):  # single spaces alone
                words = text.split(" ")
                numbers.append(self.first[words[0]])
                del words[0]
                numbers.extend(map(self.inner.__getitem__, words))
            else:
                numbers.extend(map(self.first.__getitem__, BETWEEN.split(text)))
            ends.append(len(numbers))
        self._tokenise()
        chosen = np.array(numbers, dtype=np.int64)
        lengths = self.lengths[chosen]
        stops = np.concatenate(([0], np.cumsum(lengths)))
        places = np.repeat(self.starts[chosen] - stops[:-1], lengths) + np.arange(stops[-1])
        ids = self.ids[places]
        limits = stops[ends].tolist()
        if len(self.first) + len(self.inner) > MOST:
            self._forget()
        return [ids[start:end] for start, end in pairwise(limits)]

    def _forget(self) -> None:
        self.pending: list[str] = []  # numbered, but not tokenised yet
        self.inner = _Numbers(self.pending, " ")  # words with a space in front
        self.first = _Numbers(self.pending, "")  # as they are
        self.first.others, self.inner.others = self.inner, self.first
        self.ids = np.zeros(0, dtype=np.int32)  # of all words, one behind the other
        self.starts = np.zeros(0, dtype=np.int64)
        self.lengths = np.zeros(0, dtype=np.int64)

    def _tokenise(self) -> None:
        """The tokens of new words."""
        if not self.pending:
            return
        chosen = np.array(
            [word[:1] == " " and " " not in word[1:] and word.isprintable() for word in self.pending]
        )
        joined = self._encode_joined([*compress(self.pending, chosen)])
        if joined is None:  # not a vocabulary in which tokens show where a word begins
            chosen[:] = False
            joined = self._encode_joined([])
        assert joined is not None
        rows = self._encode([*compress(self.pending, ~chosen)])
        lengths = np.zeros(len(chosen), dtype=np.int64)
        lengths[chosen], lengths[~chosen] = joined[1], [*map(len, rows)]
        order = np.argsort(~chosen, kind="stable")  # as ids follow one another: joined words, then others
        starts = np.empty_like(lengths)
        starts[order] = len(self.ids) + np.cumsum(lengths[order]) - lengths[order]
        self.ids = np.concatenate((self.ids, joined[0], _flatten(rows)))
        self.starts = np.concatenate((self.starts, starts))
        self.lengths = np.concatenate((self.lengths, lengths))
        self.pending.clear()

    def _encode_joined(self, words: list[str]) -> tuple[Ids, NDArray[np.int64]] | None:
        """Ids of words with a space in front, and how many each has: few texts of many words are faster.

        None where the tokens do not show where each word begins.
        """
        rows = self._encode(
            ["".join(words[start : start + JOINED]) for start in range(0, len(words), JOINED)]
        )
        ids = _flatten(rows)
        begins = np.flatnonzero(self.begins[ids])
        if len(begins) != len(words) or (words and begins[0]):
            return None
        return ids, np.diff(begins, append=len(ids))

    def _encode(self, texts: list[str]) -> list[list[int]]:
        return [row.ids for row in self.library.encode_batch_fast(texts, add_special_tokens=False)]


def _flatten(rows: list[list[int]]) -> Ids:
    return np.fromiter(chain.from_iterable(rows), dtype=np.int32)


class _Numbers(dict[str, int]):
    """A number for each word, counted through together with those of the other kind."""

    others: "_Numbers"

    def __init__(self, pending: list[str], before: str) -> None:
        super().__init__()
        self.pending = pending
        self.before = before

    def __missing__(self, word: str) -> int:
        self.pending.append(self.before + word)
        number = self[word] = len(self) + len(self.others)
        return number


def parts_at_spaces(tokenizer: Tokenizer) -> bool:
    """Whether a single space always parts a text, so that neither side can change the tokens of the other."""
    if not isinstance(tokenizer, LibraryTokenizer):
        return False
    if any(token.lstrip or token.rstrip or " " in token.content for token in tokenizer.added.values()):
        return False  # such a token takes a space along
    described: dict[str, Any] = json.loads(tokenizer.library.to_str())
    splitter = described["pre_tokenizer"] or {}
    normaliser = (described["normalizer"] or {"type": None})["type"]
    byte_level = (
        splitter.get("type") == "ByteLevel" and splitter["use_regex"] and not splitter["add_prefix_space"]
    )
    if byte_level:
        return normaliser in (None, "Lowercase")
    return splitter.get("type") == "BertPreTokenizer" and normaliser in (None, "Lowercase", "BertNormalizer")
