"""The encoder-decoders that the Transformer replaced: words are read and written one after another.

In:   source ids (batch, token) and `real`, True where a token is not padding; for training the target's ids.
Out:  logits (batch, target, vocabulary).

With `context = "fixed"` the whole source is one vector C, given to every step of the decoder (Cho 2014,
Sutskever 2014). With `context = "attention"` step i looks back at every state of the encoder and gets a Cᵢ
of its own (Bahdanau 2015). The windows of that attention are named as the Transformer's. Each step depends
on the one before, so `queries`, `scores`, `pattern` and `mixed` open once for every target token, with one
query: those calls, one after another, are the query axis of one map. `keys` and `values` open once a source.
"""

import threading
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from glassformer.config import RecurrentConfig
from glassformer.errors import InputError
from glassformer.model.decoding import Decoding, start_of_target
from glassformer.model.similarity import AdditiveSimilarity, soft
from glassformer.model.transformer import Transformer, check_ids, check_real

_precision = threading.Lock()  # guards a setting of the whole process

State = tuple[Tensor, ...]  # each (layer, row, width): the hidden state, and for an LSTM its cell


class Source(NamedTuple):
    """What the decoder knows about the text that was read."""

    summary: Tensor  # (B, D) the fixed context C: the state after the last token
    start: State  # the decoder's first state
    projected_keys: Tensor  # (B, 1, S, D) U h, what attention makes of every state, once for all steps
    values: Tensor  # (B, 1, S, D) the encoder's state after each token
    allowed: Tensor | None  # (B, 1, 1, S) True at real tokens; None: all are

    def take(self, sources: Tensor) -> "Source":
        """What is known about these sources of the batch alone."""
        return Source(
            self.summary[sources],
            tuple(part[:, sources] for part in self.start),
            self.projected_keys[sources],
            self.values[sources],
            None if self.allowed is None else self.allowed[sources],
        )


