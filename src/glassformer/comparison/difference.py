"""One recording minus another: every map with its place, every metric, and what differs most.

In:   two recordings: of two models or checkpoints, of two texts, or before and after an edit.
Out:  Difference: a recording of signed maps, how tokens were aligned, what could not be compared.

Every value is a weight of the first minus a weight of the second. Where tokens were grouped, a group receives
the sum over its keys and looks where its queries look on average, as words do (metrics/words.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import prod
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from glassformer.comparison.alignment import Alignment, Groups, align
from glassformer.comparison.matching import HeadMatching
from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.metrics.differences import difference as measure_difference
from glassformer.metrics.differences import subtract
from glassformer.metrics.scores import Over, Score
from glassformer.metrics.words import roll_up_words
from glassformer.place import Place, name_term
from glassformer.recording import (
    AttentionMap,
    DifferenceMap,
    Evidence,
    Recording,
    Side,
    Tokens,
    measure_signed,
)
from glassformer.recording.arrays import Floats
from glassformer.recording.axes import is_causal

MOST_VALUES = 1 << 25  # differences that are kept in memory; beyond, they are computed where someone looks
METRICS_SHOWN = ("entropy", "average_nonzero", "maximum_nonzero")


class Edge(NamedTuple):
    """One weight that differs: where, and by how much."""

    place: Place
    head: int
    query: int
    key: int
    value: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference:
    """The first recording minus the second; `recording` holds signed maps and can be shown, saved, exported.

    >>> text, edit = "The cat sleeps on the mat.", gf.AblateHead("encoder", "self", 0, head=1)
    >>> before, after = gf.record("zoo/bert", text), gf.record("zoo/bert", text, edits=[edit])
    >>> found = gf.difference(before, after)
    >>> found.recording.map(layer=1).content, found.alignments["source"].identical
    ('signed', True)
    >>> found.largest(1)[0].place.layer  # a silenced head changes where the layer above looks
    1
    """

    first: Recording
    second: Recording
    alignments: Mapping[Side, Alignment]
    recording: Recording
    left_out: tuple[Message, ...] = ()  # maps that cannot be compared, and why
    matching: HeadMatching | None = None

    @property
    def identical(self) -> bool:
        """Whether both have the same tokens in the same order."""
        sides = 1 if self.first.target is None else 2
        return len(self.alignments) == sides and all(each.identical for each in self.alignments.values())

    def score(self, name: str, *, over: Over | None = None, **parameters: Any) -> Score:
        """A metric of the first minus that of the second, of the maps that both have.

        Of other tokens, heads, layers and models are compared, not single rows.
        """
        if self.matching is not None:
            raise InputError("comparison.matched_scores")
        if over in ("query", "token", "pair") and not self.identical:
            raise InputError("comparison.other_rows", metric=name, over=name_term(over))
        places = {each.place for each in self.recording.maps}
        both = [
            replace(each, maps=tuple(part for part in each.maps if part.place in places))
            for each in (self.first, self.second)
        ]
        return subtract(both[0], both[1], name, over=over, **parameters)

    def largest(self, count: int = 10) -> list[Edge]:
        """The weights that differ most, of all maps and heads; refuses maps too long to be read whole."""
        found: list[Edge] = []
        for each in self.recording.maps:
            if isinstance(each, DifferenceMap):
                raise InputError("comparison.too_long_to_list", place=each.place)
            values = each.weights()
            order = np.argsort(-np.abs(values), axis=None, kind="stable")[:count]
            for place in order.tolist():
                head, query, key = (int(at) for at in np.unravel_index(place, values.shape))
                found.append(Edge(each.place, head, query, key, float(values[head, query, key])))
        found.sort(key=lambda edge: -abs(edge.value))
        return found[:count]

    def describe(self, edge: Edge) -> Message:
        """An edge in words."""
        attention_map = self.recording.map(edge.place)
        return message(
            "comparison.edge",
            value=edge.value,
            place=message("metrics.head", place=edge.place, head=edge.head),
            query=attention_map.query.texts[edge.query].strip(),
            key=attention_map.key.texts[edge.key].strip(),
        )

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was compared and how, and what differs most."""
        lines: list[Message] = [message("comparison.which", first=name(self.first), second=name(self.second))]
        lines += [part for each in self.alignments.values() for part in each.evidence]
        lines += self.left_out
        if not any(isinstance(each, DifferenceMap) for each in self.recording.maps):
            lines.append(message("comparison.largest_weights"))
            lines += [self.describe(edge) for edge in self.largest(8) if edge.value]
        if self.matching is None:
            for metric in METRICS_SHOWN:
                measured = self.score(metric, over="model")
                lines.append(
                    message(
                        "comparison.metric", label=measured.label, value=measured.value, unit=measured.unit
                    )
                )
        return tuple(lines)

    def __str__(self) -> str:
        return "\n".join(map(str, self.summary))

    __repr__ = __str__


