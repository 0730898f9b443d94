"""How far a network is, told layer by layer while it runs.

In:   a subject and someone to tell.
Out:  progress; and a place in every layer where a cancelled job stops.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.utils.hooks import RemovableHandle

from glassformer.workbench.reading import Subject, network_of
from glassformer.workbench.worker import Teller


@contextmanager
def reporting(subject: Subject, teller: Teller) -> Iterator[None]:
    """Hooks on every layer inside this context, gone after it."""
    layers = find_layers(network_of(subject))
    handles: list[RemovableHandle] = []
    last = len(layers) - 1

    def before(number: int) -> Any:
        def hook(*_: object) -> None:
            if teller.writing:
                teller.check()
            else:
                teller.progress("running", (number + 1) / (len(layers) + 1), f"{number + 1}/{len(layers)}")

        return hook

    def after(*_: object) -> None:
        if not teller.writing:
            teller.progress("statistics")

    try:
        for number, layer in enumerate(layers):
            handles.append(layer.register_forward_pre_hook(before(number)))
            if number == last:
                handles.append(layer.register_forward_hook(after))
        yield
    finally:
        for handle in handles:
            handle.remove()


def find_layers(network: nn.Module) -> list[nn.Module]:
    """Members of the outermost lists of modules, in order: the layers of every stack."""
    layers: list[nn.Module] = []
    for child in network.children():
        if isinstance(child, nn.ModuleList):
            layers.extend(child)
        else:
            layers.extend(find_layers(child))
    return layers
