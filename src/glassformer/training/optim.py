"""From gradients to better weights: AdamW, learning rates over time, clipping, averages of weights.

In:   a network, `TrainSettings`, gradients of a summed loss and how many labelled tokens were summed.
Out:  one update.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.registry import Registry
from glassformer.training.distributed import gather, local
from glassformer.training.schedules import SCHEDULES
from glassformer.training.settings import TrainSettings

SCALE = "rate_scale"  # of a group: the share of the rate that it learns with
Group = dict[str, Any]  # parameters and what an optimiser should know of them: params, weight_decay

OPTIMISERS: Registry[Callable[[list[Group], TrainSettings], torch.optim.Optimizer]] = Registry(
    "optimiser", __name__
)


def build_optimiser(network: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """The optimiser of a recipe, which shrinks matrices only: biases, norms and scales may be of any size."""
    named = {name: each for name, each in network.named_parameters() if each.requires_grad}
    scales = find_scales([name for name, _ in network.named_parameters()], settings.layer_decay)
    groups: dict[tuple[bool, float], Group] = {}
    for matrix in (True, False):
        for name, parameter in named.items():
            if (parameter.dim() >= 2) == matrix:
                decay = settings.decay if matrix else 0.0
                new = {"params": [], "weight_decay": decay, SCALE: scales[name]}
                groups.setdefault((matrix, scales[name]), new)["params"].append(parameter)
    return OPTIMISERS[settings.optimiser](list(groups.values()), settings)


def find_scales(names: Iterable[str], decay: float) -> dict[str, float]:
    """By parameter, the share of the rate that it learns with: `decay` for each layer below the head."""
    layers = {name: name_layer(name) for name in names}
    depth: dict[str, int] = {}
    for layer in layers.values():
        stack, _, number = layer.partition(".")
        if number.isdigit():
            depth[stack] = max(depth.get(stack, 0), int(number) + 1)
    deepest = max(depth.values(), default=0)
    return {name: decay ** _count_above(layer, depth, deepest) for name, layer in layers.items()}


def _count_above(layer: str, depth: Mapping[str, int], deepest: int) -> int:
    """How many parts are above: none above the head, all layers and the head above the embeddings."""
    stack, _, number = layer.partition(".")
    if number.isdigit():
        return depth[stack] - int(number)
    return deepest + 1 if stack == "embeddings" else 0


@OPTIMISERS.register("adamw")
def build_adamw(groups: list[Group], settings: TrainSettings) -> torch.optim.Optimizer:
    """AdamW."""
    device = groups[0]["params"][0].device
    on_gpu = device.type == "cuda"
    for group in groups if on_gpu else ():
        # On a GPU the rate is a tensor, one for each group: a recorded graph reads it anew at every replay.
        group["lr"] = torch.zeros((), device=device)
    return torch.optim.AdamW(
        groups,
        lr=0.0,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=True,
        capturable=on_gpu,
    )


def highest_rate(settings: TrainSettings, width: int) -> float:
    """The rate after the warm-up: that of the settings, or equation 3 of the paper at its highest."""
    return (width * settings.warmup) ** -0.5 if settings.rate is None else settings.rate


def learning_rate(step: int, settings: TrainSettings, width: int, used: float = 0.0) -> float:
    """The rate of a step, counted from 1; `used` is the used share of the allowed time."""
    peak = highest_rate(settings, width)
    if step < settings.warmup:
        return peak * step / settings.warmup
    used = max(used, min(1.0, (step - settings.warmup) / max(1, settings.steps - settings.warmup)))
    return peak * SCHEDULES[settings.schedule](step, settings, used)


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """The rate of the next update."""
    for group in optimiser.param_groups:
        scaled = rate * group.get(SCALE, 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(scaled)
        else:
            group["lr"] = scaled


class Gradients:
    """The gradients of named parameters: how long they are, all together and layer by layer."""

    def __init__(self, parameters: Mapping[str, nn.Parameter]) -> None:
        self.parameters = parameters
        layers = [name_layer(name) for name in parameters]
        self.layers = tuple(dict.fromkeys(layers))  # such as "encoder.0", in the order of the parameters
        self._layer_of = dict(zip(parameters, map(self.layers.index, layers), strict=True))
        self._last: tuple[list[int], Tensor] | None = None  # the layer of each gradient; also on the device

    def scale_and_clip(self, factor: Tensor, clip: float) -> Tensor:
        """Gradients of a sum become those of a mean, no longer than `clip`; returns how long they were.

        Both are one multiplication, so that gradients are read and written once. (1 + layers,) float64: the
        whole gradient, then each layer's. Every process must ask for it.
        """
        named = {name: each.grad for name, each in self.parameters.items() if each.grad is not None}
        lengths = gather(torch.stack(torch._foreach_norm(list(named.values())))).double()
        squares = lengths.new_zeros(len(self.layers))
        squares.index_add_(0, self._find_layers(named, lengths.device), lengths.square())
        norms = torch.cat((squares.sum()[None], squares)).sqrt() * factor
        if clip:
            factor = factor * (clip / (norms[0].float() + 1e-6)).clamp(max=1.0)
        torch._foreach_mul_([local(gradient) for gradient in named.values()], factor)
        return norms

    def _find_layers(self, names: Iterable[str], device: torch.device) -> Tensor:
        """The number of each gradient's layer, copied to the device once: nearly always all have one."""
        numbers = [self._layer_of[name] for name in names]
        if self._last is None or self._last[0] != numbers:
            self._last = numbers, torch.tensor(numbers, device=device)
        return self._last[1]


def name_layer(parameter: str) -> str:
    """The layer that a parameter is of, as "encoder.3"; outside of layers the part of the network."""
    parts = parameter.removeprefix("network.").split(".")
    if "layers" in parts[:-1]:
        place = parts.index("layers")
        return ".".join((*parts[:place], parts[place + 1]))
    return parts[0]


class MovingAverage:
    """An exponential moving average of weights; at first over few steps, so that it starts warm."""

    def __init__(self, parameters: Sequence[nn.Parameter], keep: float) -> None:
        self.keep = keep
        self.parameters = list(parameters)
        self.values = [parameter.detach().clone() for parameter in self.parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        keep = min(self.keep, (1 + step) / (10 + step))
        values = [local(value) for value in self.values]
        torch._foreach_lerp_(values, [local(parameter.detach()) for parameter in self.parameters], 1 - keep)


def average_weights(states: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several checkpoints, summed in float64; whole numbers (counters) are the last one's."""
    sums: dict[str, Tensor] = {}
    last: Mapping[str, Tensor] = {}
    count = 0
    for state in states:
        count += 1
        last = state
        for name, tensor in state.items():
            if tensor.is_floating_point():
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
    return {
        name: (sums[name] / count).to(tensor.dtype) if name in sums else tensor
        for name, tensor in last.items()
    }
