"""Which head of one model does what a head of another does: an optimal assignment, with its confidence.

In:   pairs of recordings: the same texts through two models.
Out:  HeadMatching: for each head its partner, how alike the two are, and how sure that is.

    similarity(i, j) = 1 - JS(p, q) / log 2, the mean over rows and texts       1: the same, 0: nothing shared
    gain             = (similarity - second best) / (1 - second best)           of the row and of the column
    confidence       = gain x stability

JS is the Jensen-Shannon divergence of two rows of attention. Rows and keys are aligned as for a difference;
keys that are left out, and an attention sink, are one more outcome, so that rows still sum to one. The
assignment maximises the sum of similarities (SciPy). `stability` is the share of bootstrap samples of the
texts that give the same partner. `null` is the gain that 95 % of heads stay below when the heads of the
second model are shuffled in every row: what chance alone reaches.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.comparison.alignment import Alignment, align
from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.metrics.words import roll_up_words
from glassformer.place import Place, name_term
from glassformer.recording import AttentionMap, Recording, Side, Tokens
from glassformer.recording.arrays import choose

ROWS = 48  # of each text that are compared, spread evenly
SAMPLES = 200  # of the bootstrap
SHUFFLES = 20
SURE = 0.5  # a confidence from here on, above the null, is a clear match
_MOST = 1 << 28  # logarithms that one text may take

Head = tuple[Place, int]
Numbers = NDArray[np.float64]


class Match(NamedTuple):
    """Two heads that do the same, as far as their attention shows."""

    first: Head
    second: Head
    similarity: float
    margin: float  # how much less alike the next best pair is, of the head's row and of its column
    gain: float  # the margin as a share of what was left to gain
    stability: float | None  # None: one text alone tells nothing about it
    null: float

    @property
    def confidence(self) -> float:
        return self.gain * (1.0 if self.stability is None else self.stability)

    @property
    def clear(self) -> bool:
        """Whether this is more than chance: confidence at least 0.5, and above the null."""
        return self.confidence >= SURE and self.confidence > self.null

    def as_message(self) -> Message:
        """For a person."""
        first, second = (message("metrics.head", place=place, head=head) for place, head in self[:2])
        return message(
            "comparison.match",
            first=first,
            second=second,
            similarity=self.similarity,
            margin=self.margin,
            confidence=self.confidence,
            sure=message("comparison.clear" if self.clear else "comparison.unclear"),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeadMatching:
    """Heads of two models, matched one to one.

    >>> texts = ["The cat sleeps on the mat.", "A dog barks at the old tree."]
    >>> matching = gf.compare(["zoo/bert", "zoo/bert"], texts).matching  # a model with itself
    >>> all(match.first == match.second and match.clear for match in matching.matches)
    True
    """

    matches: tuple[Match, ...]
    texts: int  # those on which heads were compared
    unmatched_first: tuple[Head, ...] = ()
    unmatched_second: tuple[Head, ...] = ()
    notes: tuple[Message, ...] = ()  # which texts were left out, and why

    @property
    def confidence(self) -> float:
        """The mean over all matches."""
        return float(np.mean([match.confidence for match in self.matches]))

    def partner(self, place: Place, head: int) -> Head | None:
        """The head of the second model that a head of the first was matched to."""
        return next((match.second for match in self.matches if match.first == (place, head)), None)

    def __str__(self) -> str:
        clear = sum(match.clear for match in self.matches)
        count = len(self.matches)
        lines = [
            message(
                "comparison.matching", count=count, clear=clear, confidence=self.confidence, texts=self.texts
            )
        ]
        lines += self.notes
        lines += [match.as_message() for match in self.matches[:12]]
        more = [message("comparison.more", count=count - 12)] if count > 12 else []
        return "\n".join(map(str, [*lines, *more]))

    __repr__ = __str__


def match_heads(pairs: Iterable[tuple[Recording, Recording]], *, seed: int = 0) -> HeadMatching:
    """The heads of two models that attend alike over some texts, by an optimal assignment.

    Recordings are read one pair after the other and not kept: `pairs` may be a generator.
    """
    random = np.random.default_rng(seed)
    kinds = dict[Kind, _Similarities]()
    compared = 0
    for number, pair in enumerate(pairs):
        if number == 0:
            for kind in _find_kinds(pair[0]):
                kinds[kind] = _Similarities(_list_heads(pair[0], kind), _list_heads(pair[1], kind))
        added = [known.add(pair, kind, random) for kind, known in kinds.items()]
        compared += any(added)
    if not kinds:
        raise InputError("comparison.no_texts")
    matches = list[Match]()
    lonely: tuple[list[Head], list[Head]] = ([], [])
    notes = list[Message]()
    for kind, known in kinds.items():
        if known.refused:
            notes.append(message("comparison.uncompared", kind=name_term(kind[0]), count=known.refused))
        found = known.match(random)
        matches += found
        for number, heads in enumerate((known.first, known.second)):
            taken = {match[number] for match in found}
            lonely[number].extend(head for head in heads if head not in taken)
    if not matches:
        raise InputError("comparison.no_heads")
    matches.sort(key=lambda match: match.first)
    return HeadMatching(tuple(matches), compared, tuple(lonely[0]), tuple(lonely[1]), tuple(notes))


Kind = tuple[str, Side, Side]  # self or cross, the sides of queries and keys: what heads must share


class _Similarities:
    """How alike heads of one kind are, text by text; of each text, means over its rows are kept."""

    def __init__(self, first: list[Head], second: list[Head]) -> None:
        self.first, self.second = first, second
        self.refused = 0  # texts without a common word
        self._means = list[Numbers]()  # (head, other head) of each text
        self._shuffled: Numbers = np.zeros((SHUFFLES, len(first), len(second)))  # sums over the texts

    def add(self, pair: tuple[Recording, Recording], kind: Kind, random: np.random.Generator) -> bool:
        """Compare the heads on one more text; whether that was possible."""
        try:
            similarity = _compare(pair, kind)
        except InputError as error:
            if error.message.code != "comparison.nothing_in_common":
                raise
            self.refused += 1
            return False
        if similarity is None:
            return False
        self._means.append(similarity.mean(axis=2, dtype=np.float64))
        for place in range(SHUFFLES):
            order = random.random(similarity.shape[1:]).argsort(axis=0)  # (other head, row)
            shuffled = np.take_along_axis(similarity, order[None], axis=1)
            self._shuffled[place] += shuffled.mean(axis=2, dtype=np.float64)
        return True

    def match(self, random: np.random.Generator) -> list[Match]:
        """Each head with its partner; nothing where no text could be compared."""
        if not self._means:
            return []
        means = np.stack(self._means)  # (text, head, other head)
        texts = len(means)
        whole = means.mean(axis=0)
        rows, columns = _assign(whole)
        same = np.zeros(len(rows))
        for _ in range(SAMPLES if texts > 1 else 0):
            drawn = random.integers(texts, size=texts)
            partners = np.full(len(whole), -1)
            again = _assign(means[drawn].mean(axis=0))
            partners[again[0]] = again[1]
            same += partners[rows] == columns
        null = _find_null(self._shuffled / texts)
        found = []
        for place, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            margin, gain = _find_margin(whole, row, column)
            stability = float(same[place] / SAMPLES) if texts > 1 else None
            first, second = self.first[row], self.second[column]
            found.append(Match(first, second, float(whole[row, column]), margin, gain, stability, null))
        return found


def _find_kinds(recording: Recording) -> list[Kind]:
    return list(dict.fromkeys(_kind_of(each) for each in recording.maps if each.step is None))


def _kind_of(each: AttentionMap) -> Kind:
    return each.kind, each.query.side, each.key.side


def _list_maps(recording: Recording, kind: Kind) -> list[AttentionMap]:
    return [
        each for each in recording.maps if _kind_of(each) == kind and each.step is None and each.has_weights
    ]


def _list_heads(recording: Recording, kind: Kind) -> list[Head]:
    return [(each.place, head) for each in _list_maps(recording, kind) for head in range(each.heads)]


def _compare(pair: tuple[Recording, Recording], kind: Kind) -> NDArray[np.float32] | None:
    """Similarities (head, other head, row) of one text."""
    first, second = (_list_maps(each, kind) for each in pair)
    if not first or not second:
        return None
    sides: Mapping[Side, Alignment] = {
        side: align(*(_find_side(each, side) for each in pair)) for side in set(kind[1:])
    }
    queries, keys = sides[kind[1]], sides[kind[2]]
    numbers = choose(len(queries.pairs), ROWS)
    one, other = (
        np.concatenate([_read(each, queries.groups[place], keys.groups[place], numbers) for each in maps])
        for place, maps in enumerate((first, second))
    )  # (head, row, key + rest)
    looking = (one.sum(axis=(0, 2)) > 0) & (other.sum(axis=(0, 2)) > 0)
    one, other = one[:, looking], other[:, looking]
    if not looking.any():
        return None
    work = len(one) * other.size
    if work > _MOST:
        raise InputError("comparison.long_matching", work=work, most=_MOST)
    similarity = np.empty((len(one), len(other), one.shape[1]), dtype=np.float32)
    own = [_entropy(each) for each in (one, other)]
    for head, rows in enumerate(one):
        mixed = _entropy((rows + other) / 2)  # (other head, row)
        similarity[head] = 1 - np.maximum(mixed - (own[0][head] + own[1]) / 2, 0.0) / log(2)
    return similarity


def _find_side(recording: Recording, side: Side) -> Tokens:
    tokens = recording.source if side == "source" else recording.target
    assert tokens is not None  # a map looks from or at it
    return tokens


def _read(
    each: AttentionMap, queries: NDArray[np.int64], keys: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Numbers:
    """Distributions (head, row, key + rest) between groups; the rest is what left-out keys and a sink get."""
    found = []
    for head in range(each.heads):
        weights = roll_up_words(each.weights(head), queries, keys, each.statistics.looking[head])[numbers]
        looks = weights.sum(axis=-1, keepdims=True) > 0
        rest = np.where(looks, np.maximum(1 - weights.sum(axis=-1, keepdims=True), 0.0), 0.0)
        found.append(np.concatenate([weights, rest], axis=-1))
    return np.stack(found)


def _entropy(rows: Numbers) -> Numbers:
    logarithms = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    result: Numbers = -(rows * logarithms).sum(axis=-1)
    return result


def _assign(similarity: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of rows and columns whose sum is largest."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)


def _find_margin(similarity: Numbers, row: int, column: int) -> tuple[float, float]:
    """How much more alike a pair is than the next best of its row and column, and as a share of the most."""
    others = np.concatenate([np.delete(similarity[row], column), np.delete(similarity[:, column], row)])
    if others.size == 0:
        return 0.0, 0.0
    next_best, here = float(others.max()), float(similarity[row, column])
    margin = here - next_best
    room = 1 - next_best
    return margin, max(0.0, min(1.0, margin / room)) if room > 1e-9 else 0.0


def _find_null(shuffled: Numbers) -> float:
    """The gain below which 95 % of heads stay where heads of the second model are shuffled in each row."""
    gains = [
        _find_margin(whole, *pair)[1]
        for whole in shuffled  # (head, other head), the mean over all texts
        for pair in zip(*(each.tolist() for each in _assign(whole)), strict=True)
    ]
    return float(np.quantile(gains, 0.95))
