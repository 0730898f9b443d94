"""Edits of one attention call of a model that uses the attention interface.

In:   edits, and a `Call` before and after the model's own attention function.
Out:  the arguments of that function, its weights and its output, changed.

The function forms the scores itself, so that they are changed through its arguments: scale, soft cap, bias
and mask.
"""

from typing import Any

import torch
from torch import Tensor

from glassformer.recorders.call import Call
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import Index, Scores, Weights, check_keys_left, find_relaxed
from glassformer.recorders.masks import allowed_by, repeat_heads


class CallScores(Scores):
    """The scores of a call, which is changed; `arguments` replace those of the attention function."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.place, (*call.queries.shape[:3], call.keys.shape[2]))
        self.call = call
        self.arguments: dict[str, Any] = {}
        self.bias: Tensor | None = None  # what edits add

    def finish(self) -> None:
        """Put what was added into the mask."""
        if self.bias is not None:
            mask = self._copy_mask()
            self.call.mask = torch.where(allowed_by(mask), mask + self.bias, mask)

    def _multiply(self, factor: float) -> None:
        call = self.call
        call.scale *= factor
        self.arguments["scaling"] = call.scale
        if call.softcap is not None:  # f * c * tanh(x / c) is c' * tanh(f * x / c') with c' = f * c
            call.softcap = call.softcap * factor or None  # of scores that are all 0 nothing is capped
            self.arguments["softcap"] = call.softcap
        if call.bias is not None:
            self.arguments["position_bias"] = call.bias = call.bias * factor
        if self.bias is not None:
            self.bias = self.bias * factor

    def _add(self, bias: Tensor) -> None:
        bias = bias.to(self.call.queries)
        self.bias = bias if self.bias is None else self.bias + bias

    def _hide(self, at: Index) -> None:
        mask = self._copy_mask()
        mask[at] = torch.finfo(mask.dtype).min
        check_keys_left(allowed_by(mask)[at[:3]].any(-1), self.place, at)
        self.call.mask = mask

    def _copy_mask(self) -> Tensor:
        """The mask, written out for all heads, queries and keys."""
        empty = self.call.queries.new_zeros(())
        return (empty if self.call.mask is None else self.call.mask).expand(self.shape).clone()


def change_scores(edits: ActiveEdits, call: Call) -> dict[str, Any]:
    """Change a call; returns the arguments that replace those of the attention function."""
    scores = CallScores(call)
    edits.change_scores(scores)
    scores.finish()
    return scores.arguments


def change_weights(edits: ActiveEdits, call: Call, output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Output (B, T, H, V) and weights (B, H, T, S) as the model goes on with them."""
    changed = Weights(call.place, weights)
    edits.change_weights(changed)
    call.relaxed = find_relaxed(edits.edits, call.place)
    call.silenced = tuple(changed.silenced)
    if changed.replaced:
        output = output.clone()
        values = repeat_heads(call.values, changed.heads)  # (B, H, S, V)
        for head in changed.replaced:
            output[:, :, head] = changed.rows(head) @ values[:, head]
    return output, changed.tensor
