"""Many edited passes over one text as one batch: each row has edits of its own.

In:   the edits of each row, and how many layers each stack has, in the order in which the stacks run.
Out:  `EditedRows`: what to change in which row, and how many rows there are at a layer. A row is the same as
      the unedited one up to the first layer that its edits touch; it joins the batch there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from glassformer.place import Kind, Place
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import Edit

KINDS: tuple[Kind, ...] = ("self", "cross")


class EditedRows:
    """The rows of one batch; the first is the unedited one, which all others are copied from."""

    def __init__(self, edits: Sequence[Sequence[Edit]], depths: Mapping[str, int]) -> None:
        """Refuses edits that touch no layer."""
        self.layers = [(stack, layer) for stack, depth in depths.items() for layer in range(depth)]
        active = [ActiveEdits(each) for each in edits]
        joins = [self._find_first(each) for each in active]
        self.order = sorted(range(len(active)), key=joins.__getitem__)  # stable
        self.active = [ActiveEdits(), *(active[number] for number in self.order)]
        self.joins = [0, *(joins[number] for number in self.order)]

    def _find_first(self, active: ActiveEdits) -> int:
        """The first layer that edits touch, as a position in `layers`."""
        touched = []
        for number, ((stack, layer), kind) in enumerate(product(self.layers, KINDS)):
            if active.touch(Place(stack, kind, layer)):
                touched.append(number // len(KINDS))
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

    def finish(self, logits: Tensor) -> Tensor:
        """Logits of the unedited row, then those of the others in the order in which edits were given."""
        for active in self.active:
            active.check_used()
        restored = logits.new_empty(logits.shape)
        restored[[0, *(number + 1 for number in self.order)]] = logits
        return restored


def can_share_batch(edits: Iterable[Sequence[Edit]]) -> bool:
    """Whether edits can be rows of one batch: not those that choose which layers run."""
    return not any("layers" in edit.changes for row in edits for edit in row)


def copy_rows(tensor: Tensor, count: int) -> Tensor:
    """A batch with copies of its first row behind it, up to so many rows."""
    if len(tensor) == count:
        return tensor
    return torch.cat((tensor, tensor[:1].expand(count - len(tensor), *tensor.shape[1:])))
