"""The configuration of a network.

In:   values that a person wrote.
Out:  a frozen `ModelConfig` or `RecurrentConfig` that is possible, or an error that names the setting.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from glassformer.errors import ConfigurationError
from glassformer.settings import CountOrZero, Fraction, Limits, Positive, Settings, Share, UpToOne

# A typing error is refused before it takes all memory or all day.
Size = Annotated[int, Limits(least=1, most=2**31 - 1)]
Width = Annotated[int, Limits(least=1, most=1_000_000)]
Depth = Annotated[int, Limits(least=1, most=10_000)]

Vocabulary = Annotated[int, Limits(least=0, most=2**31 - 1)]

Reads = Literal["text", "picture", "sound"]
Shape = Literal["encoder", "decoder", "encoder-decoder"]
Positions = Literal["sinusoidal", "sinusoidal-halves", "learned", "rotary", "relative", "alibi", "none"]
OF_PICTURES: tuple[Positions, ...] = ("learned", "sinusoidal", "rotary", "none")  # know rows and columns
INSIDE_ATTENTION: tuple[Positions, ...] = ("rotary", "relative", "alibi", "none")  # no table that could end
Similarity = Literal["scaled-dot", "dot", "bilinear", "additive", "cosine"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]
Head = Literal["none", "language", "masked", "classes", "tags", "numbers"]
COUNTED: tuple[Head, ...] = ("classes", "tags", "numbers")  # heads with `classes` outputs
Pooling = Literal["first", "last", "mean", "max"]


@dataclass(frozen=True, slots=True)
class ModelConfig(Settings):
    """A Transformer in about fifty settings: GPT-2, BERT, ViT, Whisper and the paper's are values of it.

    >>> config = gf.ModelConfig(vocabulary_size=100, shape="decoder", layers=2, width=32, heads=4)
    >>> gf.load(gf.Transformer(config)).describe()
    'decoder, 2 layers, 4 heads, width 32, 0.3M parameters'
    """

    vocabulary_size: Vocabulary = 0  # how many different tokens there are; 0: it reads and writes no words
    shape: Shape = "encoder-decoder"  # which stacks the network has (figure 1 of the paper: both)
    layers: Depth = 6  # blocks in the encoder, or in the decoder where it is alone
    decoder_layers: Depth | None = None  # in the decoder of an encoder-decoder; None: as many as `layers`
    width: Width = 512  # of the residual stream, d_model
    heads: Width = 8
    key_heads: Width | None = None  # keys and values that groups of heads share (GQA, MQA); None: one each
    feed_forward: Size = 2048  # width inside the position-wise feed-forward network
    embedding_width: Size | None = None  # narrow embeddings, widened by a projection (ALBERT); None: `width`
    max_length: Size = 512  # the longest sequence, in tokens
    segments: CountOrZero = 0  # kinds of segment (BERT's token types); 0: none

    positions: Positions = "sinusoidal"  # alibi in an encoder knows how far, not on which side
    similarity: Similarity = "scaled-dot"  # how a query is compared with a key
    score_scale: Positive | None = None  # times the similarity; None: 1/√d_k for scaled-dot, otherwise 1
    query_key_norm: bool = False  # RMS norm of each head's queries and keys, with learned gains (QK-norm)
    window: Size | None = None  # self-attention sees no key so many tokens away or farther; None: all keys
    basic_attention: bool = False  # no projections at all: y = softmax(x xᵀ) x
    best_keys: Size | None = None  # hard attention: only the k best keys are seen; None: soft, all keys
    activation: Activation = "relu"
    norm: Literal["layer", "batch"] = "layer"
    norm_position: Literal["pre", "post"] = "post"
    norm_epsilon: Fraction = 1e-5
    embedding_norm: bool = False  # a norm right after the embeddings (BERT, ALBERT)
    scale_embeddings: bool = True  # times √width, section 3.4 of the paper
    residual_scale: bool = False  # a learned factor on every sub-layer before it is added
    share_layers: bool = False  # one block, used at every depth (ALBERT)

    head: Head = "language"  # what stands on top
    tie_embeddings: bool = True  # output vectors are the input embeddings
    output_bias: bool = False  # one bias for each word of the vocabulary
    relation: bool = False  # beside masked words: does the second text follow the first? (BERT, ALBERT)
    classes: CountOrZero = 0  # for `head = "classes"`, "tags" (of each token) and "numbers" (of the text)
    pooling: Pooling = "first"  # one vector of many, for classes; in a decoder only the last saw all
    pooler: bool = False  # a dense layer and tanh between pooling and classes (BERT)

    dropout: Share = 0.1
    attention_dropout: Share = 0.0
    feed_forward_dropout: Share = 0.0  # of what the activation switched on (Marian's activation_dropout)
    padding_id: int = 0
    start_id: int | None = None  # what a decoder is given before the first word
    end_id: int | None = None  # where generation stops

    reads: Reads = "text"  # what the encoder is given; a decoder reads and writes words
    picture_size: Width = 224  # pixels on each side of a picture
    patch_size: Width = 16  # pixels on each side of a patch, which becomes one token
    color: bool = True  # red, green and blue; otherwise brightness alone
    class_token: bool = True  # a learned vector in front of the patches, for `pooling = "first"`
    picture_fit: Literal["crop", "stretch"] = "crop"  # of a picture that is not square: the middle, or all
    resampling: Literal["bicubic", "bilinear"] = "bicubic"  # how a picture of another size is resized
    # Subtracted from pixels between 0 and 1: one number, or one for each colour.
    pixel_mean: tuple[UpToOne, ...] = (0.5,)
    pixel_deviation: tuple[Positive, ...] = (0.5,)  # what they are divided by then
    sample_rate: Size = 16_000  # of a sound, in samples per second
    hop: Size = 160  # samples from one column of the spectrogram to the next
    mel_bins: Width = 80  # bands of frequency in the spectrogram
    frame_stride: Annotated[int, Limits(least=1, most=4)] = 2  # columns of the spectrogram in one token
    sound_length: Size | None = None  # the longest sound, in tokens; None: `max_length`
    # Loudness above silence; how it differs from the mean of its band over the sound, in deviations; or, as
    # Whisper has it, below the loudest moment, of sounds padded with silence.
    spectrogram: Literal["absolute", "standardised", "relative"] = "absolute"

    def check(self) -> None:
        _check_words(self)
        _check_media(self)
        _check_attention(self)
        _check_basic_attention(self)
        _check_head(self)

    @property
    def has_words(self) -> bool:
        """Whether it reads or writes words."""
        return self.reads == "text" or self.has_decoder

    @property
    def grid(self) -> int:
        """Patches on each side of a picture."""
        return self.picture_size // self.patch_size

    @property
    def token_samples(self) -> int:
        """Samples of a sound that become one token."""
        return self.hop * self.frame_stride

    @property
    def longest_sound(self) -> int:
        """In tokens."""
        return self.sound_length or self.max_length

    @property
    def head_width(self) -> int:
        """d_k, the width of one head's queries, keys and values."""
        return self.width // self.heads

    @property
    def key_width(self) -> int:
        """Of the keys of all heads together, and of the values."""
        return self.head_width * (self.key_heads or self.heads)

    @property
    def score_factor(self) -> float:
        """What the similarity of a query and a key is multiplied with: the score."""
        usual = self.head_width**-0.5 if self.similarity == "scaled-dot" else 1.0
        return usual if self.score_scale is None else float(self.score_scale)

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
class RecurrentConfig(Settings):
    """The encoder-decoders before the Transformer: a fixed context C, or attention with a changing Cᵢ.

    >>> gf.RecurrentConfig(vocabulary_size=100, width=32).context
    'attention'
    """

    vocabulary_size: Size
    context: Literal["fixed", "attention"] = "attention"  # one C for all words, or Bahdanau's Cᵢ for each
    cell: Literal["gru", "lstm"] = "gru"
    layers: Depth = 1
    width: Width = 256  # of the decoder's state
    embedding_width: Size = 256
    bidirectional: bool = True  # the encoder reads in both directions
    max_length: Size = 512
    dropout: Share = 0.1
    tie_embeddings: bool = True
    padding_id: int = 0
    start_id: int | None = None
    end_id: int | None = None

    def check(self) -> None:
        _check_ids(self)
        if self.bidirectional and self.width % 2:
            raise ConfigurationError("config.odd_width", width=self.width)