@overload
def difference(
    first: Recording, second: Recording, name: None = None, *, matching: HeadMatching | None = None
) -> Difference: ...


@overload
def difference(
    first: Recording, second: Recording, name: str, *, over: Over | None = None, **parameters: Any
) -> Score: ...


def difference(
    first: Recording,
    second: Recording,
    name: str | None = None,
    *,
    over: Over | None = None,
    matching: HeadMatching | None = None,
    **parameters: Any,
) -> Difference | Score:
    """The first recording minus the second: all maps, or one metric where it is named.

    Without a name: signed maps with their places, of the same text in two models, of two texts (their words
    are aligned; what has no partner is listed and left out), or before and after an edit. `print` lists the
    largest differences. With `matching` (of `gf.compare`), a head is compared with the one it was matched to.

    With a name: that metric of two recordings of the same tokens. A layer or a model is compared by the heads
    that have a value in both: a head that an edit ablated has no entropy, and leaving it out on one side only
    would look like a change of all the others. For other tokens: `gf.difference(first, second).score(name)`.

    >>> text, edit = "The cat sleeps on the mat.", gf.AblateHead("encoder", "self", 0, head=1)
    >>> before, after = gf.record("zoo/bert", text), gf.record("zoo/bert", text, edits=[edit])
    >>> gf.difference(before, after, "entropy").part(layer=1).values  # what changed in the layer above
    array([...])
    >>> pair = [gf.record("zoo/bert", f"The {animal} sleeps.") for animal in ("cat", "umbrella")]
    >>> gf.difference(*pair).recording.source.texts  # one word stands for the other
    ('[CLS]', 'the', 'cat/umbrella', 'sleeps', '.', '[SEP]')
    """
    if name is not None:
        return measure_difference(first, second, name, over=over, **parameters)
    if over is not None or parameters:
        raise InputError(
            "comparison.no_metric", given=("over" if over is not None else next(iter(parameters)))
        )
    return make_difference(first, second, matching)


def make_difference(first: Recording, second: Recording, matching: HeadMatching | None = None) -> Difference:
    """All maps of the first minus those of the second."""
    for recording in (first, second):
        signed = next((part for part in recording.maps if part.content == "signed"), None)
        if signed is not None:
            raise InputError("comparison.of_a_difference", place=signed.place)
    alignments = align_sides(first, second)
    tokens = {side: each.tokens for side, each in alignments.items()}
    identical = all(each.identical for each in alignments.values())
    known = {each.place: each for each in second.maps}
    maps, left_out = list[AttentionMap](), list[Message]()
    room = MOST_VALUES
    for each in first.maps:
        partners = _find_partners(each, known, matching)
        problem = _find_problem(each, partners, known)
        if not {each.query.side, each.key.side} <= alignments.keys():
            problem = message("comparison.no_common_word")
        if problem is None:
            made = _subtract(each, partners, alignments, tokens, identical, room)
            if isinstance(made, AttentionMap):
                room -= 0 if isinstance(made, DifferenceMap) else prod(made.shape)
                maps.append(made)
                continue
            problem = made
        if problem not in left_out:  # one of a side stands for all its maps
            left_out.append(problem)
    if matching is None:
        places = {each.place for each in first.maps}
        left_out += [
            message("comparison.only_second_map", place=each.place)
            for each in second.maps
            if each.place not in places
        ]
    if not maps:
        raise InputError("comparison.no_common_map", reasons=left_out[0] if left_out else "")
    subtracted = Recording(
        model=_name_both(first, second),
        evidence=_make_evidence(first, second, alignments, tuple(left_out)),
        source=tokens["source"],
        target=tokens.get("target"),
        maps=tuple(maps),
        hidden=_subtract_hidden(first, second, alignments),
    )
    return Difference(first, second, alignments, subtracted, tuple(left_out), matching)


