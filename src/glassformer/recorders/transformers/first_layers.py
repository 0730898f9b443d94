"""Fewer layers of a stack of a model of transformers.

In:   a model, how often each stack calls self-attention, and edits.
Out:  a context in which the lists of blocks are shorter; afterwards they are the same lists as before. A
      block that several layers share is called less often: the configuration has the number of calls.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from torch import nn

from glassformer.errors import InputError
from glassformer.place import name_term
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.edits.layers import limit_layers
from glassformer.recorders.preserve import configurations
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import AttentionMap


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


@contextmanager
def _shorten(stacks: Stacks, stack: str, calls: int, count: int) -> Iterator[None]:
    parent, name, blocks = _find_blocks(stacks, stack, calls)
    if len(blocks) == calls:
        try:
            setattr(parent, name, blocks[:count])
            yield
        finally:
            setattr(parent, name, blocks)
        return
    counting = [
        each for each in configurations(stacks.model) if getattr(each, "num_hidden_layers", 0) == calls
    ]
    try:
        for config in counting:
            config.num_hidden_layers = count
        yield
    finally:
        for config in counting:
            config.num_hidden_layers = calls


def _find_blocks(stacks: Stacks, stack: str, calls: int) -> tuple[nn.Module, str, nn.ModuleList]:
    """The list of blocks of a stack and its parent module: as many blocks as calls, or one for all calls."""
    paths = {path for module, path in stacks.paths.items() if path and stacks.find(module) in (stack, path)}
    lists = {path: stacks.model.get_submodule(path) for path in sorted(paths, key=len)}
    for count in (calls, 1):
        for path, blocks in lists.items():
            if isinstance(blocks, nn.ModuleList) and len(blocks) == count:
                above, _, name = path.rpartition(".")
                return stacks.model.get_submodule(above), name, blocks
    raise InputError("recorders.edits.no_blocks", stack=name_term(stack), calls=calls)