NetworkConfig = ModelConfig | RecurrentConfig


def _check_ids(config: NetworkConfig) -> None:
    for name in ("padding_id", "start_id", "end_id"):
        value, size = getattr(config, name), config.vocabulary_size
        if value is not None and not 0 <= value < size:
            raise ConfigurationError("config.no_id", name=name, value=value, size=size, last=size - 1)


def _check_words(config: ModelConfig) -> None:
    if not config.has_words:
        return
    if config.vocabulary_size < 1:
        raise ConfigurationError("config.no_vocabulary")
    _check_ids(config)


def _check_media(config: ModelConfig) -> None:
    if config.reads == "text":
        return
    if config.shape == "decoder":
        raise ConfigurationError("config.media_without_encoder", reads=config.reads)
    if config.head == "masked" or config.segments:
        raise ConfigurationError("config.media_as_words", reads=config.reads)
    if config.reads == "sound":
        if config.frame_stride == 3:
            raise ConfigurationError("config.frame_stride")
        return
    _check_picture(config)


def _check_picture(config: ModelConfig) -> None:
    if config.picture_size % config.patch_size:
        near = _nearest_divisor(config.picture_size, config.patch_size)
        raise ConfigurationError(
            "config.uneven_patches", size=config.picture_size, patch=config.patch_size, near=near
        )
    channels = 3 if config.color else 1
    for name in ("pixel_mean", "pixel_deviation"):
        if len(value := getattr(config, name)) not in (1, channels):
            raise ConfigurationError("config.colours", name=name, count=len(value), channels=channels)
    if config.positions not in OF_PICTURES or config.window is not None:
        raise ConfigurationError("config.flat_positions", known=OF_PICTURES)
    paired = {"rotary": config.head_width, "sinusoidal": config.width}.get(config.positions, 4)
    if paired % 4:
        raise ConfigurationError("config.pairs_of_pairs", positions=config.positions, width=paired)


