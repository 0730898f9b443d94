"""Changes to a network for one recording: silence a head, cut an edge, scale scores, stop early.

In:   values that say what to change and where: `record(…, edits=[AblateHead("decoder", "self", 3, 5)])`.
Out:  a second Recording, which says what was edited.

- `CutEdge` hides a key before the softmax: what is left of the row is renormalised and still sums to one.
- `ScaleScores` multiplies what the softmax is given: scaled products, soft-capped, with biases; not a sink.
- `AblateHead` acts after the softmax, so that rows need not sum to one: "zero" takes all weights away; "mean"
  gives every query the mean of all rows, so that the head brings the same home wherever it is asked.
- `FirstLayers` runs the first blocks of a stack only; what stands above the last of them reads their result.

Our networks are changed through their windows (window_edits.py), those of transformers through the attention
interface (changes.py) or, where they do not use it, at the softmax that makes a map (softmaxes.py).
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.messages import Message, literal
from glassformer.place import Place
from glassformer.recorders.native import edits as window_edits
from glassformer.recorders.record import Edit
from glassformer.recording import Kind

LARGEST_FACTOR = 1e6  # of scores: a softmax has one winner long before, and single precision overflows beyond


@dataclass(frozen=True, slots=True)
class AblateHead:
    """One head silenced."""

    stack: str
    kind: Kind
    layer: int
    head: int
    how: Literal["zero", "mean"] = "zero"

    def __post_init__(self) -> None:
        _check_numbers(self, "layer", "head")
        if self.how not in ("zero", "mean"):
            raise InputError(f"A head cannot be ablated by {self.how!r}; say 'zero' or 'mean'.")

    @property
    def relaxes(self) -> bool:
        return True

    def touches(self, place: Place) -> bool:
        return (self.stack, self.kind, self.layer) == place[:3]

    def change_weights(self, weights: Tensor, place: Place) -> Tensor:
        """Weights (B, H, T, S) with those of the head replaced."""
        _check_head(self.head, weights.shape[1], place)
        changed = weights.clone()
        rows = weights[:, self.head]  # (B, T, S)
        changed[:, self.head] = 0.0 if self.how == "zero" else rows.mean(dim=1, keepdim=True)
        return changed

    def apply(self, network: nn.Module) -> AbstractContextManager[object]:
        def change(weights: Tensor, place: Place, _: int) -> Tensor:
            return self.change_weights(weights, place)

        if self.how == "mean":
            window_edits.check_at_once(network, self)
        return window_edits.change_windows(network, self, pattern=change)

    def __str__(self) -> str:
        effect = "silenced" if self.how == "zero" else "gives every query the mean of its rows"
        return f"head {self.head} of {self.stack} layer {self.layer}, {self.kind}: {effect}"


@dataclass(frozen=True, slots=True)
class CutEdge:
    """One key hidden from one query, in one layer and head or in all of them (None)."""

    stack: str
    kind: Kind
    layer: int | None
    head: int | None
    query: int
    key: int

    def __post_init__(self) -> None:
        _check_numbers(self, "layer", "head", "query", "key")

    @property
    def relaxes(self) -> bool:
        return False

    def touches(self, place: Place) -> bool:
        return (self.stack, self.kind) == place[:2] and self.layer in (None, place.layer)

    def find(self, shape: tuple[int, ...], place: Place, queries: int) -> tuple[Any, ...] | None:
        """Where the edge lies in scores (B, H, T, S) of so many queries a row; None: it is not there yet."""
        _, heads, rows, keys = shape
        if self.head is not None:
            _check_head(self.head, heads, place)
        if self.query >= queries or self.key >= keys:
            return None
        head = slice(None) if self.head is None else self.head
        return slice(None), head, slice(self.query, rows, queries), self.key

    @contextmanager
    def apply(self, network: nn.Module) -> Iterator[None]:
        met = False

        def hide(scores: Tensor, place: Place, queries: int) -> Tensor:
            nonlocal met
            at = self.find(tuple(scores.shape), place, queries)
            if at is None:
                return scores
            met = True
            changed = scores.clone()
            changed[at] = -torch.inf
            return changed

        def check(weights: Tensor, place: Place, queries: int) -> Tensor:
            at = self.find(tuple(weights.shape), place, queries)
            if at is not None:
                self.check_rest(weights[at[:3]])
            return weights

        window_edits.check_at_once(network, self)
        with window_edits.change_windows(network, self, scores=hide, pattern=check):
            yield
        if not met:
            raise InputError(f"There was nothing to cut ({self}): no text had such a query and key.")

    def check_rest(self, rows: Tensor) -> None:
        """Refuse a cut that leaves a query nothing to look at."""
        if not bool((rows.sum(-1) > 0).all()):
            raise InputError(
                f"Key {self.key} is the only one that query {self.query} may look at ({self}); nothing is "
                "left to renormalise. Cut another edge, or ablate the head."
            )

    def __str__(self) -> str:
        head = "every head" if self.head is None else f"head {self.head}"
        layer = "every layer" if self.layer is None else f"layer {self.layer}"
        where = f"{head} of {self.stack} {layer}, {self.kind}"
        return f"query {self.query} may not look at key {self.key} in {where}"


@dataclass(frozen=True, slots=True)
class ScaleScores:
    """Scores multiplied before the softmax: the attention-score multiplier, in one layer or in all (None)."""

    factor: float
    layer: int | None = None
    stack: str | None = None
    kind: Kind | None = None

    def __post_init__(self) -> None:
        _check_numbers(self, "layer")
        if not isinstance(self.factor, int | float) or not abs(self.factor) <= LARGEST_FACTOR:
            raise InputError(
                f"Scores cannot be multiplied by {self.factor!r}; give a number of at most a million."
            )

    @property
    def relaxes(self) -> bool:
        return False

    def touches(self, place: Place) -> bool:
        mine = (self.stack, self.kind, self.layer)
        return all(wanted in (None, seen) for wanted, seen in zip(mine, place[:3], strict=True))

    def apply(self, network: nn.Module) -> AbstractContextManager[object]:
        def change(scores: Tensor, *_: object) -> Tensor:
            return scores * self.factor

        return window_edits.change_windows(network, self, scores=change)

    def __str__(self) -> str:
        layer = "every layer" if self.layer is None else f"layer {self.layer}"
        where = " ".join(filter(None, (self.stack, layer))) + (f", {self.kind}" if self.kind else "")
        return f"scores times {self.factor:g} in {where}"


@dataclass(frozen=True, slots=True)
class FirstLayers:
    """Only the first blocks run, of one stack or of all (None)."""

    count: int
    stack: str | None = None

    def __post_init__(self) -> None:
        _check_numbers(self, "count")
        if self.count < 1:
            raise InputError("At least one layer has to run; say FirstLayers(1) or more.")

    @property
    def relaxes(self) -> bool:
        return False

    def touches(self, place: Place) -> bool:
        return self.stack in (None, place.stack)

    def apply(self, network: nn.Module) -> AbstractContextManager[object]:
        return window_edits.run_first_layers(network, self)

    def __str__(self) -> str:
        layers = "layer" if self.count == 1 else f"{self.count} layers"
        return f"only the first {layers} of {self.stack or 'every stack'}"


AnyEdit = AblateHead | CutEdge | ScaleScores | FirstLayers


def why_relaxed(edits: Iterable[Edit], place: Place) -> Message | None:
    """Why the rows of a map need not sum to one; None: they must."""
    here = (edit for edit in edits if not isinstance(edit, AblateHead) or edit.touches(place))
    reasons = "; ".join(str(edit) for edit in here if edit.relaxes)
    return literal(reasons) if reasons else None


def check_written(edits: Iterable[Edit]) -> None:
    """Refuse edits that no generation can take, for it has its queries one by one."""
    for edit in edits:
        if isinstance(edit, AblateHead) and edit.how == "mean":
            raise InputError(
                f"Words are written one by one, and the mean is that over all queries ({edit}); ablate by "
                "'zero', or give the text as it is."
            )


def _check_head(head: int, heads: int, place: Place) -> None:
    if head >= heads:
        raise InputError(f"There is no head {head} in {place}; heads go from 0 to {heads - 1}.")


def _check_numbers(edit: object, *names: str) -> None:
    for name in names:
        value = getattr(edit, name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise InputError(f"The {name} of an edit is {value!r}; give a whole number from 0 up.")
