"""Which tokens of two texts belong together, and which have no partner.

In:   the tokens of one side of two recordings.
Out:  Alignment: pairs of token groups, each with its reason, and the tokens that are left out.

    tokens       both texts have the same tokens, or differ in tokens that stand for each other
    characters   one text, cut by two tokenisers: the smallest groups that cover the same characters
    words        two texts: words in the same order; between equal neighbours, as many words replace as many

Nothing is guessed: where one text has two words and the other three, all five are left out, and listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.metrics.words import find_words, join_tokens
from glassformer.place import name_term
from glassformer.recording import Tokens

By = Literal["tokens", "characters", "words"]
Why = Literal["same", "replaced"]
Groups = NDArray[np.int64]  # (token,) the pair of each token, -1 for none

MOST_TOKENS = 8192  # of texts that differ: finding what they share takes longer the longer they are
_NAMED = 12  # tokens that a sentence names
_BY: dict[By, str] = {
    "tokens": "comparison.by_tokens",
    "characters": "comparison.by_characters",
    "words": "comparison.by_words",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Tokens of the first text and their partners in the second."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    why: Why


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The pairs of two sides, in the order of the text.

    >>> first, second = (gf.record("zoo/bert", f"The {animal} sleeps.") for animal in ("cat", "dog"))
    >>> alignment = gf.difference(first, second).alignments["source"]
    >>> [alignment.tokens.texts[place] for place in alignment.replaced]
    ['cat/dog']
    """

    first: Tokens
    second: Tokens
    by: By
    pairs: tuple[Pair, ...]

    @property
    def identical(self) -> bool:
        """Whether token i of the first is token i of the second, or stands for it, for all of them."""
        count = len(self.pairs)
        return count == len(self.first) == len(self.second) and all(
            pair.first == pair.second == (place,) for place, pair in enumerate(self.pairs)
        )

    @property
    def replaced(self) -> tuple[int, ...]:
        """The pairs whose texts differ."""
        return tuple(place for place, pair in enumerate(self.pairs) if pair.why == "replaced")

    @property
    def only_first(self) -> tuple[int, ...]:
        """Tokens of the first text without a partner."""
        return _find_lonely(len(self.first), [pair.first for pair in self.pairs])

    @property
    def only_second(self) -> tuple[int, ...]:
        """Tokens of the second text without a partner."""
        return _find_lonely(len(self.second), [pair.second for pair in self.pairs])

    @property
    def groups(self) -> tuple[Groups, Groups]:
        """The pair of each token, of the first and of the second text; -1 for a token that is left out."""
        found = tuple(np.full(len(tokens), -1, dtype=np.int64) for tokens in (self.first, self.second))
        for place, pair in enumerate(self.pairs):
            found[0][list(pair.first)] = place
            found[1][list(pair.second)] = place
        return found[0], found[1]

    @property
    def tokens(self) -> Tokens:
        """The tokens of the common axis; "cat/dog" where one stands for the other."""
        if self.identical and not self.replaced:
            return self.first
        texts = []
        for pair in self.pairs:
            one, other = (_write(*each) for each in ((self.first, pair.first), (self.second, pair.second)))
            texts.append(one if pair.why == "same" else f"{one}/{other.strip()}")
        known: dict[str, int] = {}
        ids = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
        special = np.array([self.first.special[list(pair.first)].all() for pair in self.pairs], dtype=bool)
        return Tokens(self.first.side, tuple(texts), ids, special=special, words=np.arange(len(texts)))

    @property
    def evidence(self) -> tuple[Message, ...]:
        """What was matched and what was left out, in sentences."""
        parts = [
            message(
                _BY[self.by],
                side=name_term(self.first.side),
                pairs=len(self.pairs),
                first=len(self.first),
                second=len(self.second),
            )
        ]
        names = self.tokens.texts
        if self.replaced:
            shown = [names[place].strip() for place in self.replaced]
            parts.append(message("comparison.replaced", tokens=_shorten(shown)))
        for code, tokens, lonely in (
            ("comparison.only_first", self.first, self.only_first),
            ("comparison.only_second", self.second, self.only_second),
        ):
            if lonely:
                shown = [f"{tokens.texts[place].strip()} ({place})" for place in lonely]
                parts.append(message(code, count=len(lonely), tokens=_shorten(shown)))
        return tuple(parts)

    def __str__(self) -> str:
        return " ".join(map(str, self.evidence))


