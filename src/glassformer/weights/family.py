"""What a family of networks is: its names, its settings and the way between those and ours.

In:   the dictionary of a foreign config.json.
Out:  a `ModelConfig`, or an error that names the setting which our network does not have; and the reverse.

A family is one file in this folder that registers a `Family` in `FAMILIES`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from glassformer.config import Activation, Head, ModelConfig
from glassformer.errors import CheckpointError
from glassformer.messages import Message, message
from glassformer.registry import Registry, suggestion
from glassformer.weights.mapping import Table

Settings = Mapping[str, Any]  # a foreign config.json

ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "silu": "silu",
    "swish": "silu",
}
FOREIGN_ACTIVATIONS: dict[Activation, str] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu-tanh": "gelu_new",
    "silu": "silu",
}


@dataclass(frozen=True, slots=True)
class Family:
    """GPT-2, BERT … : everything that reading and writing its folders needs."""

    model_type: str  # in config.json
    architectures: Mapping[str, Head]  # class names in `architectures`, and the head that each has
    read_config: Callable[[Settings], ModelConfig]
    write_config: Callable[[ModelConfig], dict[str, Any] | Message]  # or the reason why it cannot be
    table: Callable[[ModelConfig], Table]


FAMILIES: Registry[Family] = Registry("weight_family", "glassformer.weights")


def find_head(settings: Settings, architectures: Mapping[str, Head]) -> Head:
    """The head that `architectures` promises."""
    named = settings.get("architectures")
    if not isinstance(named, list) or len(named) != 1 or not isinstance(named[0], str):
        raise CheckpointError("weights.no_architecture", value=repr(named), known=list(architectures))
    if named[0] not in architectures:
        raise CheckpointError(
            "weights.unknown_architecture", name=named[0], suggestion=suggestion(named[0], architectures)
        )
    return architectures[named[0]]


def find_architecture(config: ModelConfig, architectures: Mapping[str, Head]) -> str:
    """The first class name that has the head of this configuration."""
    return next(name for name, head in architectures.items() if head == config.head)


def read_int(settings: Settings, name: str, default: int) -> int:
    """A whole number of the foreign configuration."""
    value = settings.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise CheckpointError("weights.setting.integer", name=name, value=repr(value))
    return value


def read_float(settings: Settings, name: str, default: float) -> float:
    """A number of the foreign configuration."""
    value = settings.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise CheckpointError("weights.setting.number", name=name, value=repr(value))
    return float(value)


def read_bool(settings: Settings, name: str, default: bool) -> bool:
    """A boolean of the foreign configuration."""
    value = settings.get(name, default)
    if not isinstance(value, bool):
        raise CheckpointError("weights.setting.boolean", name=name, value=repr(value))
    return value


def read_token_id(settings: Settings, name: str, vocabulary: int, default: int | None = None) -> int | None:
    """A special token's id: of several the first; None for one outside the vocabulary (it cannot occur)."""
    value = settings.get(name, default)
    if isinstance(value, list) and value:
        value = value[0]
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise CheckpointError("weights.setting.token_id", name=name, value=repr(value))
    return value if 0 <= value < vocabulary else None


def read_activation(settings: Settings, name: str, default: str) -> Activation:
    """The activation under our name."""
    value = settings.get(name, default)
    if value not in ACTIVATIONS:
        raise CheckpointError(
            "weights.setting.activation",
            name=name,
            value=repr(value),
            suggestion=suggestion(str(value), ACTIVATIONS),
        )
    return ACTIVATIONS[value]


def count_classes(settings: Settings) -> int:
    """As many as there are labels; two where nothing is said, as `transformers` has it."""
    labels = settings.get("id2label")
    return len(labels) if isinstance(labels, dict) and labels else read_int(settings, "num_labels", 2)


def require_equal(settings: Settings, wanted: Mapping[str, object]) -> None:
    """Refuse a setting that is there and has another value than our network can have."""
    for name, value in wanted.items():
        if name in settings and settings[name] is not None and settings[name] != value:
            raise CheckpointError(
                "weights.setting.other", name=name, value=repr(settings[name]), expected=repr(value)
            )


def find_difference(config: ModelConfig, wanted: Mapping[str, Collection[object]]) -> Message | None:
    """The first setting that a family does not have: the reason why it cannot be written."""
    for name, values in wanted.items():
        value = getattr(config, name)
        if value not in values:
            expected = [repr(choice) for choice in values]
            return message("weights.other_format.value", name=name, value=repr(value), expected=expected)
    return None
