"""ViT: an encoder of patches, norms first, learned positions, a class token; pictures become squares.

Files have names that transformers no longer uses inside: `encoder.layer.0.attention.attention.query` is
`layers.0.attention.q_proj` in memory. Both are read; files are written with the first, as transformers does.
"""

from dataclasses import replace
from typing import Any, Literal

from glassformer.config import Head, ModelConfig
from glassformer.errors import CheckpointError
from glassformer.messages import Message
from glassformer.weights.family import (
    COMMON,
    FAMILIES,
    Family,
    Names,
    Settings,
    count_classes,
    find_head,
    read_names,
    read_number,
    require_equal,
    write_names,
)
from glassformer.weights.mapping import ROW, Operation, Table, carry, carry_layer, ignore_layer

ARCHITECTURES: dict[str, Head] = {"ViTForImageClassification": "classes", "ViTModel": "none"}
NAMES: Names = {
    "num_hidden_layers": ("layers", 12),
    "hidden_size": ("width", 768),
    "num_attention_heads": ("heads", 12),
    "intermediate_size": ("feed_forward", 3072),
    "hidden_act": ("activation", "gelu"),
    "layer_norm_eps": ("norm_epsilon", 1e-12),
    "hidden_dropout_prob": ("dropout", 0.0),
    "attention_probs_dropout_prob": ("attention_dropout", 0.0),
    "image_size": ("picture_size", 224),
    "patch_size": ("patch_size", 16),
}
FIXED: Settings = {
    "shape": "encoder",
    "positions": "learned",
    "similarity": "scaled-dot",
    "norm_position": "pre",
    "embedding_norm": False,
    "scale_embeddings": False,
    "class_token": True,
    "feed_forward_dropout": 0.0,
    "picture_fit": "stretch",
    **COMMON,
    "reads": "picture",
}
RESAMPLING: dict[int, Literal["bicubic", "bilinear"]] = {2: "bilinear", 3: "bicubic"}  # as Pillow counts them
BYTE = 1 / 255  # what their processor multiplies pixels with
# In memory on the left, in files on the right.
LIVE = {
    r"(^|\.)layers\.(\d+)\.attention\.q_proj\.": r"\1encoder.layer.\2.attention.attention.query.",
    r"(^|\.)layers\.(\d+)\.attention\.k_proj\.": r"\1encoder.layer.\2.attention.attention.key.",
    r"(^|\.)layers\.(\d+)\.attention\.v_proj\.": r"\1encoder.layer.\2.attention.attention.value.",
    r"(^|\.)layers\.(\d+)\.attention\.o_proj\.": r"\1encoder.layer.\2.attention.output.dense.",
    r"(^|\.)layers\.(\d+)\.mlp\.fc1\.": r"\1encoder.layer.\2.intermediate.dense.",
    r"(^|\.)layers\.(\d+)\.mlp\.fc2\.": r"\1encoder.layer.\2.output.dense.",
    r"(^|\.)layers\.(\d+)\.": r"\1encoder.layer.\2.",
}
ONLY_VECTOR = Operation(lambda theirs: theirs[0][0, 0], lambda ours, _: [ours[None, None]])