def align_sides(first: Recording, second: Recording) -> dict[Side, Alignment]:
    """The alignment of the source, and of the target where both have one and they share words.

    Without a common word, as when an edit has changed all that is written, the source is compared alone.
    """
    one = first.model == second.model
    found: dict[Side, Alignment] = {"source": align(first.source, second.source, one_model=one)}
    if (first.target is None) != (second.target is None):
        which = message("comparison.first" if second.target is None else "comparison.second")
        raise InputError("comparison.one_target", which=which)
    if first.target is not None and second.target is not None:
        try:
            found["target"] = align(first.target, second.target, one_model=one)
        except InputError as error:
            if error.message.code != "comparison.nothing_in_common":
                raise
    return found


def name(recording: Recording) -> str:
    """A recording in a sentence: its model and the beginning of its text, and that it was edited."""
    text = recording.source.text or " ".join(recording.source.texts)
    mark = recording.evidence.mark
    shown = f"{recording.model}: {text.strip()[:60]}"
    return shown if mark is None else f"{shown} ({mark})"


def _name_both(first: Recording, second: Recording) -> str:
    return first.model if first.model == second.model else f"{first.model} − {second.model}"


Partners = Sequence[
    tuple[AttentionMap | None, int]
]  # for each head of a map the map and head it is compared with


def _find_partners(
    each: AttentionMap, known: Mapping[Place, AttentionMap], matching: HeadMatching | None
) -> Partners:
    if matching is None:
        return [(known.get(each.place), head) for head in range(each.heads)]
    found: list[tuple[AttentionMap | None, int]] = []
    for head in range(each.heads):
        place, partner = matching.partner(each.place, head) or (None, 0)
        found.append((None if place is None else known.get(place), partner))
    return found


def _find_problem(
    each: AttentionMap, partners: Partners, known: Mapping[Place, AttentionMap]
) -> Message | None:
    """Why a map cannot be compared."""
    other = known.get(each.place)
    if any(partner is None for partner, _ in partners):
        lonely = [head for head, (partner, _) in enumerate(partners) if partner is None]
        code = "comparison.only_first_map" if other is None else "comparison.unmatched_heads"
        return message(code, place=each.place, heads=tuple(lonely))
    if any(partner is not None and head >= partner.heads for partner, head in partners) or (
        all(partner is other for partner, _ in partners) and other is not None and other.heads != each.heads
    ):
        assert other is not None
        return message("comparison.other_heads", place=each.place, first=each.heads, second=other.heads)
    parts = [each, *(partner for partner, _ in partners if partner is not None)]
    if not all(part.has_weights for part in parts):
        return message("comparison.no_weights", place=each.place)
    return None


def _subtract(
    each: AttentionMap,
    partners: Partners,
    alignments: Mapping[Side, Alignment],
    tokens: Mapping[Side, Tokens],
    identical: bool,
    room: int,
) -> AttentionMap | Message:
    """One map minus its partners, or why not."""
    others = [partner for partner, _ in partners if partner is not None]
    straight = all(partner is others[0] and head == number for number, (partner, head) in enumerate(partners))
    whole = all(_is_whole(part, alignments, place) for place, part in enumerate([each, *others]))
    same_step = not whole and straight and _have_same_tokens(each, others[0])
    if not whole and not same_step:
        return message("comparison.part_of_a_text", place=each.place)
    if identical or same_step:
        if prod(each.shape) > room:
            if straight:
                return DifferenceMap.of(each, others[0])
            return message("comparison.too_long_to_match", place=each.place)
        values = np.stack(
            [
                each.weights(head) - partner.weights(other)
                for head, (partner, other) in enumerate(partners)
                if partner is not None
            ]
        )
        query, key = each.query, each.key
        if not same_step:
            query, key = tokens[query.side], tokens[key.side]
        rows = each.statistics.rows & others[0].statistics.rows
    else:
        query, key = tokens[each.query.side], tokens[each.key.side]
        shape = (each.heads, len(query), len(key))
        if prod(each.shape) > room:
            return message("comparison.too_long_to_group", place=each.place)
        values = np.empty(shape, dtype=np.float32)
        queries, keys = alignments[each.query.side].groups, alignments[each.key.side].groups
        for head, (partner, other) in enumerate(partners):
            assert partner is not None
            values[head] = _group(each, head, queries[0], keys[0]) - _group(
                partner, other, queries[1], keys[1]
            )
        rows = np.ones(len(query), dtype=bool)
    statistics = measure_signed(values, rows)
    if is_causal(each) and is_causal(others[0]):
        limit = np.arange(len(query)) + 1 + len(key) - len(query)
        statistics = replace(statistics, allowed=limit.clip(0, len(key)))
    return AttentionMap(each.place, query, key, statistics, values.astype(np.float32))


