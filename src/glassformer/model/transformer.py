"""The Transformer: embeddings, an encoder, a decoder or both, and a head, as `ModelConfig` says.

In:   token ids (batch, token); `real` (batch, token), True where a token is not padding (None: all are).
      An encoder may be given pictures or sounds instead of ids, see `patches` and `frames`.
Out:  logits, or hidden states where there is no head.

Right padding of a decoder needs no mask: no real token looks ahead, so leave `real` out and the fast kernel
runs.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.attention import Mask, combine
from glassformer.model.cache import Cache
from glassformer.model.cuda_graph import GraphDecoding
from glassformer.model.decoding import CachedDecoding, Decoding, RecomputedDecoding, start_of_target
from glassformer.model.frames import FrameEmbeddings
from glassformer.model.heads import ClassifierHead, LanguageHead, MaskedHead, TaggingHead, build_head
from glassformer.model.joint import JointDecoding
from glassformer.model.layers import Block, Memory, build_norm
from glassformer.model.linear import Linear
from glassformer.model.loss import word_loss
from glassformer.model.patches import GridRotation, PatchEmbeddings
from glassformer.model.positions import RotaryPositions, build_bias, build_positions, count_positions


class Embeddings(nn.Module):
    """Token + position (+ segment), scaled, normed and widened as the configuration says."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.embedding_width or config.width
        self.tokens = nn.Embedding(config.vocabulary_size, width)
        self.scaled = nn.Identity()  # window: token vectors after × √width, before positions
        self.positions = build_positions(config, width, config.max_length)
        self.segments = nn.Embedding(config.segments, width) if config.segments else None
        self.norm = build_norm(config, width) if config.embedding_norm else None
        self.projection = Linear(width, config.width) if config.embedding_width else None
        self.factor = config.width**0.5 if config.scale_embeddings else 1.0
        self.limit = config.max_length if self.positions is not None else None
        self.dropout = config.dropout

    def forward(
        self, ids: Tensor, positions: Tensor, segments: Tensor | None = None, real: Tensor | None = None
    ) -> Tensor:
        hidden = self.tokens(ids)
        hidden = self.scaled(hidden * self.factor if self.factor != 1.0 else hidden)
        if self.positions is not None:
            hidden = hidden + self.positions(positions)
        if self.segments is not None:
            hidden = hidden + self.segments(torch.zeros_like(ids) if segments is None else segments)
        if self.norm is not None:
            hidden = self.norm(hidden, real)
        hidden = F.dropout(hidden, self.dropout, self.training)
        return hidden if self.projection is None else self.projection(hidden)


