"""What a family of networks is: its names, its settings and the way between those and ours.

In:   the dictionary of a foreign config.json.
Out:  a `ModelConfig`, or an error that names the setting which our network does not have; and the reverse.

A family is one file in this folder that registers a `Family` in `FAMILIES`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from glassformer.config import Activation, Head, ModelConfig
from glassformer.errors import CheckpointError
from glassformer.messages import Message, message
from glassformer.registry import Registry, suggestion
from glassformer.weights.mapping import Table

Settings = Mapping[str, Any]  # a foreign config.json
Names = Mapping[str, tuple[str, Any]]  # their name of a setting: our name, and their default
Number = TypeVar("Number", bool, int, float)

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
# Our settings that are the same in every family.
COMMON: dict[str, Any] = {
    "norm": "layer",
    "basic_attention": False,
    "best_keys": None,
    "key_heads": None,
    "window": None,
    "query_key_norm": False,
    "score_scale": None,
    "residual_scale": False,
    "embedding_width": None,
    "share_layers": False,
    "reads": "text",
}
_WRONG_TYPE = {
    bool: "weights.setting.boolean",
    int: "weights.setting.integer",
    float: "weights.setting.number",
}


@dataclass(frozen=True, slots=True)
class Family:
    """Everything that reading and writing the folders of a family needs; its name is `model_type` there."""

    architectures: Mapping[str, Head]  # class names in `architectures`, and the head that each has
    read_config: Callable[[Settings], ModelConfig]
    write_config: Callable[[ModelConfig], dict[str, Any] | Message]  # or the reason why it cannot be
    table: Callable[[ModelConfig], Table]
    # The same for preprocessor_config.json, of families that read pictures or sounds.
    read_processor: Callable[[ModelConfig, Settings], ModelConfig] | None = None
    write_processor: Callable[[ModelConfig], dict[str, Any]] | None = None


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


def read_names(settings: Settings, names: Names) -> dict[str, Any]:
    """Our settings from theirs; what two of their names mean must have one value."""
    vocabulary = read_number(settings, "vocab_size", names["vocab_size"][1]) if "vocab_size" in names else 0
    values: dict[str, Any] = {}
    for theirs, (ours, default) in names.items():
        value: Any
        if ours == "activation":
            value = read_activation(settings, theirs, default)
        elif ours.endswith("_id"):
            value = read_token_id(settings, theirs, vocabulary, default)
        else:
            value = read_number(settings, theirs, default)
        if ours in values and values[ours] != value:
            first = next(name for name in names if names[name][0] == ours)
            raise CheckpointError(
                "weights.setting.differ", name=first, value=values[ours], other=theirs, second=value
            )
        values[ours] = value
    return values


def write_names(
    config: ModelConfig,
    architectures: Mapping[str, Head],
    names: Names,
    fixed: Settings,
    choices: Mapping[str, Collection[object]],
) -> dict[str, Any] | Message:
    """Their settings from ours, or the first one (of those fixed or to choose from) that they do not have."""
    for ours, possible in [*((name, (value,)) for name, value in fixed.items()), *choices.items()]:
        value = getattr(config, ours)
        if value not in possible:
            expected = [repr(choice) for choice in possible]
            return message("weights.other_format.value", name=ours, value=repr(value), expected=expected)
    architecture = next(
        name
        for name, head in architectures.items()
        if head == config.head and name.endswith("ForPreTraining") == config.relation
    )
    values = {theirs: getattr(config, ours) for theirs, (ours, _) in names.items()}
    activation = next(theirs for theirs, (ours, _) in names.items() if ours == "activation")
    values[activation] = "gelu_new" if config.activation == "gelu-tanh" else config.activation
    return {"architectures": [architecture], **values}


def read_number(settings: Settings, name: str, default: Number) -> Number:
    """A number or boolean of the foreign configuration, of the type that the default has."""
    value = settings.get(name, default)
    kind = type(default)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise CheckpointError(_WRONG_TYPE[kind], name=name, value=repr(value))
    return kind(value)


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
    if not isinstance(value, str) or value not in ACTIVATIONS:
        near = suggestion(str(value), ACTIVATIONS)
        raise CheckpointError("weights.setting.activation", name=name, value=repr(value), suggestion=near)
    return ACTIVATIONS[value]


def count_classes(settings: Settings) -> int:
    """As many as there are labels; two where nothing is said, as `transformers` has it."""
    labels = settings.get("id2label")
    return len(labels) if isinstance(labels, dict) and labels else read_number(settings, "num_labels", 2)


def require_equal(settings: Settings, wanted: Mapping[str, object]) -> None:
    """Refuse a setting that is there and has another value than our network can have."""
    for name, value in wanted.items():
        if name in settings and settings[name] is not None and settings[name] != value:
            raise CheckpointError(
                "weights.setting.other", name=name, value=repr(settings[name]), expected=repr(value)
            )
