"""Our Transformer in plain NumPy and double precision, for any configuration: one text, no batch, no cache.

Nothing here is shared with the network but its numbers and settings.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arithmetic import FUNCTIONS, bias_by_bucket, fall
from glassformer.config import ModelConfig

Array = NDArray[np.float64]


@dataclass
class Reference:
    """What one pass gives; weights and scores by stack, kind and layer, (head, query, key)."""

    config: ModelConfig
    numbers: dict[str, Array]
    weights: dict[tuple[str, str, int], Array] = field(default_factory=dict)
    scores: dict[tuple[str, str, int], Array] = field(default_factory=dict)

    def run(self, ids: list[int], target: list[int] | None = None) -> Array:
        """Logits (token, vocabulary)."""
        memory = None
        if self.config.shape != "decoder":
            memory = self._stack("encoder", self._embed(ids), None)
        hidden = memory
        if self.config.shape != "encoder":
            hidden = self._stack("decoder", self._embed(ids if target is None else target), memory)
        assert hidden is not None
        table = "embeddings.tokens.weight" if self.config.tie_embeddings else "head.weight"
        return hidden @ self.numbers[table].T

    def _embed(self, ids: list[int]) -> Array:
        config = self.config
        states = self.numbers["embeddings.tokens.weight"][ids]
        if config.scale_embeddings:
            states = states * config.width**0.5
        if config.positions == "learned":
            states = states + self.numbers["embeddings.positions.weight"][: len(ids)]
        elif config.positions.startswith("sinusoidal"):
            angle = np.arange(len(ids))[:, None] / 10_000 ** (np.arange(0, config.width, 2) / config.width)
            pair = (np.sin(angle), np.cos(angle))
            halves = config.positions.endswith("halves")
            table = np.hstack(pair) if halves else np.stack(pair, -1).reshape(len(ids), -1)
            states = states + table.astype(np.float32)  # the network keeps its table so
        return self._norm(states, "embeddings.norm") if config.embedding_norm else states

    def _stack(self, stack: str, states: Array, memory: Array | None) -> Array:
        for layer in range(self.config.depth[stack]):
            block = f"{stack}.layers.{0 if self.config.share_layers else layer}"
            parts: list[tuple[str, Any]] = [("attention", None), ("feed_forward", None)]
            if stack == "decoder" and memory is not None:
                parts.insert(1, ("cross", memory))
            for part, seen in parts:
                before = self.config.norm_position == "pre"
                norm = f"{block}.{part}_residual.norm"
                given = self._norm(states, norm) if before else states
                if part == "feed_forward":
                    inner = FUNCTIONS[self.config.activation](self._dense(given, f"{block}.{part}.expand"))
                    made = self._dense(inner, f"{block}.{part}.contract")
                else:
                    made = self._attend(given, seen, stack, layer, f"{block}.{part}")
                states = states + made * self.numbers.get(f"{block}.{part}_residual.scale", np.ones(()))
                states = states if before else self._norm(states, norm)
        return self._norm(states, f"{stack}.norm") if self.config.norm_position == "pre" else states

    def _attend(self, hidden: Array, memory: Array | None, stack: str, layer: int, name: str) -> Array:
        config, own = self.config, memory is None
        queries, keys, values = self._project(hidden, hidden if memory is None else memory, name, own)
        if config.query_key_norm:
            queries, keys = (
                each
                / np.sqrt((each**2).mean(-1, keepdims=True) + config.norm_epsilon)
                * self.numbers[f"{name}.{kind}_norm.weight"]
                for each, kind in ((queries, "query"), (keys, "key"))
            )
        if config.positions == "rotary" and own:
            queries, keys = _turn(queries), _turn(keys)
        group = config.heads // len(keys)
        keys, values = np.repeat(keys, group, 0), np.repeat(values, group, 0)
        scores = self._compare(queries, keys, f"{name}.similarity")
        if own:
            scores = scores + self._bias(stack, len(hidden))
            distance = np.arange(len(hidden))[:, None] - np.arange(len(hidden))
            seen = np.abs(distance) < (config.window or np.inf)
            seen = seen & (distance >= 0) if stack == "decoder" else seen
            scores = np.where(seen, scores, -np.inf)
        place = stack, "self" if own else "cross", layer
        self.scores[place] = scores
        if config.best_keys is not None:
            order = np.argsort(np.argsort(-scores, axis=-1, kind="stable"), axis=-1)
            scores = np.where(order < config.best_keys, scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        weights = self.weights[place] = powers / powers.sum(-1, keepdims=True)
        mixed = (weights @ values).transpose(1, 0, 2).reshape(len(hidden), -1)
        return mixed if config.basic_attention else self._dense(mixed, f"{name}.output")

    def _project(self, hidden: Array, memory: Array, name: str, own: bool) -> tuple[Array, Array, Array]:
        config = self.config
        if config.basic_attention:
            return self._split(hidden), self._split(memory), self._split(memory)
        first, size = config.width, config.head_width * (config.key_heads or config.heads)
        if own:
            made = self._dense(hidden, f"{name}.qkv")
            parts = np.split(made, [first, first + size], axis=1)
        else:
            both = self._dense(memory, f"{name}.kv")
            parts = [self._dense(hidden, f"{name}.q"), both[:, :size], both[:, size:]]
        queries, keys, values = map(self._split, parts)
        return queries, keys, values

    def _split(self, rows: Array) -> Array:
        width = self.config.width // self.config.heads
        return np.stack([rows[:, at : at + width] for at in range(0, rows.shape[1], width)])

    def _compare(self, queries: Array, keys: Array, name: str) -> Array:
        kind, width = self.config.similarity, queries.shape[-1]
        factor = self.config.score_scale or (width**-0.5 if kind == "scaled-dot" else 1.0)
        if kind == "cosine":
            queries, keys = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (queries, keys))
        if kind == "bilinear":
            queries = queries @ self.numbers[f"{name}.weight"]
        if kind == "additive":
            asked = queries @ self.numbers[f"{name}.query_weight"].transpose(0, 2, 1)
            offered = keys @ self.numbers[f"{name}.key_weight"].transpose(0, 2, 1)
            joined = np.tanh(asked[:, :, None] + offered[:, None])
            return factor * np.einsum("htsk,hk->hts", joined, self.numbers[f"{name}.vector"])
        return factor * np.einsum("htk,hsk->hts", queries, keys)

    def _bias(self, stack: str, count: int) -> Array:
        if self.config.positions == "alibi":
            return fall(self.config.heads, count)
        if self.config.positions == "relative":
            table = self.numbers[f"{stack}.bias.table.weight"]
            return bias_by_bucket(table, count, causal=stack == "decoder")
        return np.zeros(())

    def _dense(self, rows: Array, name: str) -> Array:
        return rows @ self.numbers[f"{name}.weight"].T + self.numbers[f"{name}.bias"]

    def _norm(self, rows: Array, name: str) -> Array:
        centred = rows - rows.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + self.config.norm_epsilon)
        return centred / deviation * self.numbers[f"{name}.weight"] + self.numbers[f"{name}.bias"]


def _turn(vectors: Array) -> Array:
    half = vectors.shape[-1] // 2
    angle = np.arange(vectors.shape[1])[:, None] * 10_000.0 ** (-np.arange(half) / half)
    turned = (vectors[..., :half] + 1j * vectors[..., half:]) * np.exp(1j * angle)
    return np.concatenate([turned.real, turned.imag], axis=-1)