class Stack(nn.Module):
    """Blocks one above the other, or one block used again and again; a last norm where norms come first."""

    def __init__(self, config: ModelConfig, *, causal: bool) -> None:
        """A stack that is not `causal` is the encoder."""
        super().__init__()
        self.depth = config.depth["decoder" if causal else "encoder"]
        self.causal = causal
        blocks = 1 if config.share_layers else self.depth
        cross = causal and config.has_encoder
        self.layers = nn.ModuleList(Block(config, cross=cross) for _ in range(blocks))
        self.norm = build_norm(config, config.width) if config.norm_position == "pre" else None
        self.rotary = _build_rotary(config, causal=causal)
        self.bias = build_bias(config, causal=causal)
        self.window = config.window

    def block(self, layer: int) -> Block:
        """The block at a depth; with shared layers always the same one."""
        block = self.layers[layer % len(self.layers)]
        assert isinstance(block, Block)
        return block

    def forward(
        self,
        hidden: Tensor,
        positions: Tensor,
        real: Tensor | None = None,
        memories: Sequence[Memory] | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        mask = self._mask(hidden, positions, real, cache)
        rotation = None if self.rotary is None else self.rotary(positions)
        for layer in range(self.depth):
            memory = None if memories is None else memories[layer]
            layer_cache = None if cache is None else cache.layers[layer]
            hidden = self.block(layer)(hidden, mask, real, rotation, memory, layer_cache)
        return hidden if self.norm is None else self.norm(hidden, real)

    def _mask(self, hidden: Tensor, positions: Tensor, real: Tensor | None, cache: Cache | None) -> Mask:
        """What may be seen; a cache knows it by itself, padding included, and needs no `real`."""
        queries = hidden.shape[1]
        if cache is None:
            mask, keys = combine(real, causal=self.causal, queries=queries), positions
        else:
            mask, keys = cache.mask(queries), cache.positions
        if self.window is not None:
            mask = mask.within(self.window, positions, keys)
        return mask if self.bias is None else replace(mask, bias=self.bias(positions, keys).to(hidden.dtype))


def _build_rotary(config: ModelConfig, *, causal: bool) -> RotaryPositions | None:
    if config.positions != "rotary":
        return None
    grid = config.reads == "picture" and not causal
    return GridRotation(config) if grid else RotaryPositions(config.head_width)


def _build_perception(config: ModelConfig) -> PatchEmbeddings | FrameEmbeddings | None:
    """What an encoder that reads no text has instead of embeddings of words."""
    if config.reads == "text":
        return None
    return PatchEmbeddings(config) if config.reads == "picture" else FrameEmbeddings(config)


class Transformer(nn.Module):
    """One network, three shapes: encoder (BERT), decoder (GPT-2), encoder-decoder (the paper).

    >>> config = gf.ModelConfig(vocabulary_size=100, shape="decoder", layers=2, width=32, heads=4)
    >>> gf.record(gf.Transformer(config), [5, 17, 42]).map(layer=-1).shape  # (head, query, key)
    (4, 3, 3)
    """

    embeddings: Embeddings  # only where there are words

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        if config.has_words:
            self.embeddings = Embeddings(config)
        self.perception = _build_perception(config)
        self.encoder = Stack(config, causal=False) if config.has_encoder else None
        self.decoder = Stack(config, causal=True) if config.has_decoder else None
        self.head = build_head(config)
        self.apply(self._initialise)
        self._initialise_outputs()

    def forward(
        self,
        ids: Tensor,
        real: Tensor | None = None,
        *,
        target: Tensor | None = None,
        target_real: Tensor | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        """Logits of every position at once, for training and looking. `target` is the decoder's input."""
        if self.config.shape == "encoder-decoder":
            if target is None:
                raise InputError("model.no_target")
            memory = self.encode(ids, real)
            return self.logits(self.decode(target, target_real, memory=memory, memory_real=real))
        if target is not None:
            raise InputError("model.unused_target", shape=self.config.shape)
        hidden = self.encode(ids, real, segments) if self.decoder is None else self.decode(ids, real)
        return self.logits(hidden, real)

    def encode(self, ids: Tensor, real: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """Hidden states (batch, token, width) of the encoder; `ids` may be pictures or sounds."""
        assert self.encoder is not None
        if self.perception is not None:
            self.check_source(ids, real)
            hidden = self.perception(ids, real)
            return self.encoder(hidden, count_positions(hidden[..., 0], real), real)
        positions = self.positions(ids, real)
        return self.encoder(self.embeddings(ids, positions, segments, real), positions, real)

    def decode(
        self,
        ids: Tensor,
        real: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        memory_real: Tensor | None = None,
    ) -> Tensor:
        """Hidden states of the decoder for a whole target (teacher forcing)."""
        assert self.decoder is not None
        positions = self.positions(ids, real)
        memories = None if memory is None else self.memories(memory, memory_real)
        return self.decoder(self.embeddings(ids, positions, None, real), positions, real, memories)

    def begin(
        self,
        ids: Tensor,
        real: Tensor | None = None,
        *,
        prefix: Tensor | None = None,
        capacity: int,
        cached: bool = True,
        ctc: float = 0.0,
    ) -> Decoding:
        """Start a generation: read the prompt, or encode the source and read the start of the target.

        See `decoding.GenerationNetwork`. On a GPU the steps are replayed as a CUDA graph: launching their
        kernels one by one would take most of the time.
        """
        if self.decoder is None:
            raise InputError("model.no_decoder")
        memories = None
        told: tuple[Tensor, Tensor | None] | None = None
        if self.encoder is not None:
            memory = self.encode(ids, real)
            memories = self.memories(memory, real)
            told = (self.logits(memory), real) if ctc else None
            ids, real = start_of_target(self.config.start_id, ids, prefix), None
        elif prefix is not None:
            raise InputError("model.prefix_of_decoder")
        decoding = self._begin(ids, real, memories, capacity, cached=cached)
        if told is None:
            return decoding
        blank, end = self.config.padding_id, self.config.end_id
        return JointDecoding(decoding, *told, ids, weight=ctc, blank=blank, end=end)

    def _begin(
        self, ids: Tensor, real: Tensor | None, memories: list[Memory] | None, capacity: int, *, cached: bool
    ) -> Decoding:
        """By the decoder alone."""
        if real is not None and bool(real.all()):
            real = None
        if not cached:
            return RecomputedDecoding(self, ids, real, memories)
        graph = ids.device.type == "cuda" and not torch.is_grad_enabled()
        return (GraphDecoding if graph else CachedDecoding)(self, ids, real, memories, capacity)

    def memories(self, memory: Tensor, real: Tensor | None = None) -> list[Memory]:
        """The encoder's states as each decoder layer sees them."""
        assert self.decoder is not None
        mask = combine(real, causal=False, queries=1)
        seen = []
        for layer in range(self.decoder.depth):
            cross = self.decoder.block(layer).cross
            assert cross is not None
            seen.append(Memory(*cross.project(memory), mask))
        return seen

    def logits(self, hidden: Tensor, real: Tensor | None = None) -> Tensor:
        """What the head makes of hidden states; the hidden states themselves where there is none."""
        if self.head is None:
            return hidden
        if isinstance(self.head, ClassifierHead):
            return self.head(hidden, real)
        if isinstance(self.head, TaggingHead):
            return self.head(hidden)
        return self.head(hidden, self.output_vectors())

    def relate(self, hidden: Tensor) -> Tensor:
        """Logits (batch, 2) where `relation` is set: the second text follows the first (0), or not (1)."""
        assert isinstance(self.head, MaskedHead)
        return self.head.relate(hidden)

    def loss(self, hidden: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
        """Cross-entropy of the words that `hidden` should predict; labels of `loss.IGNORED` do not count."""
        assert isinstance(self.head, LanguageHead)
        return word_loss(self.head.prepare(hidden), self.output_vectors(), labels, self.head.bias, smoothing)

    def output_vectors(self) -> Tensor:
        """One vector for each word, to be multiplied with the head's prepared states."""
        assert isinstance(self.head, LanguageHead)
        return self.embeddings.tokens.weight if self.head.weight is None else self.head.weight

    def check_source(self, source: Tensor, real: Tensor | None) -> None:
        """Refuse ids, pictures or sounds that cannot be read, and a mask that does not fit them."""
        if self.perception is None:
            check_ids(source, self.config.vocabulary_size)
            check_real(real, source)
        elif real is not None:
            check_real(real, source.new_empty((len(source), self.perception.count(source)), device="meta"))

    def positions(self, ids: Tensor, real: Tensor | None) -> Tensor:
        """The position of each token; refuses ids and masks that cannot be, and too many tokens."""
        check_ids(ids, self.config.vocabulary_size)
        check_real(real, ids)
        self.check_length(ids.shape[1])
        return count_positions(ids, real)

    def check_length(self, length: int) -> None:
        """Refuse more tokens than there are positions for."""
        limit = self.embeddings.limit
        if limit is not None and length > limit:
            raise InputError("model.too_long", count=length, limit=limit)

    def _initialise(self, module: nn.Module) -> None:
        """Xavier for the paper's scaled embeddings, N(0, 0.02) for the families that came after it."""
        paper = self.config.scale_embeddings
        if isinstance(module, nn.Linear):
            if paper:
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding | LanguageHead) and module.weight is not None:
            nn.init.normal_(module.weight, std=self.config.width**-0.5 if paper else 0.02)
        elif isinstance(module, PatchEmbeddings) and module.class_vector is not None:
            nn.init.normal_(module.class_vector, std=0.02)

    def _initialise_outputs(self) -> None:
        """With norms first, what each sub-layer adds is made smaller as there are more of them (GPT-2)."""
        if self.config.norm_position == "post" or self.config.scale_embeddings:
            return
        for stack in filter(None, (self.encoder, self.decoder)):
            for layer in range(len(stack.layers)):
                block = stack.block(layer)
                cross = block.cross and block.cross.output
                added = (block.attention.output, cross, block.feed_forward.contract)
                outputs = [output for output in added if isinstance(output, nn.Linear)]
                for output in outputs:
                    nn.init.normal_(output.weight, std=0.02 * (len(outputs) * stack.depth) ** -0.5)


def check_ids(ids: Tensor, vocabulary_size: int) -> None:
    """Refuse an empty batch, fractions, or ids outside the vocabulary; the last a GPU has to find itself."""
    if ids.dim() != 2 or ids.numel() == 0:
        raise InputError("model.ids_shape", shape=str(tuple(ids.shape)))
    if ids.dtype not in (torch.long, torch.int):
        raise InputError("model.ids_type", type=ids.dtype)
    if torch.compiler.is_compiling() or ids.device.type != "cpu":
        return
    smallest, largest = int(ids.min()), int(ids.max())
    if smallest < 0 or largest >= vocabulary_size:
        wrong = smallest if smallest < 0 else largest
        raise InputError("model.unknown_id", id=wrong, size=vocabulary_size, last=vocabulary_size - 1)


def check_real(real: Tensor | None, ids: Tensor) -> None:
    """Refuse a mask that means something else: numbers instead of truth values, or another shape."""
    if real is not None and (real.shape != ids.shape or real.dtype != torch.bool):
        raise InputError(
            "model.real_mask", type=real.dtype, shape=str(tuple(real.shape)), expected=str(tuple(ids.shape))
        )
