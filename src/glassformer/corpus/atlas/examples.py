"""Examples: a few short texts in which the heads of a model do what they do most clearly.

In:   recordings of candidates, and the type of each head.
Out:  the chosen recordings, made small; for each head its strongest edges in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from glassformer.atlases.schema import Example
from glassformer.corpus.atlas.estimates import tidy
from glassformer.corpus.atlas.measuring import Aim, Layers, Weights, Where, find_aims
from glassformer.recording import AttentionMap, Recording

LONGEST = 16  # tokens of a side
EDGES = 3  # of a head


class Edge(NamedTuple):
    """One weight of a head that shows what it does."""

    value: float
    query: int
    key: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that could be shown."""

    recording: Recording
    layers: Mapping[Where, Layers]

    @property
    def short(self) -> bool:
        """Whether it fits on a card."""
        sides = (self.recording.source, self.recording.target)
        return max(len(side) for side in sides if side is not None) <= LONGEST

    @property
    def constructed(self) -> bool:
        """Whether it is no text of the corpus."""
        return any(each.view.text.probe is not None for each in self.layers.values())


def choose_examples(
    candidates: Sequence[Candidate], types: Mapping[Where, Sequence[str | None]], most: int
) -> tuple[list[Recording], dict[Where, list[tuple[Example, ...]]]]:
    """The texts that together show most heads best, one after the other; and every head's edges in them."""
    types = _name_shown(types, [dict(_show(each, types)) for each in candidates])
    shown = [dict(_show(each, types)) for each in candidates]
    best: dict[tuple[Where, int], float] = {}
    chosen: list[int] = []

    def gain(number: int) -> float:
        return sum(
            max(0.0, edges[0].value - best.get(key, 0.0)) for key, edges in shown[number].items() if edges
        )

    while len(chosen) < min(most, len(candidates)):
        number = max((each for each in range(len(candidates)) if each not in chosen), key=gain)
        if gain(number) <= 0:
            break
        chosen.append(number)
        for key, edges in shown[number].items():
            if edges:
                best[key] = max(best.get(key, 0.0), edges[0].value)
    examples = {
        where: [_collect(shown, chosen, (where, head), name) for head, name in enumerate(names)]
        for where, names in types.items()
    }
    return [shrink(candidates[number].recording) for number in chosen], examples


def _name_shown(
    types: Mapping[Where, Sequence[str | None]], shown: Sequence[Mapping[tuple[Where, int], list[Edge]]]
) -> dict[Where, list[str | None]]:
    """The same types, but None where no candidate has what the detector looks for (such as links that people
    made): such a head is shown by its strongest weights."""
    return {
        where: [
            name if any(each.get((where, head)) for each in shown) else None
            for head, name in enumerate(names)
        ]
        for where, names in types.items()
    }


def _collect(
    shown: Sequence[Mapping[tuple[Where, int], list[Edge]]],
    chosen: Sequence[int],
    head: tuple[Where, int],
    detector: str | None,
) -> tuple[Example, ...]:
    """The strongest edges of one head in the texts that were chosen."""
    found = [(edge, bundle) for bundle, number in enumerate(chosen) for edge in shown[number].get(head, [])]
    found.sort(key=lambda each: -each[0].value)
    return tuple(
        Example(bundle=bundle, query=edge.query, key=edge.key, detector=detector, value=tidy(edge.value))
        for edge, bundle in found[:EDGES]
    )


def _show(
    candidate: Candidate, types: Mapping[Where, Sequence[str | None]]
) -> Iterator[tuple[tuple[Where, int], list[Edge]]]:
    for where, names in types.items():
        layers = candidate.layers.get(where)
        if layers is None:
            continue
        aims = {aim.name: aim for aim in find_aims(layers.view)}
        for head, name in enumerate(names):
            aim = None if name is None else aims.get(name)
            if name is None or aim is not None:
                yield (where, head), find_edges(layers.weights[head], layers, aim)


def find_edges(weights: Weights, layers: Layers, aim: Aim | None) -> list[Edge]:
    """The strongest weights (query, key) where a detector looks, one for each query; anywhere without one."""
    view = layers.view
    wanted = view.visible & (view.visible.sum(axis=1) > 1)[:, None]
    if aim is not None and aim.kind.unit == "token":
        wanted = aim.mask
    elif aim is not None and aim.kind.unit == "word":
        inside = (view.query_words >= 0)[:, None] & (view.key_words >= 0)[None, :]
        wanted = aim.mask[np.ix_(view.query_words, view.key_words)] & inside
    values = np.where(wanted, weights, 0.0)
    keys, peaks = values.argmax(axis=1), values.max(axis=1)
    order = np.argsort(-peaks, kind="stable")[:EDGES]
    return [Edge(float(peaks[row]), int(row), int(keys[row])) for row in order if peaks[row] > 0]


def shrink(recording: Recording) -> Recording:
    """The same with its maps alone; thumbnails of short texts are the weights themselves, kept once."""
    return replace(recording, maps=tuple(map(_shrink_map, recording.maps)), output=None, generation=None)


def _shrink_map(attention_map: AttentionMap) -> AttentionMap:
    statistics, dense = attention_map.statistics, attention_map.dense
    if dense is None or statistics.level > 0:
        return attention_map
    return replace(attention_map, statistics=replace(statistics, thumbnail_mean=dense, thumbnail_max=dense))
