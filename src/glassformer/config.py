"""The configuration of a network, and reading such settings from TOML, JSON or a dictionary.

In:   values that a person wrote.
Out:  a frozen `ModelConfig` or `RecurrentConfig` that is possible, or an error that names the setting.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from glassformer.errors import ConfigurationError
from glassformer.messages import Message, literal, message
from glassformer.registry import suggestion

LARGEST_SIZE = 2**31 - 1  # a typing error is refused before it takes all memory or all day
LARGEST_SIZES = {"layers": 10_000, "decoder_layers": 10_000, "width": 1_000_000, "heads": 1_000_000}

Shape = Literal["encoder", "decoder", "encoder-decoder"]
Positions = Literal["sinusoidal", "sinusoidal-halves", "learned", "rotary", "relative", "none"]
Similarity = Literal["scaled-dot", "dot", "bilinear", "additive", "cosine"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]
Head = Literal["none", "language", "masked", "classes"]
Pooling = Literal["first", "last", "mean", "max"]

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A Transformer in about thirty settings; GPT-2, BERT, ALBERT and the paper's are values of it."""

    vocabulary_size: int  # how many different tokens there are
    shape: Shape = "encoder-decoder"  # which stacks the network has (figure 1 of the paper: both)
    layers: int = 6  # blocks in the encoder, or in the decoder where it is alone
    decoder_layers: int | None = None  # in the decoder of an encoder-decoder; None: as many as `layers`
    width: int = 512  # of the residual stream, d_model
    heads: int = 8
    feed_forward: int = 2048  # width inside the position-wise feed-forward network
    embedding_width: int | None = None  # narrower embeddings, widened by a projection (ALBERT); None: `width`
    max_length: int = 512  # the longest sequence, in tokens
    segments: int = 0  # kinds of segment (BERT's token types); 0: none

    positions: Positions = "sinusoidal"
    similarity: Similarity = "scaled-dot"  # how a query is compared with a key
    basic_attention: bool = False  # no projections at all: y = softmax(x xᵀ) x
    best_keys: int | None = None  # hard attention: only the k best keys are seen; None: soft, all keys
    activation: Activation = "relu"
    norm: Literal["layer", "batch"] = "layer"
    norm_position: Literal["pre", "post"] = "post"
    norm_epsilon: float = 1e-5
    embedding_norm: bool = False  # a norm right after the embeddings (BERT, ALBERT)
    scale_embeddings: bool = True  # times √width, section 3.4 of the paper
    residual_scale: bool = False  # a learned factor on every sub-layer before it is added
    share_layers: bool = False  # one block, used at every depth (ALBERT)

    head: Head = "language"  # what stands on top
    tie_embeddings: bool = True  # output vectors are the input embeddings
    output_bias: bool = False  # one bias for each word of the vocabulary
    relation: bool = False  # beside masked words: does the second text follow the first? (BERT, ALBERT)
    classes: int = 0  # for `head = "classes"`
    pooling: Pooling = "first"  # one vector of many, for classes; in a decoder only the last saw all
    pooler: bool = False  # a dense layer and tanh between pooling and classes (BERT)

    dropout: float = 0.1
    attention_dropout: float = 0.0
    feed_forward_dropout: float = 0.0  # of what the activation switched on (Marian's activation_dropout)
    padding_id: int = 0
    start_id: int | None = None  # what a decoder is given before the first word
    end_id: int | None = None  # where generation stops

    def __post_init__(self) -> None:
        check_types(self)
        _check_numbers(self)
        _check_combinations(self)

    @property
    def head_width(self) -> int:
        """d_k, the width of one head's queries, keys and values."""
        return self.width // self.heads

    @property
    def has_encoder(self) -> bool:
        return self.shape != "decoder"

    @property
    def has_decoder(self) -> bool:
        return self.shape != "encoder"

    @property
    def depth(self) -> dict[str, int]:
        """Blocks in each stack, by the stack's name."""
        decoder = self.layers if self.shape == "decoder" else self.decoder_layers or self.layers
        depths = {"encoder": self.layers, "decoder": decoder}
        return {stack: depths[stack] for stack in depths if stack in self.shape}


@dataclass(frozen=True, slots=True)
class RecurrentConfig:
    """The encoder-decoders before the Transformer: a fixed context C, or attention with a changing Cᵢ."""

    vocabulary_size: int
    context: Literal["fixed", "attention"] = "attention"  # one C for all words, or Bahdanau's Cᵢ for each
    cell: Literal["gru", "lstm"] = "gru"
    layers: int = 1
    width: int = 256  # of the decoder's state
    embedding_width: int = 256
    bidirectional: bool = True  # the encoder reads in both directions
    max_length: int = 512
    dropout: float = 0.1
    tie_embeddings: bool = True
    padding_id: int = 0
    start_id: int | None = None
    end_id: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        _check_sizes(self, "vocabulary_size", "layers", "width", "embedding_width", "max_length")
        check_shares(self, "dropout")
        _check_ids(self)
        if self.bidirectional and self.width % 2:
            raise ConfigurationError("config.odd_width", width=self.width)


