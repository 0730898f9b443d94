"""How many layers of each stack edits leave to run."""

from collections.abc import Mapping, Sequence

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.place import name_term
from glassformer.recorders.edits.edit import Edit


def limit_layers(layers: Mapping[str, int], edits: Sequence[Edit]) -> dict[str, int]:
    """For each stack that runs fewer layers than it has: how many. Refuses edits that fit no stack."""
    limits: dict[str, int] = {}
    for edit in edits:
        if "layers" not in edit.changes:
            continue
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
