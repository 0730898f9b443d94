"""A batch of edited rows through a model of transformers: rows join where their edits begin.

In:   a model, its stacks, and the edits of each row.
Out:  a context in which the model, given one text, computes all rows. Hooks on its blocks add copies of the
      unedited row; masks and positions of one row serve all of them.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import cycle
from typing import Any

from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.recorders.call import Call
from glassformer.recorders.edited_rows import EditedRows, copy_rows
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.transformers.edits import change_scores, change_weights, find_blocks
from glassformer.recorders.transformers.interface import Capture, capturing, describe, find_eager
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.states import open_states


class RowCapture(Capture):
    """All rows as the model computes them; then those that are edited here once more, one by one."""

    def __init__(self, stacks: Stacks, rows: EditedRows) -> None:
        super().__init__(stacks, "exact", lambda _: None)
        self.rows = rows

    def attend(
        self,
        module: nn.Module,
        states: tuple[Tensor, Tensor, Tensor],
        mask: Tensor | None,
        arguments: dict[str, Any],
    ) -> tuple[Tensor, Tensor | None]:
        place = self.counter.locate(module, states[0])
        eager = find_eager(module)
        call = describe(place, states, mask, arguments)
        output, weights = eager(module, call.queries, call.keys, call.values, call.mask, **arguments)
        for rows, active in self.rows.at(place, len(call.queries)):
            if self.counter.find_whole(module, states[0]):
                raise InputError("recorders.edits.windows", place=place)
            own = {name: _cut(value, rows, len(output)) for name, value in arguments.items()}
            parts = (call.queries[rows], call.keys[rows], call.values[rows])
            changed = describe(place, parts, _cut(call.mask, rows, len(output)), own)
            output[rows] = _attend_edited(eager, module, changed, own, active)
        return output, weights


def _attend_edited(
    eager: Callable[..., tuple[Tensor, Tensor]],
    module: nn.Module,
    call: Call,
    arguments: dict[str, Any],
    active: ActiveEdits,
) -> Tensor:
    arguments = arguments | change_scores(active, call)
    output, weights = eager(module, call.queries, call.keys, call.values, call.mask, **arguments)
    return change_weights(active, call, output, weights)[0]


def _cut(value: Any, rows: slice, count: int) -> Any:
    """These rows of what has one entry for each row; everything else serves all rows."""
    return value[rows] if isinstance(value, Tensor) and value.dim() > 1 and len(value) == count else value


@contextmanager
def editing_rows(stacks: Stacks, depths: Mapping[str, int], rows: EditedRows) -> Iterator[None]:
    """Inside this context, and inside `preserving_state`, one text becomes a batch."""
    with ExitStack() as hooks:
        for name, depth in depths.items():
            join = _make_join(stacks, rows, name, depth)
            for block in find_blocks(stacks, name, depth)[2]:
                hooks.enter_context(block.register_forward_pre_hook(join, with_kwargs=True))
        if any(rows.states):
            open_states(stacks, depths, rows.states_at, rows.states, hooks)
        hooks.enter_context(capturing(stacks.model, RowCapture(stacks, rows), preserved=True))
        yield


Join = Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]


def _make_join(stacks: Stacks, rows: EditedRows, name: str, depth: int) -> Join:
    """Before each layer of a stack: copies of the unedited row for those that join."""
    layers = cycle(range(depth))

    def join(
        block: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        count = rows.count(name, next(layers))
        given = list(positional)
        for argument, position in (("hidden_states", 0), *stacks.places[type(block)]):
            if isinstance(named.get(argument), Tensor):
                named = named | {argument: copy_rows(named[argument], count)}
            elif position < len(given) and isinstance(given[position], Tensor):
                given[position] = copy_rows(given[position], count)
        return tuple(given), named

    return join
