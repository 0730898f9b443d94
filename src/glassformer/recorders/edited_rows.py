"""Many edited passes over one text as one batch: each row has edits of its own.

In:   the edits of each row, and how many layers each stack has, in the order in which the stacks run.
Out:  `EditedRows`: what to change in which row, and how many rows there are at a layer. A row is the same as
      the unedited one up to the first layer that its edits touch; it joins the batch there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, get_args

import torch
from torch import Tensor

from glassformer.place import Kind, Place
from glassformer.recorders.edits.active import ActiveEdits, ActiveStates
from glassformer.recorders.edits.edit import Edit, Part

Active = TypeVar("Active", ActiveEdits, ActiveStates)


class EditedRows:
    """The rows of one batch; the first is the unedited one, which all others are copied from."""

    def __init__(self, edits: Sequence[Sequence[Edit]], depths: Mapping[str, int]) -> None:
        """Refuses edits that touch no layer."""
        self.layers = [(stack, layer) for stack, depth in depths.items() for layer in range(depth)]
        active = [ActiveEdits(each) for each in edits]
        states = [ActiveStates(each) for each in edits]
        joins = [self._find_first(*each) for each in zip(active, states, strict=True)]
        self.order = sorted(range(len(active)), key=joins.__getitem__)  # stable
        self.active = [ActiveEdits(), *(active[number] for number in self.order)]
        self.states = [ActiveStates(), *(states[number] for number in self.order)]
        self.joins = [0, *(joins[number] for number in self.order)]

    def _find_first(self, active: ActiveEdits, states: ActiveStates) -> int:
        """The first layer that edits touch, as a position in `layers`."""
        touched = []
        for number, (stack, layer) in enumerate(self.layers):
            # every place is to be noted
            inside = [active.touch(Place(stack, kind, layer)) for kind in get_args(Kind)]
            if any(inside) or any(states.touch(stack, part, layer) for part in get_args(Part)):
                touched.append(number)
        active.check_places()
        return min(touched, default=0)

    def count(self, stack: str, layer: int) -> int:
        """How many rows there are when a layer runs."""
        now = self.layers.index((stack, layer))
        return sum(first <= now for first in self.joins)

    def at(self, place: Place, rows: int) -> Iterator[tuple[slice, ActiveEdits]]:
        """The rows, of so many, that are edited at a place."""
        for number, active in enumerate(self.active[:rows]):
            if active and active.touch(place):
                yield slice(number, number + 1), active

    def states_at(
        self, stack: str, part: Part, layer: int, rows: int
    ) -> Iterator[tuple[slice, ActiveStates]]:
        """The rows, of so many, of which vectors of a part of a layer are edited."""
        for number, active in enumerate(self.states[:rows]):
            if active.touch(stack, part, layer):
                yield slice(number, number + 1), active

    def finish(self, logits: Tensor) -> Tensor:
        """Logits of the unedited row, then those of the others in the order in which edits were given."""
        for active, states in zip(self.active, self.states, strict=True):
            active.check_used()
            states.check_used()
        restored = logits.new_empty(logits.shape)
        restored[[0, *(number + 1 for number in self.order)]] = logits
        return restored


def can_share_batch(edits: Iterable[Sequence[Edit]]) -> bool:
    """Whether edits can be rows of one batch: not those that choose which layers run."""
    return not any("layers" in edit.changes for row in edits for edit in row)


# The edits of a part of a layer for each part of a batch of so many rows.
StatesAt = Callable[[str, Part, int, int], Iterable[tuple[slice, ActiveStates]]]


def change_states(batch: Tensor, at: StatesAt, stack: str, part: Part, layer: int) -> Tensor:
    """Vectors (batch, token, width) with the rows that are edited here changed."""
    edited = at(stack, part, layer, len(batch))
    return change_rows(batch, edited, lambda states, _, active: active.change(stack, part, layer, states))


def change_rows(
    batch: Tensor,
    edited: Iterable[tuple[slice, Active]],
    change: Callable[[Tensor, slice, Active], Tensor],
) -> Tensor:
    """A batch with the rows that are edited changed, each by its edits; the batch itself where none is."""
    result = batch
    for rows, active in edited:
        before = batch if rows == slice(None) else batch[rows]
        after = change(before, rows, active)
        if after is before:
            continue
        if len(before) == len(batch):
            return after
        if result is batch:
            result = batch.clone()
        result[rows] = after
    return result


def copy_rows(tensor: Tensor, count: int) -> Tensor:
    """A batch with copies of its first row behind it, up to so many rows."""
    if len(tensor) == count:
        return tensor
    return torch.cat((tensor, tensor[:1].expand(count - len(tensor), *tensor.shape[1:])))