def align(first: Tokens, second: Tokens, *, one_model: bool = False) -> Alignment:
    """The tokens of two texts that belong together; refuses texts that have nothing in common.

    Words that differ in capital letters alone belong together. Of two models they are the same word, since
    one of the two may read small letters only; one model that reads both reads two words.
    """
    if first.texts == second.texts and np.array_equal(first.special, second.special):
        pairs = tuple(Pair((place,), (place,), "same") for place in range(len(first)))
        return Alignment(first, second, "tokens", pairs)
    if max(len(first), len(second)) > MOST_TOKENS:
        raise InputError("comparison.long_texts", first=len(first), second=len(second), most=MOST_TOKENS)
    alignment = _align(first, second)
    special = (first.special, second.special)
    same = [pair for pair in alignment.pairs if pair.why == "same"]
    if not any(not special[0][pair.first[0]] and not special[1][pair.second[0]] for pair in same):
        raise InputError(
            "comparison.nothing_in_common",
            side=name_term(first.side),
            first=" ".join(first.texts[:_NAMED]),
            second=" ".join(second.texts[:_NAMED]),
        )
    if not one_model or alignment.by == "characters":
        return alignment
    pairs = tuple(
        replace(pair, why="replaced") if _read(first, pair.first) != _read(second, pair.second) else pair
        for pair in alignment.pairs
    )
    return replace(alignment, pairs=pairs)


def _align(first: Tokens, second: Tokens) -> Alignment:
    if first.text is not None and first.text == second.text:
        spans = [_find_spans(tokens) for tokens in (first, second)]
        if spans[0] is not None and spans[1] is not None:
            cuts = _find_cuts(spans[0]) & _find_cuts(spans[1])
            units = [
                _group_characters(tokens, span, sorted(cuts))
                for tokens, span in zip((first, second), spans, strict=True)
                if span is not None
            ]
            return Alignment(first, second, "characters", _pair(units[0], units[1]))
    single = [
        [(text.strip().casefold(), (place,)) for place, text in enumerate(each.texts)]
        for each in (first, second)
    ]
    by_token = Alignment(first, second, "tokens", _pair(single[0], single[1]))
    if not by_token.only_first and not by_token.only_second:
        return by_token
    if first.words is None or second.words is None:
        return by_token
    return Alignment(first, second, "words", _pair(_group_words(first), _group_words(second)))


Unit = tuple[object, tuple[int, ...]]  # what is compared, and its tokens


def _pair(first: Sequence[Unit], second: Sequence[Unit]) -> tuple[Pair, ...]:
    """Equal units in their order; where as many stand between equal ones, each replaces one."""
    matcher = SequenceMatcher(None, [key for key, _ in first], [key for key, _ in second], autojunk=False)
    pairs = []
    for kind, start, stop, other, end in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and stop - start == end - other):
            why: Why = "same" if kind == "equal" else "replaced"
            for left, right in zip(first[start:stop], second[other:end], strict=True):
                pairs.append(Pair(left[1], right[1], why))
    return tuple(pairs)


def _group_words(tokens: Tokens) -> list[Unit]:
    words = find_words(tokens)
    texts = join_tokens(tokens, words).texts
    return [
        (text.strip().casefold(), tuple(np.flatnonzero(words == word).tolist()))
        for word, text in enumerate(texts)
    ]


def _find_spans(tokens: Tokens) -> NDArray[np.int64] | None:
    """Where tokens begin and end, counted in characters that are no blanks, (token, 2)."""
    if tokens.offsets is None or tokens.text is None:
        return None
    before = np.cumsum([0, *(not character.isspace() for character in tokens.text)])
    return before[tokens.offsets].astype(np.int64)


def _find_cuts(spans: NDArray[np.int64]) -> set[int]:
    """Places between characters that lie inside no token."""
    last = int(spans.max(initial=0))
    depth = np.zeros(last + 2, dtype=np.int64)
    for start, stop in spans.tolist():
        if stop - start > 1:
            depth[start + 1] += 1
            depth[stop] -= 1
    return set(np.flatnonzero(np.cumsum(depth)[: last + 1] == 0).tolist())


def _group_characters(tokens: Tokens, spans: NDArray[np.int64], cuts: Sequence[int]) -> list[Unit]:
    """Tokens between two cuts together; special tokens by themselves."""
    places = np.searchsorted(cuts, spans[:, 0], side="right")
    units: list[Unit] = []
    for place, segment in enumerate(places.tolist()):
        if tokens.special[place]:
            units.append(((tokens.texts[place], "special"), (place,)))
        elif units and units[-1][0] == segment:
            units[-1] = (segment, (*units[-1][1], place))
        else:
            units.append((segment, (place,)))
    return units


def _find_lonely(count: int, taken: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    known = {place for places in taken for place in places}
    return tuple(place for place in range(count) if place not in known)


def _write(tokens: Tokens, places: Sequence[int]) -> str:
    """The text of some neighbouring tokens, as it stands in the sentence where that is known."""
    if len(places) > 1 and tokens.offsets is not None and tokens.text is not None:
        written = tokens.text[int(tokens.offsets[places[0], 0]) : int(tokens.offsets[places[-1], 1])]
        if written.strip():
            return written
    return "".join(tokens.texts[place] for place in places)


def _read(tokens: Tokens, places: Sequence[int]) -> str:
    """What a model reads there: the tokens themselves, which need not be as the text is written."""
    return "".join(tokens.texts[place] for place in places).strip()


def _shorten(names: Sequence[str]) -> tuple[str, ...]:
    return (*names[:_NAMED], "…") if len(names) > _NAMED else tuple(names)
