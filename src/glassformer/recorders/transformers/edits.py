"""Edits of a model of transformers: of one attention call through the interface, and of its layers.

In:   edits; a `Call` before and after the model's own attention function; the stacks of a model and how often
      each calls self-attention.
Out:  the arguments of that function, its weights and its output, changed; a context in which stacks run fewer
      layers, and afterwards are as before.

The function forms the scores itself, so that they are changed through its arguments: scale, soft cap, bias
and mask. To run fewer layers the lists of blocks are shortened; a block that several layers share is called
less often, as the configuration says.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.place import Place, name_term
from glassformer.recorders.call import Call, allowed_by, repeat_heads
from glassformer.recorders.edits.active import ActiveEdits, limit_layers
from glassformer.recorders.edits.edit import (
    Edit,
    HeadInputs,
    HeadOutputs,
    Index,
    Projection,
    Scores,
    Weights,
    check_keys_left,
    find_relaxed,
)
from glassformer.recorders.preserve import configurations, replacing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import AttentionMap


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
        if _has_bias(call.mask):
            mask = self._copy_mask()
            call.mask = torch.where(allowed_by(mask), mask * factor, mask)

    def _flatten(self, head: int, rows: slice | list[int]) -> None:
        call = self.call
        call.own_queries = call.queries if call.own_queries is None else call.own_queries
        call.queries = _zero(call.queries, head, rows)
        if call.bias is not None:
            self.arguments["position_bias"] = call.bias = _zero(call.bias, head, rows)
        if self.bias is not None:
            self.bias = _zero(self.bias.expand(self.shape), head, rows)
        if _has_bias(call.mask):
            mask = self._copy_mask()
            call.mask = torch.where(allowed_by(mask), _zero(mask, head, rows), mask)

    def _sees(self, at: Index) -> bool:
        return self.call.mask is None or bool(allowed_by(self._copy_mask())[at].any())

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
    """Change a call before its softmax; returns arguments that replace those of the attention function."""
    if edits.changes(call.place, "inputs"):
        call.queries = _change_inputs(edits, call.place, "queries", call.queries)
        call.keys = _change_inputs(edits, call.place, "keys", call.keys)
        call.values = _change_inputs(edits, call.place, "values", call.values)
    scores = CallScores(call)
    edits.change_scores(scores)
    scores.finish()
    return scores.arguments


def _change_inputs(edits: ActiveEdits, place: Place, part: Projection, states: Tensor) -> Tensor:
    inputs = HeadInputs(place, part, states)
    edits.change_inputs(inputs)
    return inputs.tensor


def _has_bias(mask: Tensor | None) -> bool:
    """Whether a mask adds something to scores that it does not hide, as position biases."""
    return mask is not None and mask.dtype != torch.bool and bool((mask[allowed_by(mask)] != 0).any())


def _zero(tensor: Tensor, head: int, rows: slice | list[int]) -> Tensor:
    """A tensor (B, H, T, …) whose values for some queries of one head are 0."""
    tensor = tensor.clone()
    tensor[:, head, rows] = 0
    return tensor


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
    if edits.changes(call.place, "outputs"):
        outputs = HeadOutputs(call.place, output.transpose(1, 2))
        edits.change_outputs(outputs)
        output = outputs.tensor.transpose(1, 2)
    return output, changed.tensor


@contextmanager
def run_first_layers(stacks: Stacks, layers: Mapping[str, int], edits: Sequence[Edit]) -> Iterator[None]:
    """Run fewer layers of the stacks that edits limit."""
    with ExitStack() as changes:
        for stack, count in limit_layers(layers, edits).items():
            changes.enter_context(_shorten(stacks, stack, layers[stack], count))
        yield


def check_first_layers(
    maps: Iterable[AttentionMap], layers: Mapping[str, int], edits: Sequence[Edit]
) -> None:
    """Refuse a recording in which more or fewer layers ran than edits leave."""
    ran = dict.fromkeys(layers, 0)
    for each in maps:
        if each.kind == "self":
            ran[each.stack] = max(ran.get(each.stack, 0), each.layer + 1)
    for stack, count in limit_layers(layers, edits).items():
        if ran[stack] != count:
            raise InputError(
                "recorders.edits.wrong_layers", stack=name_term(stack), ran=ran[stack], wanted=count
            )


def _shorten(stacks: Stacks, stack: str, calls: int, count: int) -> AbstractContextManager[None]:
    parent, name, blocks = find_blocks(stacks, stack, calls)
    if len(blocks) == calls:
        return replacing(name, [(parent, blocks[:count])])
    name, configs = "num_hidden_layers", configurations(stacks.model)
    return replacing(name, [(each, count) for each in configs if getattr(each, name, 0) == calls])


def find_blocks(stacks: Stacks, stack: str, calls: int) -> tuple[nn.Module, str, nn.ModuleList]:
    """The list of blocks of a stack and its parent module: as many blocks as calls, or one for all calls."""
    paths = {path for module, path in stacks.paths.items() if path and stacks.find(module) in (stack, path)}
    lists = {path: stacks.model.get_submodule(path) for path in sorted(paths, key=len)}
    for count in (calls, 1):
        for path, blocks in lists.items():
            if isinstance(blocks, nn.ModuleList) and len(blocks) == count:
                above, _, name = path.rpartition(".")
                return stacks.model.get_submodule(above), name, blocks
    raise InputError("recorders.edits.no_blocks", stack=name_term(stack), calls=calls)