def _group(each: AttentionMap, head: int, queries: Groups, keys: Groups) -> NDArray[np.float64]:
    """The weights of one head between groups of tokens."""
    if each.kind == "cross" and len(queries) and each.query.special[0]:
        # a row is named by the word that it writes: the one behind the word that enters
        written = np.append(queries[1:] - 1, queries.max(initial=-1))
        queries = np.where(np.append(queries[1:], 0) < 0, -1, written)
    return roll_up_words(each.weights(head), queries, keys, each.statistics.looking[head])


def _is_whole(each: AttentionMap, alignments: Mapping[Side, Alignment], number: int) -> bool:
    """Whether the axes of a map are whole sides; a map of one generation step shows a part of them."""
    for tokens in (each.query, each.key):
        side = alignments[tokens.side].first if number == 0 else alignments[tokens.side].second
        if len(tokens) != len(side) or each.step is not None:
            return False
    return True


def _have_same_tokens(first: AttentionMap, second: AttentionMap) -> bool:
    axes = ((first.query, second.query), (first.key, second.key))
    return first.shape == second.shape and all(one.texts == other.texts for one, other in axes)


def _subtract_hidden(
    first: Recording, second: Recording, alignments: Mapping[Side, Alignment]
) -> dict[str, Floats]:
    """Hidden states of stacks that are as deep and as wide in both; a group has the mean of its tokens."""
    found: dict[str, Floats] = {}
    for stack in first.hidden.keys() & second.hidden.keys():
        states = [each.hidden[stack] for each in (first, second)]
        if states[0].shape[0] != states[1].shape[0] or states[0].shape[2] != states[1].shape[2]:
            continue
        if states[0].size > MOST_VALUES:
            continue
        sides = {part.query.side for part in first.maps if part.stack == stack and part.kind == "self"}
        alignment = alignments.get(next(iter(sides))) if len(sides) == 1 else None
        if alignment is None or states[0].shape[1] != len(alignment.first):
            continue
        if states[1].shape[1] != len(alignment.second):
            continue
        if alignment.identical:
            found[stack] = np.subtract(*states).astype(np.float32)
            continue
        means = [
            np.stack(
                [
                    state[:, np.flatnonzero(groups == place)].mean(axis=1, dtype=np.float64)
                    for place in range(len(alignment.pairs))
                ],
                axis=1,
            )
            for state, groups in zip(states, alignment.groups, strict=True)
        ]
        found[stack] = (means[0] - means[1]).astype(np.float32)
    return found


def _make_evidence(
    first: Recording,
    second: Recording,
    alignments: Mapping[Side, Alignment],
    left_out: tuple[Message, ...],
) -> Evidence:
    both = (first.evidence, second.evidence)
    errors = [each.largest_error for each in both if each.largest_error is not None]
    digest = sha256("".join(each.model_hash for each in both).encode()).hexdigest()
    notes = [message("comparison.which", first=name(first), second=name(second))]
    notes += [part for each in alignments.values() for part in each.evidence]
    return Evidence(
        _name_both(first, second),
        digest,
        message("comparison.kernel", first=both[0].kernel, second=both[1].kernel),
        "float32",
        all(each.exact for each in both),
        float(sum(errors)) if len(errors) == 2 else None,
        message("comparison.reference") if len(errors) == 2 else None,
        edits=tuple(dict.fromkeys((*both[0].edits, *both[1].edits))),
        notes=(*notes, *left_out),
    )