def _check_attention(config: ModelConfig) -> None:
    if config.width % config.heads:
        near = _nearest_divisor(config.width, config.heads)
        raise ConfigurationError("config.uneven_heads", width=config.width, heads=config.heads, near=near)
    if config.heads % (config.key_heads or config.heads):
        near = _nearest_divisor(config.heads, config.key_heads or config.heads)
        raise ConfigurationError(
            "config.uneven_key_heads", heads=config.heads, key_heads=config.key_heads, near=near
        )
    if config.positions == "rotary" and config.head_width % 2:
        raise ConfigurationError("config.odd_rotary_width", width=config.head_width)
    if config.positions.startswith("sinusoidal") and (config.embedding_width or config.width) % 2:
        raise ConfigurationError("config.odd_sinusoidal_width")


def _check_basic_attention(config: ModelConfig) -> None:
    if not config.basic_attention:
        return
    if config.similarity in ("bilinear", "additive"):
        raise ConfigurationError("config.basic_with_parameters", similarity=config.similarity)
    if config.query_key_norm:
        raise ConfigurationError("config.basic_with_norm")
    if config.key_width != config.width:
        raise ConfigurationError("config.basic_with_key_heads", key_heads=config.key_heads)


def _check_head(config: ModelConfig) -> None:
    if config.head in COUNTED and config.classes < 1:
        raise ConfigurationError("config.no_classes", head=config.head)
    if config.head in COUNTED and config.has_decoder and config.has_encoder:
        raise ConfigurationError("config.classes_of_two_stacks", head=config.head)
    if config.head == "masked" and config.shape != "encoder":
        raise ConfigurationError("config.masked_without_encoder")
    if config.relation and (config.head != "masked" or config.segments < 2):
        raise ConfigurationError("config.relation_without_mask")
    if config.shape == "encoder-decoder" and config.head == "none":
        raise ConfigurationError("config.no_output")


def _nearest_divisor(number: int, wanted: int) -> int:
    divisors = [each for each in range(1, number + 1) if number % each == 0]
    return min(divisors, key=lambda each: abs(each - wanted))
