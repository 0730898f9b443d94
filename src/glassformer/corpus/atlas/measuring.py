"""One text, all detectors: the score of every head, and its chance level.

In:   a recording of a text, and one of the same text with its words shuffled.
Out:  `Table`: for each detector and each kind of map one number for each head, text by text.

The weight on wanted keys is one product of matrices for all heads and detectors of a text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.corpus.atlas.detector import DETECTORS, DetectorKind, Mask, View, applies
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.metrics.alignment import align_diagonally
from glassformer.metrics.masks import find_allowed
from glassformer.metrics.scores import Numbers
from glassformer.metrics.words import Groups, find_words, match_words
from glassformer.place import Kind
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.recording.axes import name_rows

FARTHEST = 8  # words: fixed offsets that are tried as a baseline
LEAST_TEXTS = 8
LEAST_OF_RELATION = 20
Weights = NDArray[np.float32]  # (head of all layers, query, key)
Where = tuple[str, Kind]  # stack and kind


class Layers(NamedTuple):
    """The maps of one stack and kind, all heads one after the other."""

    maps: tuple[AttentionMap, ...]
    weights: Weights
    view: View


class Aim(NamedTuple):
    """Where one detector, or one detail of it, wants queries to look."""

    name: str
    kind: DetectorKind
    mask: Mask  # among what is visible; rows without any are not counted
    chance: float  # of a query that looks at all visible keys alike
    rivals: tuple[Mask, ...] = ()


@dataclass(slots=True)
class Column:
    """What one detector found, text by text."""

    kind: DetectorKind
    detail: str | None
    texts: list[int] = field(default_factory=list)
    scores: list[Numbers] = field(default_factory=list)  # (head,) of all layers
    nulls: list[Numbers] = field(default_factory=list)
    guesses: list[dict[int, float]] = field(default_factory=list)  # by offset: how often it is right
    rivals: list[Numbers] = field(default_factory=list)  # (head,) the weight on the strongest wrong key
    held_out: list[bool] = field(default_factory=list)  # texts on which no head is chosen
    guess_rates: list[float] = field(default_factory=list)  # how often a guess among the candidates is right

    @property
    def least(self) -> int:
        """How many texts it takes to be believed; of one relation of many, more."""
        return LEAST_TEXTS if self.detail is None or self.kind.unit != "word" else LEAST_OF_RELATION

    def extend(self, other: "Column", before: int) -> None:
        """Add the texts of another column, which are numbered after `before` texts."""
        self.texts += (number + before for number in other.texts)
        for each in fields(self):
            if each.name not in ("kind", "detail", "texts"):
                getattr(self, each.name).extend(getattr(other, each.name))

    def divide(self) -> "tuple[Column, Column]":
        """The texts on which heads are chosen, and those on which they are scored: all, if none is held out
        or either would be too few."""
        held = np.array(self.held_out, dtype=bool)
        if min(held.sum(), (~held).sum()) < self.least:
            return self, self
        return self._take(~held), self._take(held)

    def _take(self, chosen: NDArray[np.bool_]) -> "Column":
        parts = {
            each.name: [one for one, kept in zip(getattr(self, each.name), chosen, strict=True) if kept]
            for each in fields(self)
            if each.name not in ("kind", "detail") and len(getattr(self, each.name)) == len(chosen)
        }
        return Column(self.kind, self.detail, **parts)


class Table:
    """Scores of all texts so far."""

    def __init__(self) -> None:
        self.columns: dict[tuple[Where, str], Column] = {}
        self.texts = 0

    def add(self, layers: Mapping[Where, Layers], shuffled: Recording, slots: "Slots") -> None:
        """Measure one text beside the same one with its words in another order."""
        others = {where: stack_weights(maps) for where, maps in find_maps(shuffled).items()}
        for where, original in layers.items():
            aims = list(find_aims(original.view))
            scores = measure(original.weights, aims, original.view.query_words, original.view.key_words)
            nulls = {aim.name: np.full(len(original.weights), aim.chance) for aim in aims}
            fair = [aim for aim in aims if aim.kind.null == "shuffled"]
            nulls |= measure(others[where], fair, *slots.of(original.view))
            for aim in aims:
                detail = aim.name.partition(":")[2] or None
                column = self.columns.setdefault((where, aim.name), Column(aim.kind, detail))
                column.texts.append(self.texts)
                column.scores.append(scores[aim.name])
                column.nulls.append(nulls[aim.name])
                column.guesses.append(guess(aim))
                column.held_out.append(original.view.text.held_out)
                candidates = original.view.text.candidates
                column.guess_rates.append(1 / candidates if candidates else 0.0)
                if aim.rivals:
                    column.rivals.append(measure_rivals(original.weights, aim.rivals))
        self.texts += 1

    def extend(self, other: "Table") -> None:
        """Add the texts of another table."""
        for key, each in other.columns.items():
            self.columns.setdefault(key, Column(each.kind, each.detail)).extend(each, self.texts)
        self.texts += other.texts


@dataclass(frozen=True, slots=True)
class Slots:
    """The word slots of both sides of a shuffled text."""

    source: Groups
    target: Groups | None

    def of(self, view: View) -> tuple[Groups, Groups]:
        """Those of the rows and of the columns; rows of cross-attention are what they write."""
        sides = {"source": self.source, "target": self.target}
        query, key = sides[view.query.side], sides[view.key.side]
        assert query is not None
        assert key is not None
        return (np.append(query[1:], -1) if view.kind == "cross" else query), key


def find_layers(recording: Recording, text: MarkedText) -> dict[Where, Layers]:
    """The maps of a recording by stack and kind."""
    layers = {}
    for where, maps in find_maps(recording).items():
        first = maps[0]
        query = name_rows(recording, first) if first.kind == "cross" else first.query
        words, keys = group_words(query, text), group_words(first.key, text)
        view = View(first.kind, query, first.key, find_visible(maps), words, keys, text)
        layers[where] = Layers(tuple(maps), stack_weights(maps), view)
    return layers


def find_maps(recording: Recording) -> dict[Where, list[AttentionMap]]:
    """Maps of whole passes, by stack and kind."""
    found: dict[Where, list[AttentionMap]] = {}
    for each in recording.maps:
        if each.step is None:
            found.setdefault((each.stack, each.kind), []).append(each)
    return found


def stack_weights(maps: Iterable[AttentionMap]) -> Weights:
    """The weights of all heads of some layers."""
    return np.concatenate([each.weights() for each in maps])


def find_visible(maps: list[AttentionMap]) -> Mask:
    """Keys that some layer shows (query, key); a narrower window of one layer is part of what it does."""
    _, queries, keys = maps[0].shape
    counts = np.max([each.statistics.allowed.max(axis=0) for each in maps], axis=0)
    if (counts == keys).all():
        return np.ones((queries, keys), dtype=bool)
    causal = np.tri(queries, keys, keys - queries, dtype=bool)
    if (counts == causal.sum(axis=1)).all():
        return causal
    return np.logical_or.reduce([find_allowed(each, 0) for each in maps])


def group_words(tokens: Tokens, text: MarkedText) -> Groups:
    """The word of each token, -1 for special ones: as people marked words, or as the tokenizer splits."""
    forms = None
    if text.tree is not None and tokens.side == "source":
        forms = text.tree.forms
    elif text.links is not None:
        forms = text.links.source if tokens.side == "source" else text.links.target
    if forms is not None:
        return match_words(tokens, forms)
    groups = np.arange(len(tokens)) if tokens.words is None else find_words(tokens)
    groups = np.where(tokens.special, -1, groups)
    words = np.unique(groups[groups >= 0])
    return np.where(groups >= 0, np.searchsorted(words, groups), -1)


def find_aims(view: View) -> Iterator[Aim]:
    """Where each detector wants queries to look, without rows that have no choice."""
    by_word = None
    for family in DETECTORS:
        kind = DETECTORS[family]
        if not applies(kind, view):
            continue
        wanted = kind.find(view)
        if wanted is None:
            continue
        named = wanted.items() if isinstance(wanted, Mapping) else [("", wanted)]
        visible = view.visible
        if kind.unit == "word":
            if by_word is None:
                by_word = _see_words(view)
            visible = by_word
        choice = visible.sum(axis=1) > 1
        rivals = () if kind.rivals is None else tuple(each & visible for each in kind.rivals(view))
        for detail, mask in named:
            right = mask & visible & choice[:, None]
            counted = right.any(axis=1)
            if not counted.any():
                continue
            shares = right[counted].sum(axis=1) / visible[counted].sum(axis=1)
            chance = float(shares.mean())
            if kind.unit == "column":
                spread = visible[choice] / visible[choice].sum(axis=1, keepdims=True)
                chance = float(spread.mean(axis=0).max())
            yield Aim(f"{family}:{detail}" if detail else family, kind, right, chance, rivals)


def measure(weights: Weights, aims: list[Aim], query_words: Groups, key_words: Groups) -> dict[str, Numbers]:
    """The score of every head by each detector."""
    found: dict[str, Numbers] = {}
    tokens = [aim for aim in aims if aim.kind.unit == "token"]
    if tokens:
        masks = np.stack([_weigh(aim.mask) for aim in tokens]).reshape(len(tokens), -1)
        sums = weights.reshape(len(weights), -1) @ masks.T  # (head, detector)
        found |= {aim.name: sums[:, number].astype(np.float64) for number, aim in enumerate(tokens)}
    for entered in (False, True):
        words = [aim for aim in aims if aim.kind.unit == "word" and aim.kind.entered == entered]
        if not words:
            continue
        # What a row has read last is what the row before it wrote.
        rows_of = np.append([-1], query_words[:-1]) if entered else query_words
        within = "self" in words[0].kind.kinds
        favourites = find_favourites(weights, rows_of, key_words, words[0].mask.shape, within=within)
        for aim in words:
            rows = np.flatnonzero(aim.mask.any(axis=1))
            hits = aim.mask[rows, favourites[:, rows]] & (favourites[:, rows] >= 0)
            found[aim.name] = hits.mean(axis=1)
    for aim in aims:
        if aim.kind.unit == "column":
            rows = np.flatnonzero(aim.mask.any(axis=1))
            found[aim.name] = weights[:, rows].mean(axis=1, dtype=np.float64).max(axis=1)
    return found


def measure_rivals(weights: Weights, masks: Iterable[Mask]) -> Numbers:
    """The weight (head,) on the strongest wrong key of each row, averaged over rows; the worst mask."""
    found = [np.zeros(len(weights))]
    for mask in masks:
        rows = np.flatnonzero(mask.any(axis=1))
        if len(rows):
            strongest = np.where(mask[rows], weights[:, rows], 0).max(axis=2)
            found.append(strongest.mean(axis=1, dtype=np.float64))
    worst: Numbers = np.max(found, axis=0)
    return worst


def find_favourites(
    weights: Weights, query_words: Groups, key_words: Groups, shape: tuple[int, ...], *, within: bool
) -> NDArray[np.int64]:
    """The most attended word of each word (head, word); within one text, another one; -1: none."""
    between = _pool(query_words, shape[0], mean=True) @ weights @ _pool(key_words, shape[1]).T
    if within:
        between[:, np.arange(shape[0]), np.arange(shape[0])] = 0.0
    return np.where(between.max(axis=2) > 0, between.argmax(axis=2), -1)


def guess(aim: Aim) -> dict[int, float]:
    """How often a fixed offset, or the diagonal (as offset 0), would be right."""
    rows = np.flatnonzero(aim.mask.any(axis=1))
    if aim.kind.baseline == "diagonal":
        queries, keys = aim.mask.shape
        links = align_diagonally(keys, queries)
        wanted = set(rows.tolist())
        return {0: float(np.mean([aim.mask[query, key] for key, query in links if query in wanted]))}
    if aim.kind.baseline is None:
        return {}
    words, offsets = np.nonzero(aim.mask)
    distances = offsets - words
    near = distances[abs(distances) <= FARTHEST]
    return {int(each): float(np.sum(near == each) / len(rows)) for each in np.unique(near)}


def _see_words(view: View) -> Mask:
    """Which words (word, word) a word may look at, with one of its tokens at one of theirs; never itself."""
    queries, keys = view.word_count
    seen = _pool(view.query_words, queries) @ view.visible.astype(np.float32) @ _pool(view.key_words, keys).T
    visible: Mask = seen > 0
    if view.kind == "self":
        np.fill_diagonal(visible, False)
    return visible


def _weigh(mask: Mask) -> Weights:
    """The mask such that its product with weights is their sum there, averaged over rows that have any."""
    return mask.astype(np.float32) / np.float32(mask.any(axis=1).sum())


def _pool(groups: Groups, count: int, *, mean: bool = False) -> Weights:
    """(word, token): sums the tokens of a word, or averages them."""
    pooled = np.zeros((count, len(groups)), dtype=np.float32)
    inside = groups >= 0
    pooled[groups[inside], np.flatnonzero(inside)] = 1.0
    return pooled / np.maximum(pooled.sum(axis=1, keepdims=True), 1) if mean else pooled
