"""The edits of one recording while they are carried out.

In:   edits, and each attention call that an executor shows.
Out:  its scores, weights and outputs, changed; how many layers of each stack run. An edit that changed
      nothing at all is an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.place import Place, name_term
from glassformer.recorders.edits.edit import (
    Edit,
    HeadInputs,
    HeadOutputs,
    Index,
    Part,
    Scores,
    States,
    Target,
    Weights,
)

if TYPE_CHECKING:
    from torch import Tensor


class ActiveEdits:
    """The edits inside attention, which of them have changed anything, and what they did last."""

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self.edits = [edit for edit in edits if edit.edits_attention]
        self.start = 0  # the position of the first query of a pass: a cache holds what was read before
        self.places: dict[Place, None] = {}  # of all calls, in order
        self.hidden: dict[Place, Sequence[Index]] = {}  # of the last call at each place
        self.replaced: dict[Place, set[int]] = {}  # heads whose weights were replaced, in the last call
        self._used: set[int] = set()  # positions in `edits`
        self._masked: set[int] = set()  # positions of edits that met only what was hidden already

    def __bool__(self) -> bool:
        return bool(self.edits)

    def touch(self, place: Place) -> bool:
        """Note that attention happens at a place; whether an edit changes it."""
        self.places[place] = None
        return any(edit.touches(place) for edit in self.edits)

    def change_inputs(self, inputs: HeadInputs) -> None:
        """Apply all edits to the queries, keys or values of a call."""
        for number, edit in self._at(inputs.place):
            inputs.used = False
            edit.change_inputs(inputs)
            if inputs.used:
                self._used.add(number)

    def change_scores(self, scores: Scores) -> None:
        """Apply all edits to the scores of a call."""
        scores.start = self.start
        for number, edit in self._at(scores.place):
            scores.changed = scores.masked_before = False
            edit.change_scores(scores)
            if scores.changed:
                self._used.add(number)
            elif scores.masked_before:
                self._masked.add(number)
        self.hidden[scores.place] = scores.hidden

    def change_weights(self, weights: Weights) -> None:
        """Apply all edits to the weights of a call."""
        weights.start = self.start
        for number, edit in self._at(weights.place):
            weights.used = False
            edit.change_weights(weights)
            if weights.used:
                self._used.add(number)
        self.replaced[weights.place] = weights.replaced

    def changes(self, place: Place, what: Target) -> bool:
        """Whether an edit reads or changes inputs, scores, weights or outputs of a place."""
        return any(what in edit.changes for _, edit in self._at(place))

    def change_outputs(self, outputs: HeadOutputs) -> None:
        """Apply all edits to what the heads of a call give."""
        for number, edit in self._at(outputs.place):
            outputs.used = False
            edit.change_outputs(outputs)
            if outputs.used:
                self._used.add(number)

    def check_places(self) -> None:
        """Refuse an edit that touches none of the places noted so far."""
        self._refuse_idle(edit for edit in self.edits if not any(map(edit.touches, self.places)))

    def check_used(self) -> None:
        """Refuse an edit that has changed nothing."""
        idle = [number for number in range(len(self.edits)) if number not in self._used]
        for number in idle:
            if number in self._masked:
                raise InputError("recorders.edits.already_hidden", edit=self.edits[number])
        self._refuse_idle(self.edits[number] for number in idle)

    def _refuse_idle(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            raise InputError(
                "recorders.edits.nothing_to_change",
                edit=edit,
                places=[place.address for place in self.places],
            )

    def _at(self, place: Place) -> list[tuple[int, Edit]]:
        return [(number, edit) for number, edit in enumerate(self.edits) if edit.touches(place)]


class ActiveStates:
    """The edits that change vectors of layers, and which of them have.

    What goes into layer n of a stack of n layers is what comes out of its last one.
    """

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self.edits = [edit for edit in edits if edit.edits_states]
        self._used: set[int] = set()  # positions in `edits`

    def __bool__(self) -> bool:
        return bool(self.edits)

    def touch(self, stack: str, part: Part, layer: int) -> bool:
        """Whether an edit changes a part of a layer."""
        return any(edit.touches_states(stack, part, layer) for edit in self.edits)

    def change(self, stack: str, part: Part, layer: int, tensor: "Tensor") -> "Tensor":
        """Apply all edits to the vectors (batch, token, width) of a part of a layer."""
        states = States(stack, part, layer, tensor)
        for number, edit in enumerate(self.edits):
            if edit.touches_states(stack, part, layer):
                states.used = False
                edit.change_states(states)
                if states.used:
                    self._used.add(number)
        return states.tensor

    def check_used(self) -> None:
        """Refuse an edit that has changed nothing."""
        for number, edit in enumerate(self.edits):
            if number not in self._used:
                raise InputError("recorders.edits.no_such_part", edit=edit)


def limit_layers(layers: Mapping[str, int], edits: Sequence[Edit]) -> dict[str, int]:
    """For each stack that runs fewer layers than it has: how many. Refuses edits that fit no stack."""
    limits: dict[str, int] = {}
    for edit in edits:
        if "layers" not in edit.changes:
            continue
        if not layers:
            raise InputError("recorders.edits.no_layers_to_choose", edit=edit)
        wanted = {stack: count for stack in layers if (count := edit.limit_layers(stack)) is not None}
        if not any(count <= layers[stack] for stack, count in wanted.items()):
            stacks = [
                message("recorders.edits.stack_of_layers", stack=name_term(stack), count=count)
                for stack, count in layers.items()
            ]
            raise InputError("recorders.edits.no_such_layers", edit=edit, stacks=stacks)
        for stack, count in wanted.items():
            if count < layers[stack]:
                limits[stack] = min(count, limits.get(stack, count))
    return limits
