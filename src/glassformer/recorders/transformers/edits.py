"""What edits do to one attention call of a model of transformers.

In:   edits (see edits.py) and a `Call` before and after the model's own attention function.
Out:  the arguments, the weights and the output, changed. An edit that met nothing is an error, never silence.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.recorders.edits import AblateHead, AnyEdit, CutEdge, FirstLayers, ScaleScores
from glassformer.recorders.masks import allowed_by, repeat_heads

if TYPE_CHECKING:
    from glassformer.recorders.transformers.interface import Call


class Changes:
    """The edits of one recording, and which of them have met anything."""

    def __init__(self, edits: Sequence[AnyEdit]) -> None:
        self.edits = edits
        self.places: dict[Place, None] = {}  # in order
        self.met: set[AnyEdit] = {edit for edit in edits if isinstance(edit, FirstLayers)}

    def at(self, place: Place) -> "Change | None":
        """What is to be done at a place, if anything."""
        self.places[place] = None
        here = [edit for edit in self.edits if edit.touches(place) and not isinstance(edit, FirstLayers)]
        return Change(self, here) if here else None

    def check(self) -> None:
        """Refuse edits that met nothing."""
        for edit in self.edits:
            if edit not in self.met:
                there_are = "; ".join(map(str, self.places))
                raise InputError(f"There was nothing to edit ({edit}); there are: {there_are}.")


class Change:
    """What is to be done in one call: before the model's function, then after it."""

    def __init__(self, changes: Changes, edits: Sequence[AnyEdit]) -> None:
        self.changes = changes
        self.edits = edits

    def on_scores(self, call: "Call") -> dict[str, Any]:
        """Words that replace those of the call, which is changed as well."""
        words: dict[str, Any] = {}
        for edit in self.edits:
            if isinstance(edit, ScaleScores):
                self.changes.met.add(edit)
                call.scale *= edit.factor
                words["scaling"] = call.scale
                if call.softcap is not None:  # f * c * tanh(x / c) is c' * tanh(f * x / c') with c' = f * c
                    words["softcap"] = call.softcap = call.softcap * edit.factor
                if call.bias is not None:
                    words["position_bias"] = call.bias = call.bias * edit.factor
            elif isinstance(edit, CutEdge):
                self._cut(edit, call)
        return words

    def on_weights(self, call: "Call", output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Output (B, T, H, V) and weights (B, H, T, S) as they go on."""
        for edit in self.edits:
            if isinstance(edit, AblateHead):
                self.changes.met.add(edit)
                weights = edit.change_weights(weights, call.place)
                values = repeat_heads(call.values, weights.shape[1])[:, edit.head]  # (B, S, V)
                output = output.clone()
                output[:, :, edit.head] = weights[:, edit.head] @ values
        return output, weights

    def _cut(self, edit: CutEdge, call: "Call") -> None:
        batch, heads, queries, _ = call.queries.shape
        shape = (batch, heads, queries, call.keys.shape[2])
        at = edit.find(shape, call.place, queries)
        if at is None:
            return
        self.changes.met.add(edit)
        empty = call.queries.new_zeros(())
        mask = (empty if call.mask is None else call.mask).expand(shape).clone()
        mask[at] = torch.finfo(mask.dtype).min
        edit.check_rest(allowed_by(mask)[at[:3]].long())
        call.mask = mask