def read_config(settings: Settings) -> ModelConfig:
    """What a ViTConfig says, as our configuration; its processor may say more."""
    require_equal(
        settings, {"pooler_act": "tanh", "num_channels": 1 if settings.get("num_channels") == 1 else 3}
    )
    square = {name: _read_side(settings, name, NAMES[name][1]) for name in ("image_size", "patch_size")}
    head = find_head(settings, ARCHITECTURES)
    return ModelConfig(
        **FIXED,
        **read_names({**settings, **square}, NAMES),
        head=head,
        classes=count_classes(settings) if head == "classes" else 0,
        color=settings.get("num_channels", 3) == 3,
        resampling="bilinear",
    )


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The ViTConfig of this network, or why there is none."""
    choices: dict[str, tuple[object, ...]] = {"head": tuple(ARCHITECTURES.values())}
    if config.head == "classes":
        choices |= {"pooling": ("first",), "pooler": (False,)}
    settings = write_names(config, ARCHITECTURES, NAMES, FIXED, choices)
    if isinstance(settings, Message):
        return settings
    return settings | {"num_channels": 3 if config.color else 1, "qkv_bias": True}


def read_processor(config: ModelConfig, settings: Settings) -> ModelConfig:
    """The configuration with the settings of a ViTImageProcessor."""
    size = read_number({"size": _find_size(settings)}, "size", 224)
    require_equal(
        {**settings, "size": size},
        {"size": config.picture_size, "do_resize": True, "do_rescale": True, "do_center_crop": False},
    )
    if abs(float(read_number(settings, "rescale_factor", BYTE)) - BYTE) > 1e-9:
        require_equal(settings, {"rescale_factor": BYTE})
    resampling = read_number(settings, "resample", 2)
    if resampling not in RESAMPLING:
        require_equal(settings, {"resample": 2})
    normalised = read_number(settings, "do_normalize", True)
    return replace(
        config,
        resampling=RESAMPLING[resampling],
        pixel_mean=_read_colours(settings, "image_mean", 0.5) if normalised else (0.0,),
        pixel_deviation=_read_colours(settings, "image_std", 0.5) if normalised else (1.0,),
    )


def write_processor(config: ModelConfig) -> dict[str, Any]:
    """The settings of the ViTImageProcessor that prepares pictures as we do."""
    channels = 3 if config.color else 1
    side = config.picture_size
    return {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": side, "width": side},
        "resample": next(number for number, name in RESAMPLING.items() if name == config.resampling),
        "do_rescale": True,
        "rescale_factor": BYTE,
        "do_normalize": True,
        "image_mean": [*config.pixel_mean] * (channels // len(config.pixel_mean)),
        "image_std": [*config.pixel_deviation] * (channels // len(config.pixel_deviation)),
    }


def table(config: ModelConfig) -> Table:
    """ViT's names. Where queries, keys and values have no bias there, ours are zero."""
    layer, ours = "vit.encoder.layer.{}", "encoder.layers.{}"
    own = f"{layer}.attention.attention"
    rules = (
        carry("vit.embeddings.cls_token", "perception.class_vector", ONLY_VECTOR),
        carry("vit.embeddings.position_embeddings", "perception.positions.weight", ROW),
        *carry_layer(
            "vit.embeddings.patch_embeddings.projection", "perception.projection", flat_patches(config)
        ),
        *carry_layer(f"{layer}.layernorm_before", f"{ours}.attention_residual.norm"),
        *carry_layer(
            (f"{own}.query", f"{own}.key", f"{own}.value"), f"{ours}.attention.qkv", bias_optional=True
        ),
        *carry_layer(f"{layer}.attention.output.dense", f"{ours}.attention.output"),
        *carry_layer(f"{layer}.layernorm_after", f"{ours}.feed_forward_residual.norm"),
        *carry_layer(f"{layer}.intermediate.dense", f"{ours}.feed_forward.expand"),
        *carry_layer(f"{layer}.output.dense", f"{ours}.feed_forward.contract"),
        *carry_layer("vit.layernorm", "encoder.norm"),
        *carry_layer("classifier", "head.classes"),
        *ignore_layer("vit.pooler.dense"),
    )
    return Table(rules, bare=config.head == "none", prefix="vit.", other_names=LIVE)


def flat_patches(config: ModelConfig) -> Operation:
    """Their convolution (width, channel, row, column) is our matrix (width, channel · row · column)."""
    shape = (3 if config.color else 1, config.patch_size, config.patch_size)
    return Operation(lambda theirs: theirs[0].flatten(1), lambda ours, _: [ours.unflatten(1, shape)])


def _read_side(settings: Settings, name: str, default: int) -> int:
    """The side of a square, which may be given as [height, width]."""
    value = settings.get(name, default)
    if isinstance(value, list | tuple) and len(value) == 2:
        if value[0] != value[1]:
            raise CheckpointError("weights.setting.other", name=name, value=repr(value), expected="a square")
        value = value[0]
    return read_number({name: value}, name, default)


def _find_size(settings: Settings) -> Any:
    """`size` is a number in old files, then {"height": …, "width": …}; another dictionary is no square."""
    size = settings.get("size", 224)
    if isinstance(size, dict):
        return size["height"] if set(size) >= {"height", "width"} and size["height"] == size["width"] else 0
    return size


def _read_colours(settings: Settings, name: str, default: float) -> tuple[float, ...]:
    """One number for each colour; one alone where all are equal."""
    values = settings.get(name, [default])
    values = values if isinstance(values, list | tuple) and values else [values]
    numbers = tuple(float(read_number({name: each}, name, default)) for each in values)
    return numbers[:1] if len(set(numbers)) == 1 else numbers


VIT = FAMILIES.register("vit")(
    Family(ARCHITECTURES, read_config, write_config, table, read_processor, write_processor)
)
