"""Models of `transformers` read by their family: for the tests of weights."""

from typing import Any

from torch import Tensor

from glassformer.model.transformer import Transformer
from glassformer.weights.family import FAMILIES
from glassformer.weights.mapping import read


class Given:
    """Tensors that are already in memory."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors
        self.shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name]


def settings_of(model: Any, **changes: Any) -> dict[str, Any]:
    """The config.json of a model."""
    return model.config.to_dict() | {"architectures": [type(model).__name__]} | changes


def load(model: Any, tensors: dict[str, Tensor]) -> Transformer:
    """Our network with these weights under the names of the model's family."""
    family = FAMILIES[model.config.model_type]
    config = family.read_config(settings_of(model))
    network = Transformer(config).eval()
    state = network.state_dict()
    network.load_state_dict(dict(read(family.table(config), state, Given(tensors))))
    return network
