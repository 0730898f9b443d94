"""The paper's encoder-decoder once more, in NumPy, in double precision and one token at a time.

Nothing here is shared with the network but its numbers: no batches, no masks, no fused projections. What a
token may see is a list of the tokens that there are.
"""

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from glassformer.config import ModelConfig
from glassformer.model.transformer import Transformer

Vector = NDArray[np.float64]
Weights = dict[str, NDArray[np.float64]]
WIDTH, HEADS, LAYERS, VOCABULARY = 12, 3, 2, 17


def attend(asker: Vector, seen: list[Vector], weights: Weights, names: tuple[str, str, str]) -> Vector:
    """One token looks at some: section 3.2, head by head and key by key."""
    parts = []
    size = WIDTH // HEADS
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        query, key, value = (weights[f"{name}.weight"][part] for name in names)
        query_bias, key_bias, value_bias = (weights[f"{name}.bias"][part] for name in names)
        asked = query @ asker + query_bias
        scores = [float(asked @ (key @ token + key_bias)) / math.sqrt(size) for token in seen]
        shares = [math.exp(score - max(scores)) for score in scores]
        mixed = sum(share * (value @ token + value_bias) for share, token in zip(shares, seen, strict=True))
        parts.append(mixed / sum(shares))
    return np.concatenate(parts)


def norm(vector: Vector, weights: Weights, name: str, epsilon: float = 1e-5) -> Vector:
    mean = vector.mean()
    spread = math.sqrt(((vector - mean) ** 2).mean() + epsilon)
    return (vector - mean) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dense(vector: Vector, weights: Weights, name: str) -> Vector:
    return weights[f"{name}.weight"] @ vector + weights[f"{name}.bias"]


def embed(ids: list[int], weights: Weights) -> list[Vector]:
    """Sections 3.4 and 3.5."""
    states = []
    for position, token in enumerate(ids):
        angles = [position / 10_000 ** (2 * pair / WIDTH) for pair in range(WIDTH // 2)]
        place = [number for angle in angles for number in (math.sin(angle), math.cos(angle))]
        place = np.array(place, dtype=np.float32).astype(float)  # the network keeps its table so
        states.append(weights["embeddings.tokens.weight"][token] * math.sqrt(WIDTH) + place)
    return states


def feed_forward(vector: Vector, weights: Weights, layer: str) -> Vector:
    """Equation 2."""
    inside = np.maximum(dense(vector, weights, f"{layer}.feed_forward.expand"), 0.0)
    return dense(inside, weights, f"{layer}.feed_forward.contract")


def run_stack(
    stack: str, states: list[Vector], weights: Weights, memory: list[Vector] | None
) -> list[Vector]:
    """Figure 1, either half: a decoder has a `memory`, and each of its tokens sees those up to itself."""
    for number in range(LAYERS):
        layer = f"{stack}.layers.{number}"
        own = tuple(f"{layer}.{name}" for name in ("q", "k", "v"))
        cross = tuple(f"{layer}.cross_{name}" for name in ("q", "k", "v"))
        after = []
        for place, state in enumerate(states):
            seen = states if memory is None else states[: place + 1]
            looked = dense(attend(state, seen, weights, own), weights, f"{layer}.attention.output")
            state = norm(state + looked, weights, f"{layer}.attention_residual.norm")
            if memory is not None:
                looked = dense(attend(state, memory, weights, cross), weights, f"{layer}.cross.output")
                state = norm(state + looked, weights, f"{layer}.cross_residual.norm")
            state = norm(
                state + feed_forward(state, weights, layer), weights, f"{layer}.feed_forward_residual.norm"
            )
            after.append(state)
        states = after
    return states


def take_apart(network: Transformer) -> Weights:
    """The network's numbers by name, with queries, keys and values each under a name of its own."""
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    for name in list(weights):
        layer, kind = name.rpartition(".")[::2]
        if layer.endswith(".attention.qkv"):
            for letter, part in zip("qkv", np.split(weights[name], 3), strict=True):
                weights[f"{layer.removesuffix('.attention.qkv')}.{letter}.{kind}"] = part
        elif layer.endswith(".cross.kv"):
            for letter, part in zip("kv", np.split(weights[name], 2), strict=True):
                weights[f"{layer.removesuffix('.cross.kv')}.cross_{letter}.{kind}"] = part
        elif layer.endswith(".cross.q"):
            weights[f"{layer.removesuffix('.cross.q')}.cross_q.{kind}"] = weights[name]
    return weights


@pytest.fixture(scope="module")
def network() -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(VOCABULARY, width=WIDTH, heads=HEADS, layers=LAYERS, feed_forward=20, max_length=16)
    network = Transformer(config).double().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)  # no bias zero, no norm idle
            else:
                parameter.mul_(2)  # attention that is not flat
    return network


@torch.no_grad()
@pytest.mark.parametrize("looked_at", [False, True], ids=["fused", "explicit"])
def test_a_padded_batch_says_what_arithmetic_says(network: Transformer, looked_at: bool) -> None:
    sources = [[3, 9, 4, 4, 16], [7, 2, 11]]
    targets = [[1, 5, 6], [1, 12, 8, 13, 5, 10]]
    ids = torch.tensor([sources[0], [0, 0, *sources[1]]])  # padding of a source may stand in front
    real = torch.tensor([[True] * 5, [False] * 2 + [True] * 3])
    target = torch.tensor([[*targets[0], 0, 0, 0], targets[1]])
    hooks = [
        module.pattern.register_forward_hook(lambda *_: None)
        for module in network.modules()
        if looked_at and hasattr(module, "pattern")
    ]
    logits = network(ids, real, target=target).numpy()
    for hook in hooks:
        hook.remove()
    weights = take_apart(network)
    for row, (source, words) in enumerate(zip(sources, targets, strict=True)):
        memory = run_stack("encoder", embed(source, weights), weights, None)
        states = run_stack("decoder", embed(words, weights), weights, memory)
        expected = np.stack([weights["embeddings.tokens.weight"] @ state for state in states])
        assert np.abs(logits[row, : len(words)] - expected).max() < 1e-10
