"""What a network is made of, in plain words, and the reading of such words from TOML, JSON or a dictionary.

In:   values that a person wrote.
Out:  a frozen `ModelConfig` or `RecurrentConfig` that is possible, or an error that names the word.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from glassformer.errors import ConfigurationError
from glassformer.registry import suggest

LARGEST = 2**31 - 1  # of any count: a slip of the pen is refused before it takes all memory or all day
MOST = {"layers": 10_000, "decoder_layers": 10_000, "width": 1_000_000, "heads": 1_000_000}

Shape = Literal["encoder", "decoder", "encoder-decoder"]
Positions = Literal["sinusoidal", "sinusoidal-halves", "learned", "rotary", "relative", "none"]
Similarity = Literal["scaled-dot", "dot", "bilinear", "additive", "cosine"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]
Head = Literal["none", "language", "masked", "classes"]
Pooling = Literal["first", "last", "mean", "max"]

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A Transformer in about thirty words; GPT-2, BERT, ALBERT and the paper's are values of it."""

    vocabulary_size: int  # how many different tokens there are
    shape: Shape = "encoder-decoder"  # which stacks the network has (figure 1 of the paper: both)
    layers: int = 6  # blocks in the encoder, or in the decoder where it is alone
    decoder_layers: int | None = (
        None  # blocks in the decoder of an encoder-decoder; None: as many as `layers`
    )
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
        decoder = (
            self.layers if self.decoder_layers is None or self.shape == "decoder" else self.decoder_layers
        )
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
        _check_positive(self, ("vocabulary_size", "layers", "width", "embedding_width", "max_length"))
        _check_share(self, ("dropout",))
        _check_ids(self)
        if self.bidirectional and self.width % 2:
            raise ConfigurationError(
                f"A bidirectional encoder halves its width, but {self.width} is odd; choose an even `width`."
            )


def read_settings(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Make a frozen dataclass from a mapping; an unknown key is an error that offers the nearest name."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            raise ConfigurationError(f"{kind.__name__} has no setting {key!r}.{suggest(key, fields)}")
    needed = [
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in needed if name not in values]
    if missing:
        raise ConfigurationError(f"{kind.__name__} needs {', '.join(missing)}; add it to the configuration.")
    return kind(**values)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file; a file that is absent or malformed is said in one sentence."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {error.strerror}. Check the path.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}. Mend that line.") from error


def check_types(settings: Any) -> None:
    """Refuse a value that is not of its field's declared type: a word misspelt, a string for a number."""
    hints = get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if not _is_of(value, hints[field.name]):
            raise ConfigurationError(
                f"{field.name} = {value!r} is not possible; it must be {_in_words(hints[field.name])}."
            )


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


def _in_words(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(repr(choice) for choice in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_in_words(choice) for choice in get_args(hint))
    if get_origin(hint) is list:
        return f"a list, each of which is {_in_words(get_args(hint)[0])}"
    if get_origin(hint) is dict:
        return "a table"
    names = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "text",
        type(None): "nothing",
    }
    return names.get(hint, str(hint))


def _check_positive(settings: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise ConfigurationError(f"{name} = {value} is too small; it must be at least 1.")
        most = MOST.get(name, LARGEST)
        if value is not None and value > most:
            raise ConfigurationError(f"{name} = {value} is too large; it must be at most {most}.")


def _check_share(settings: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(settings, name)
        if not 0 <= value < 1:
            raise ConfigurationError(f"{name} = {value} is out of range; it must be at least 0 and below 1.")


def _check_ids(settings: Any) -> None:
    for name in ("padding_id", "start_id", "end_id"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value < settings.vocabulary_size:
            raise ConfigurationError(
                f"{name} = {value} is not in the vocabulary of {settings.vocabulary_size}; "
                f"it must be from 0 to {settings.vocabulary_size - 1}."
            )


def _check_numbers(config: ModelConfig) -> None:
    sizes = ("vocabulary_size", "layers", "decoder_layers", "width", "heads", "feed_forward")
    _check_positive(config, (*sizes, "embedding_width", "max_length", "best_keys"))
    _check_share(config, ("dropout", "attention_dropout", "feed_forward_dropout"))
    _check_ids(config)
    if config.segments < 0 or config.classes < 0:
        raise ConfigurationError("segments and classes count things; they cannot be below 0.")
    if not 0 < config.norm_epsilon < 1:
        raise ConfigurationError(
            f"norm_epsilon = {config.norm_epsilon} must be above 0 and below 1; 1e-5 is usual."
        )
    if config.width % config.heads:
        divisors = [heads for heads in range(1, config.width + 1) if config.width % heads == 0]
        near = min(divisors, key=lambda heads: abs(heads - config.heads))
        raise ConfigurationError(
            f"width = {config.width} cannot be divided among heads = {config.heads}; "
            f"choose a number of heads that divides it, such as {near}."
        )


def _check_combinations(config: ModelConfig) -> None:
    if config.positions == "rotary" and config.head_width % 2:
        raise ConfigurationError(
            f"Rotary positions turn pairs of features, but a head is {config.head_width} wide; "
            "choose an even head width."
        )
    if config.positions.startswith("sinusoidal") and (config.embedding_width or config.width) % 2:
        raise ConfigurationError("Sinusoidal positions come as sine and cosine pairs; choose an even width.")
    if config.basic_attention and config.similarity in ("bilinear", "additive"):
        raise ConfigurationError(
            f"Basic attention has no parameters, but {config.similarity!r} similarity has; "
            "choose 'dot', 'scaled-dot' or 'cosine', or set basic_attention = false."
        )
    if config.head == "classes" and config.classes < 1:
        raise ConfigurationError("A classifier needs to know how many classes there are; set `classes`.")
    if config.head == "classes" and config.has_decoder and config.has_encoder:
        raise ConfigurationError("A classifier stands on one stack; set shape to 'encoder' or 'decoder'.")
    if config.head == "masked" and config.shape != "encoder":
        raise ConfigurationError("Masked words are guessed by an encoder; set shape = 'encoder'.")
    if config.relation and (config.head != "masked" or config.segments < 2):
        raise ConfigurationError(
            "Two texts are told apart beside masked words; set head = 'masked' and segments = 2."
        )
    if config.shape == "encoder-decoder" and config.head == "none":
        raise ConfigurationError(
            "An encoder-decoder without an output cannot generate; set head = 'language'."
        )