NetworkConfig = ModelConfig | RecurrentConfig


def read_settings(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Make a frozen dataclass from a mapping; an unknown key is an error that offers the nearest name."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            near = suggestion(key, fields)
            raise ConfigurationError("config.unknown", kind=kind.__name__, key=key, suggestion=near)
    needed = [
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in needed if name not in values]
    if missing:
        raise ConfigurationError("config.missing", kind=kind.__name__, names=missing)
    return kind(**values)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError("config.unreadable", path=path, reason=str(error.strerror)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError("config.not_toml", path=path, error=str(error)) from error


def check_types(settings: Any) -> None:
    """Refuse a value that is not of its field's declared type: a misspelt choice, a string for a number."""
    hints = get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if not _is_of(value, hints[field.name]):
            shown = value if isinstance(value, str | int | float | None) else literal(repr(value))
            wanted = _name_type(hints[field.name])
            raise ConfigurationError("config.wrong_type", name=field.name, value=shown, wanted=wanted)


def _is_of(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return any(
            value is choice or (type(value) is type(choice) and value == choice) for choice in get_args(hint)
        )
    if get_origin(hint) in (Union, UnionType):
        return any(_is_of(value, choice) for choice in get_args(hint))
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_is_of(item, get_args(hint)[0]) for item in value)
    origin = get_origin(hint) or hint
    return isinstance(value, origin) if isinstance(origin, type) else True


def _name_type(hint: Any) -> Message:
    if get_origin(hint) is Literal:
        return message("config.types.choice", choices=tuple(map(repr, get_args(hint))))
    if get_origin(hint) in (Union, UnionType):
        return message("config.types.union", types=tuple(map(_name_type, get_args(hint))))
    if get_origin(hint) is list:
        return message("config.types.list", type=_name_type(get_args(hint)[0]))
    name = getattr(get_origin(hint) or hint, "__name__", str(hint))
    return message(f"config.types.{name}", default=name)


def check_least(settings: Any, **least: int) -> None:
    """Refuse settings below their least value; None is allowed."""
    for name, minimum in least.items():
        value = getattr(settings, name)
        if value is not None and not value >= minimum:  # NaN is refused, too
            raise ConfigurationError("settings.too_small", name=name, value=value, least=minimum)


def check_shares(settings: Any, *names: str) -> None:
    """Refuse settings that are not at least 0 and below 1."""
    for name in names:
        if not 0 <= getattr(settings, name) < 1:
            raise ConfigurationError("settings.not_a_share", name=name, value=getattr(settings, name))


def _check_sizes(settings: Any, *names: str) -> None:
    check_least(settings, **dict.fromkeys(names, 1))
    for name in names:
        value, most = getattr(settings, name), LARGEST_SIZES.get(name, LARGEST_SIZE)
        if value is not None and value > most:
            raise ConfigurationError("settings.too_large", name=name, value=value, most=most)


def _check_ids(settings: Any) -> None:
    for name in ("padding_id", "start_id", "end_id"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value < settings.vocabulary_size:
            size = settings.vocabulary_size
            raise ConfigurationError("config.no_id", name=name, value=value, size=size, last=size - 1)


def _check_numbers(config: ModelConfig) -> None:
    sizes = ("vocabulary_size", "layers", "decoder_layers", "width", "heads", "feed_forward")
    _check_sizes(config, *sizes, "embedding_width", "max_length", "best_keys")
    check_shares(config, "dropout", "attention_dropout", "feed_forward_dropout")
    _check_ids(config)
    if config.segments < 0 or config.classes < 0:
        raise ConfigurationError("config.negative_count")
    if not 0 < config.norm_epsilon < 1:
        raise ConfigurationError("config.wrong_epsilon", value=config.norm_epsilon)
    if config.width % config.heads:
        divisors = [heads for heads in range(1, config.width + 1) if config.width % heads == 0]
        near = min(divisors, key=lambda heads: abs(heads - config.heads))
        raise ConfigurationError("config.uneven_heads", width=config.width, heads=config.heads, near=near)


def _check_combinations(config: ModelConfig) -> None:
    if config.positions == "rotary" and config.head_width % 2:
        raise ConfigurationError("config.odd_rotary_width", width=config.head_width)
    if config.positions.startswith("sinusoidal") and (config.embedding_width or config.width) % 2:
        raise ConfigurationError("config.odd_sinusoidal_width")
    if config.basic_attention and config.similarity in ("bilinear", "additive"):
        raise ConfigurationError("config.basic_with_parameters", similarity=config.similarity)
    if config.head == "classes" and config.classes < 1:
        raise ConfigurationError("config.no_classes")
    if config.head == "classes" and config.has_decoder and config.has_encoder:
        raise ConfigurationError("config.classes_of_two_stacks")
    if config.head == "masked" and config.shape != "encoder":
        raise ConfigurationError("config.masked_without_encoder")
    if config.relation and (config.head != "masked" or config.segments < 2):
        raise ConfigurationError("config.relation_without_mask")
    if config.shape == "encoder-decoder" and config.head == "none":
        raise ConfigurationError("config.no_output")