class RecurrentEncoder(nn.Module):
    """Reads the source forwards, or in both directions with half the width each."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        directions = 2 if config.bidirectional else 1
        self.layers = config.layers
        width = config.width // directions
        self.cells = _build_cells(config, config.embedding_width, width, config.bidirectional)
        self.states = nn.Identity()  # window: (B, S, D), the top layer after each token

    def forward(self, words: Tensor, real: Tensor | None) -> tuple[Tensor, State]:
        """States (B, S, D), and the last ones (layer, B, D); padding, wherever it stands, is never read."""
        if real is None:
            states, last = _run_cells(self.cells, words)
            return self.states(states), self._join(last)
        lengths = real.sum(1)
        if int(lengths.min()) == 0:
            raise InputError("model.only_padding")
        padding_last = (~real).to(torch.uint8).argsort(dim=1, stable=True)  # (B, S)
        order = padding_last[..., None]
        aligned = words.gather(1, order.expand_as(words))
        packed = pack_padded_sequence(aligned, lengths.cpu(), batch_first=True, enforce_sorted=False)
        read, last = _run_cells(self.cells, packed)
        states, _ = pad_packed_sequence(read, batch_first=True, total_length=words.shape[1])
        back = torch.zeros_like(states).scatter(1, order.expand_as(states), states)  # (B, S, D) as they stood
        return self.states(back), self._join(last)

    def _join(self, last: Tensor | State) -> State:
        """Both directions of a layer side by side: (layer · direction, B, ·) → (layer, B, D)."""
        parts = (last,) if isinstance(last, Tensor) else last
        return tuple(part.unflatten(0, (self.layers, -1)).transpose(1, 2).flatten(2) for part in parts)


class ContextAttention(nn.Module):
    """Bahdanau's attention from the decoder's last state s: α = softmax(vᵀ tanh(W s + U h)), C = Σ α h."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.similarity = AdditiveSimilarity(1, width)
        # Windows, with one head; T is the number of rows that one source has: one, or its beams.
        self.queries = nn.Identity()  # (B, 1, T, D)
        self.keys = nn.Identity()  # (B, 1, S, D), the encoder's states; here they are the values too
        self.values = nn.Identity()  # (B, 1, S, D)
        self.scores = nn.Identity()  # (B, 1, T, S), before mask and softmax
        self.pattern = nn.Identity()  # (B, 1, T, S), after softmax
        self.mixed = nn.Identity()  # (B, 1, T, D), the contexts

    def project(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """U h and h, both (B, 1, S, D): neither depends on the step, so they are computed once."""
        keys = self.keys(states[:, None])
        return keys @ self.similarity.key_weight.transpose(-2, -1), self.values(states[:, None])

    def forward(self, state: Tensor, source: Source) -> Tensor:
        """One context (row, D) for each row's state (row, D); rows of one source stand together."""
        queries = self.queries(state.unflatten(0, (len(source.values), 1, -1)))  # (B, 1, T, D)
        projected = queries @ self.similarity.query_weight.transpose(-2, -1)
        joined = torch.tanh(projected.unsqueeze(-2) + source.projected_keys.unsqueeze(-3))  # (B, 1, T, S, D)
        scores = self.scores(joined @ self.similarity.vector[0])  # (B, 1, T, S)
        weights = self.pattern(soft(scores, source.allowed))
        mixed: Tensor = self.mixed(weights @ source.values)
        return mixed.flatten(0, 2)  # (row, D)


class RecurrentDecoder(nn.Module):
    """Writes the target: each step is given the word before, its context, and its own last state."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.attention = ContextAttention(config.width) if config.context == "attention" else None
        self.cells = _build_cells(config, config.embedding_width + config.width, config.width, False)
        self.states = nn.Identity()  # window: (row, T, D), the top layer at each step
        self.readout = nn.Linear(2 * config.width + config.embedding_width, config.embedding_width)

    def forward(self, words: Tensor, state: State, source: Source) -> tuple[Tensor, State]:
        """What the output vectors are multiplied with (row, T, embedding width), and the state thereafter."""
        if self.attention is None:  # every input is known beforehand: all steps in one call
            beams = len(words) // len(source.summary)
            contexts = source.summary.repeat_interleave(beams, 0)[:, None].expand(-1, words.shape[1], -1)
            hidden, state = self._advance(words, contexts, state)
            return self._read_out(hidden, contexts, words), state
        outputs = []
        for word in words.split(1, dim=1):  # (row, 1, embedding width)
            context = self.attention(state[0][-1], source)[:, None]  # (row, 1, D)
            hidden, state = self._advance(word, context, state)
            outputs.append(self._read_out(hidden, context, word))
        return torch.cat(outputs, dim=1), state

    def _advance(self, words: Tensor, contexts: Tensor, state: State) -> tuple[Tensor, State]:
        inputs = torch.cat((words, contexts), dim=-1)
        hidden, after = _run_cells(self.cells, inputs, state if len(state) > 1 else state[0])
        return self.states(hidden), (after,) if isinstance(after, Tensor) else after

    def _read_out(self, hidden: Tensor, contexts: Tensor, words: Tensor) -> Tensor:
        return torch.tanh(self.readout(torch.cat((hidden, contexts, words), dim=-1)))


class RecurrentTranslator(nn.Module):
    """A recurrent encoder and decoder with one vocabulary; the same calls as a Transformer of both stacks."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = nn.Embedding(config.vocabulary_size, config.embedding_width)
        self.encoder = RecurrentEncoder(config)
        parts = 2 if config.cell == "lstm" else 1
        self.bridges = nn.ModuleList(nn.Linear(config.width, config.width) for _ in range(parts))
        self.decoder = RecurrentDecoder(config)
        untied = torch.empty(config.vocabulary_size, config.embedding_width)
        self.weight = None if config.tie_embeddings else nn.Parameter(untied)
        for table in (self.embeddings.weight, self.weight):
            if table is not None:
                nn.init.normal_(table, std=config.embedding_width**-0.5)

    def forward(
        self,
        ids: Tensor,
        real: Tensor | None = None,
        *,
        target: Tensor | None = None,
        target_real: Tensor | None = None,
    ) -> Tensor:
        """Logits of every target position, each given the words before it (teacher forcing)."""
        if target is None:
            raise InputError("model.no_target")
        check_real(target_real, target)
        if target_real is not None and bool((target_real[:, 1:] & ~target_real[:, :-1]).any()):
            raise InputError("model.target_padded_left")
        source = self.encode(ids, real)
        return self.decode(target, source.start, source)[0]

    def encode(self, ids: Tensor, real: Tensor | None = None) -> Source:
        """Read the source."""
        check_real(real, ids)
        if real is not None and bool(real.all()):
            real = None
        states, last = self.encoder(self._embed(ids), real)
        start = tuple(torch.tanh(bridge(part)) for bridge, part in zip(self.bridges, last, strict=True))
        attention = self.decoder.attention
        projected_keys, values = (states[:, None],) * 2 if attention is None else attention.project(states)
        allowed = None if real is None else real[:, None, None, :]
        return Source(last[0][-1], start, projected_keys, values, allowed)

    def decode(self, ids: Tensor, state: State, source: Source) -> tuple[Tensor, State]:
        """Logits (row, token, vocabulary) for words written after `state`, and the state after them."""
        outputs, state = self.decoder(self._embed(ids), state, source)
        outputs = F.dropout(outputs, self.config.dropout, self.training)
        return F.linear(outputs, self.output_vectors()), state

    def check_source(self, source: Tensor, real: Tensor | None) -> None:
        """See `glassformer.model.decoding.GenerationNetwork`."""
        check_ids(source, self.config.vocabulary_size)
        check_real(real, source)

    def begin(
        self,
        ids: Tensor,
        real: Tensor | None = None,
        *,
        prefix: Tensor | None = None,
        capacity: int,  # noqa: ARG002 - a state takes the same room however long the text is
        cached: bool = True,
        ctc: float = 0.0,  # noqa: ARG002 - refused before: its encoder tells no words
    ) -> Decoding:
        """Start a generation; see `glassformer.model.decoding.GenerationNetwork`."""
        start = start_of_target(self.config.start_id, ids, prefix)
        return RecurrentDecoding(self, self.encode(ids, real), start, cached=cached)

    def output_vectors(self) -> Tensor:
        """One vector for each word (vocabulary, embedding width)."""
        return self.embeddings.weight if self.weight is None else self.weight

    def _embed(self, ids: Tensor) -> Tensor:
        check_ids(ids, self.config.vocabulary_size)
        if ids.shape[1] > self.config.max_length:
            raise InputError("model.too_long", count=ids.shape[1], limit=self.config.max_length)
        return F.dropout(self.embeddings(ids), self.config.dropout, self.training)


Network = Transformer | RecurrentTranslator  # what can be trained, saved and recorded


class RecurrentDecoding:
    """A generation whose whole memory is a state; without `cached` every word is read again at every step."""

    def __init__(self, network: RecurrentTranslator, source: Source, prefix: Tensor, *, cached: bool) -> None:
        self.network = network
        self.source = source
        self.cached = cached
        self.state = source.start
        self.ids = prefix  # (row, token) all words so far: only kept where they are read again
        self.logits = self._run(prefix)

    def step(self, ids: Tensor) -> Tensor:
        new = ids[:, None]
        if not self.cached:
            beams = len(ids) // len(self.source.summary)
            self.state = tuple(part.repeat_interleave(beams, 1) for part in self.source.start)
            new = self.ids = torch.cat((self.ids, new), dim=1)
        self.logits = self._run(new)
        return self.logits

    def select(self, rows: Tensor) -> None:
        self.state = tuple(part.index_select(1, rows) for part in self.state)
        self.logits = self.logits.index_select(0, rows)
        if not self.cached:
            self.ids = self.ids.index_select(0, rows)

    def keep(self, sources: Tensor) -> None:
        every = torch.arange(len(self.logits), device=sources.device)
        rows = every.unflatten(0, (len(self.source.summary), -1))[sources].flatten()
        self.source = self.source.take(sources)
        self.select(rows)

    def _run(self, ids: Tensor) -> Tensor:
        logits, self.state = self.network.decode(ids, self.state, self.source)
        return logits[:, -1]


def _build_cells(config: RecurrentConfig, inputs: int, width: int, bidirectional: bool) -> nn.GRU | nn.LSTM:
    kind = nn.LSTM if config.cell == "lstm" else nn.GRU
    between = config.dropout if config.layers > 1 else 0.0  # torch drops between layers only
    return kind(inputs, width, config.layers, batch_first=True, dropout=between, bidirectional=bidirectional)


def _run_cells(cells: nn.Module, inputs: Any, *state: Any) -> Any:
    """Full precision at inference: on a GPU torch lets cuDNN round what float32 cells multiply to ten
    bits. Training is left to do so, forwards and backwards alike."""
    if torch.is_grad_enabled() or not cells.weight_hh_l0.is_cuda or torch.compiler.is_compiling():
        return cells(inputs, *state)
    settings: Any = torch.backends.cudnn.rnn
    with _precision:
        found, settings.fp32_precision = settings.fp32_precision, "ieee"
        try:
            return cells(inputs, *state)
        finally:
            settings.fp32_precision = found
