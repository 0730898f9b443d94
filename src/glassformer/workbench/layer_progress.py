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
from glassformer.model.transformer import Transformer
from glassformer.workbench.reporter import JobReporter

CHECK = 16  # tokens of a self-check, whose passes are not reported


@contextmanager
def reporting(model: LoadedModel, count: int, reporter: JobReporter) -> Iterator[None]:
    """Hooks on every layer inside this context, gone after it; the text has so many tokens."""
    layers = find_layers(model.network)
    depth = count_layers(model.network, len(layers))
    handles: list[RemovableHandle] = []
    calls = 0  # of layers in this pass: one block may be used at every depth

    def before(layer: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        nonlocal calls
        if layer is layers[0] and depth == len(layers):
            calls = 0  # another pass, though an edit may have left the last one unfinished
        if reporter.generating or _is_short(inputs, options, count):
            reporter.check()
        else:
            calls = calls % depth + 1
            reporter.progress("running", calls / (depth + 1), f"{calls}/{depth}")

    def after(_: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any], __: Any) -> None:
        if calls == depth and not reporter.generating and not _is_short(inputs, options, count):
            reporter.progress("statistics")

    try:
        for layer in layers:
            handles.append(layer.register_forward_pre_hook(before, with_kwargs=True))
            handles.append(layer.register_forward_hook(after, with_kwargs=True))
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


def count_layers(network: nn.Module, found: int) -> int:
    """How many layers a pass runs: more than found where one block is used at every depth, as in ALBERT."""
    if isinstance(network, Transformer):
        return sum(network.config.depth.values())
    return max(found, getattr(getattr(network, "config", None), "num_hidden_layers", 0) or 0)
