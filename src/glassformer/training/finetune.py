"""Fine-tuning: which parameters learn, how fast each layer does, and adapters of low rank (LoRA).

In:   a network, the settings `freeze`, `layer_decay` and `lora_*` of [train].
Out:  the same network with some parameters frozen, or with adapters; the weights that they make together.

LoRA (Hu et al. 2021): a matrix W stays as it is, and W + (alpha / rank) · B · A is used instead, of which A
(rank, input) and B (output, rank) learn. B begins as zeros, so the network begins as it was. The sum is
computed in full before each product: what is evaluated, recorded and saved is the very matrix that was
trained, and every other part of the network sees an ordinary one.
"""

import math
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.utils import parametrize

from glassformer.config import COUNTED, ModelConfig
from glassformer.errors import CheckpointError, ConfigurationError
from glassformer.messages import Message, message
from glassformer.registry import suggestion
from glassformer.tasks.task import Network
from glassformer.training.optim import name_layer
from glassformer.training.settings import TrainSettings

ADAPTERS = "adapters.safetensors"  # beside the weights of a checkpoint: the adapters alone
LAYERS = re.compile(r"((?P<stack>encoder|decoder) )?layers? (?P<first>\d+)(-(?P<last>\d+))?")
ATTENTION = {"attention", "cross"}  # parts of a layer whose matrices have adapters by default
INSIDE = ".parametrizations.weight."  # torch's name for the parts of a weight that is computed
ORIGINAL, DOWN, UP = f"{INSIDE}original", f"{INSIDE}0.down", f"{INSIDE}0.up"


class Adapter(nn.Module):
    """The difference that is learnt: scale · up · down."""

    def __init__(self, weight: Tensor, rank: int, scale: float) -> None:
        super().__init__()
        outputs, inputs = weight.shape
        self.scale = scale
        self.down = nn.Parameter(weight.new_empty(rank, inputs))  # A
        self.up = nn.Parameter(weight.new_zeros(outputs, rank))  # B
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))  # as `nn.Linear` and peft begin

    def forward(self, weight: Tensor) -> Tensor:
        """W + scale · B · A, in the precision of W: autocast would round the product."""
        with torch.autocast(weight.device.type, enabled=False):
            return merge(weight, self.up, self.down, self.scale)


def merge(weight: Tensor, up: Tensor, down: Tensor, scale: float) -> Tensor:
    """The weight that is used: the same computation in training and for a checkpoint."""
    return torch.addmm(weight, up, down, alpha=scale)


def prepare(network: Network, settings: TrainSettings) -> list[Message]:
    """Freeze parameters and add adapters as settings say; what a person should know about it."""
    if settings.lora_rank:
        _add_adapters(network, settings)
    names = [name for name, _ in network.named_parameters()]
    frozen = {name for pattern in settings.freeze for name in match(pattern, names)}
    for name, parameter in network.named_parameters():
        if name in frozen:
            parameter.requires_grad_(False)
    counts = count_parameters(network)
    if not counts[0]:
        raise ConfigurationError("training.finetune.all_frozen")
    if counts[0] == counts[1]:
        return []
    share = counts[0] / counts[1]
    return [message("training.finetune.trained", trained=counts[0], total=counts[1], share=share)]


def count_parameters(network: nn.Module) -> tuple[int, int]:
    """How many numbers learn, and how many there are."""
    parameters = list(network.parameters())
    return sum(each.numel() for each in parameters if each.requires_grad), sum(map(torch.numel, parameters))


def match(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a pattern means: "layers 0-3", a part such as "embeddings", or a name with wildcards."""
    names = list(names)
    layers = LAYERS.fullmatch(pattern.strip())
    if layers is not None:
        numbers = range(int(layers["first"]), int(layers["last"] or layers["first"]) + 1)
        wanted = {f"{stack}.{number}" for stack in _stacks(layers["stack"]) for number in numbers}
        found = [name for name in names if name_layer(name) in wanted]
    else:
        found = [name for name in names if pattern in name.split(".") or fnmatchcase(name, pattern)]
    if not found:
        known = dict.fromkeys(part for name in names for part in name.split(".") if not part.isdigit())
        near = suggestion(pattern, known)
        raise ConfigurationError("training.finetune.no_match", pattern=pattern, suggestion=near)
    return found


def _stacks(stack: str | None) -> tuple[str, ...]:
    return ("encoder", "decoder") if stack is None else (stack,)


def _add_adapters(network: Network, settings: TrainSettings) -> None:
    """Freeze everything, and give the chosen matrices adapters; a head that is not of words learns, too."""
    matrices = {name: each for name, each in network.named_modules() if isinstance(each, nn.Linear)}
    if settings.lora_targets is None:
        chosen = {name for name in matrices if ATTENTION & set(name.split("."))}
    else:
        chosen = {name for pattern in settings.lora_targets for name in match(pattern, matrices)}
    names = [name for name, _ in network.named_parameters()]
    also = {name for pattern in settings.lora_also or () for name in match(pattern, names)}
    config = network.config
    if settings.lora_also is None and isinstance(config, ModelConfig) and config.head in COUNTED:
        also = {name for name in names if name.startswith("head.")}
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(name in also)
    for name in sorted(chosen):
        matrix = matrices[name]
        if f"{name}.weight" not in also:
            adapter = Adapter(matrix.weight, settings.lora_rank, settings.lora_scale)
            parametrize.register_parametrization(matrix, "weight", adapter)


def merge_all(values: Mapping[str, Tensor], scale: float) -> dict[str, Tensor]:
    """The parameters of the plain network, given those with adapters by their names."""
    merged = {}
    for name, value in values.items():
        if name.endswith(ORIGINAL):
            base = name.removesuffix(ORIGINAL)
            merged[f"{base}.weight"] = merge(value, values[base + UP], values[base + DOWN], scale)
        elif INSIDE not in name:
            merged[name] = value
    return merged


def save_adapters(values: Mapping[str, Tensor], scale: float, folder: Path) -> None:
    """The adapters alone, small: what a checkpoint differs by from the model that it started from."""
    parts = {
        name.removeprefix("network.").replace(INSIDE + "0.", "."): value.contiguous()
        for name, value in values.items()
        if name.endswith((DOWN, UP))
    }
    if parts:
        save_file(parts, folder / ADAPTERS, metadata={"scale": repr(scale)})


@torch.no_grad()
def apply_adapters(network: Network, file: str | Path) -> None:
    """Add saved adapters to the weights of the network that they were learnt for."""
    weights = dict(network.named_parameters())
    with safe_open(file, "pt") as opened:
        scale = float(opened.metadata()["scale"])
        for down in (name for name in opened.keys() if name.endswith(".down")):  # noqa: SIM118 - not a mapping
            base = down.removesuffix(".down")
            weight = weights.get(f"{base}.weight")
            pieces = opened.get_tensor(f"{base}.up"), opened.get_tensor(down)
            if weight is None or weight.shape != (len(pieces[0]), pieces[1].shape[1]):
                raise CheckpointError("training.finetune.other_network", file=file, name=base)
            weight.copy_(merge(weight, pieces[0].to(weight), pieces[1].to(weight), scale))
