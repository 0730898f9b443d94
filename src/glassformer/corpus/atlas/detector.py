"""What a detector is, and what it sees of a text.

In:   one text as a map's axes: tokens of rows and columns, who may look where, words, marks.
Out:  `DETECTORS`, each a function from a `View` to the keys that its queries should look at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.atlases.schema import Null
from glassformer.corpus.atlas.texts import MarkedText, Probe
from glassformer.metrics.words import Groups
from glassformer.place import Kind
from glassformer.recording import Tokens
from glassformer.registry import Registry

Mask = NDArray[np.bool_]  # (query, key), or (query word, key word)
Wanted = Mask | Mapping[str, Mask] | None  # None: this text has nothing to find
Unit = Literal["token", "word", "column"]
Baseline = Literal["offset", "diagonal"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One text as the axes of the maps of one kind; rows of cross-attention are what they write."""

    kind: Kind
    query: Tokens
    key: Tokens
    visible: Mask
    query_words: Groups  # (token,) the word of each, -1 for special tokens
    key_words: Groups
    text: MarkedText

    @property
    def word_count(self) -> tuple[int, int]:
        """How many words there are on both sides."""
        return int(self.query_words.max(initial=-1)) + 1, int(self.key_words.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class DetectorKind:
    """What is known about a detector before it runs."""

    family: str
    find: Callable[[View], Wanted]
    kinds: tuple[Kind, ...]
    null: Null
    threshold: float  # of mean − null
    rank: int  # how specific it is: of all that a head passes, the highest is its type
    unit: Unit  # token: weight on keys; word: share of favourites; column: the weight of the strongest key
    baseline: Baseline | None
    probe: Probe | None  # constructed texts on which it is measured beside the corpus
    rivals: Callable[[View], tuple[Mask, ...]] | None  # where heads look that only seem to do it
    entered: bool  # rows of cross-attention are those of the word that was read last, not of what they write


DETECTORS: Registry[DetectorKind] = Registry("detector", "glassformer.corpus.atlas.detectors")


def detector(  # noqa: PLR0913 - one argument for each thing that is known
    family: str,
    *,
    null: Null,
    threshold: float,
    rank: int,
    kinds: tuple[Kind, ...] = ("self",),
    unit: Unit = "token",
    baseline: Baseline | None = None,
    probe: Probe | None = None,
    rivals: Callable[[View], tuple[Mask, ...]] | None = None,
    entered: bool = False,
) -> Callable[[Callable[[View], Wanted]], Callable[[View], Wanted]]:
    """Register a function that says where a head of this family would look."""

    def keep(find: Callable[[View], Wanted]) -> Callable[[View], Wanted]:
        given = (kinds, null, threshold, rank, unit, baseline, probe, rivals, entered)
        known = DetectorKind(family, find, *given)
        DETECTORS.register(family)(known)
        return find

    return keep


def applies(kind: DetectorKind, view: View) -> bool:
    """Whether a detector measures a text."""
    return view.kind in kind.kinds and view.text.probe in (None, kind.probe)
