"""Progress of a network, reported layer by layer while it runs.

In:   a model and the reporter of its job.
Out:  progress; and a place in every layer where a cancelled job stops.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glassformer.loaded.model import LoadedModel
from glassformer.workbench.reporter import JobReporter

CHECK = 16  # tokens of a self-check, whose passes are not reported


@contextmanager
def reporting(model: LoadedModel, count: int, reporter: JobReporter) -> Iterator[None]:
    """Hooks on every layer inside this context, gone after it; the text has so many tokens."""
    layers = find_layers(model.network)
    handles: list[RemovableHandle] = []

    def before(number: int) -> Any:
        def hook(_: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
            if reporter.generating or _is_short(inputs, options, count):
                reporter.check()
            else:
                share = (number + 1) / (len(layers) + 1)
                reporter.progress("running", share, f"{number + 1}/{len(layers)}")

        return hook

    def after(_: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any], __: Any) -> None:
        if not reporter.generating and not _is_short(inputs, options, count):
            reporter.progress("statistics")

    try:
        for number, layer in enumerate(layers):
            handles.append(layer.register_forward_pre_hook(before(number), with_kwargs=True))
        if layers:
            handles.append(layers[-1].register_forward_hook(after, with_kwargs=True))
        yield
    finally:
        for handle in handles:
            handle.remove()


def _is_short(inputs: tuple[Any, ...], options: dict[str, Any], count: int) -> bool:
    """Whether a layer was given fewer tokens than the text has: then this is only a check."""
    given = (*inputs, *options.values())
    states = next((each for each in given if isinstance(each, Tensor) and each.ndim == 3), None)
    return states is not None and states.shape[1] <= CHECK < count  # (batch, token, width)


def find_layers(network: nn.Module) -> list[nn.Module]:
    """Members of the outermost lists of modules, in order: the layers of every stack."""
    layers: list[nn.Module] = []
    for child in network.children():
        if isinstance(child, nn.ModuleList):
            layers.extend(child)
        else:
            layers.extend(find_layers(child))
    return layers
