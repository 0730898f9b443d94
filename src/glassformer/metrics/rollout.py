"""Rollout: attention followed through the layers, from a token down to the input (Abnar and Zuidema 2020).

In:   the self-attention maps of a stack, all layers from 0.
Out:  for each layer, how much of each token there comes from each token of the input.

    M_l = r I + (1 - r) A_l, rows normalised; A_l the mean over heads, r the share of the residual connection
    R_l = M_l R_(l-1), R_0 = M_0
"""

from typing import Annotated

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics.blocks import require_weights
from glassformer.metrics.metric import recording_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Numbers, Part
from glassformer.place import name_term
from glassformer.recording import AttentionMap, Recording

MOST_TOKENS = 1024  # tokens: rollout keeps a whole matrix for every layer

Residual = Annotated[float, About("metrics.parameters.residual", least=0.0, most=1.0)]


@recording_metric("rollout", unit="share", over="pair")
def roll_out(recording: Recording, *, residual: Residual = 0.5) -> tuple[Part, ...]:
    """How much of a token, after each layer, comes from each token of the input.

    Rₗ = Mₗ Rₗ₋₁ with Mₗ = r I + (1 − r) Āₗ, rows normalised, Āₗ the mean over heads (Abnar and Zuidema
    2020). At most 1,024 tokens.
    """
    parts = []
    for maps in find_stacks(recording):
        if (count := len(maps[0].query)) > MOST_TOKENS:
            raise InputError("metrics.long_rollout", tokens=count, most=MOST_TOKENS)
        rolled = np.eye(count)
        for each in maps:
            rolled = mix(each, residual) @ rolled
            shown = np.where(each.statistics.rows[:, None], rolled, np.nan)
            undefined = () if each.statistics.rows.all() else (message("metrics.padded_rows"),)
            labels = (each.query.texts, each.key.texts)
            parts.append(Part(each.place, ("query", "key"), shown, undefined=undefined, labels=labels))
    return tuple(parts)


def find_stacks(recording: Recording) -> tuple[tuple[AttentionMap, ...], ...]:
    """The self-attention maps of each stack, layer by layer; refuses gaps and maps that are not square."""
    stacks: dict[str, list[AttentionMap]] = {}
    for each in recording.maps:
        if each.kind == "self" and each.step is None:
            stacks.setdefault(each.stack, []).append(each)
    if not stacks:
        raise InputError("metrics.no_whole_map")
    for stack, maps in stacks.items():
        maps.sort(key=lambda each: each.layer)
        layers = [each.layer for each in maps]
        if layers != list(range(len(layers))):
            raise InputError("metrics.missing_layers", layers=layers, stack=name_term(stack), last=layers[-1])
        shapes = sorted({each.shape[1:] for each in maps})
        if len(shapes) > 1 or shapes[0][0] != shapes[0][1]:
            sizes = [f"{queries} x {keys}" for queries, keys in shapes]
            raise InputError("metrics.not_square", stack=name_term(stack), shapes=sizes)
        for each in maps:
            require_weights(each)
    return tuple(tuple(maps) for maps in stacks.values())


def mix(attention_map: AttentionMap, residual: float) -> Numbers:
    """One layer with its residual connection (query, key), rows normalised; rows that look nowhere stay."""
    heads, count, _ = attention_map.shape
    mean = np.zeros((count, count))
    for head in range(heads):
        mean += attention_map.weights(head)
    mixed = residual * np.eye(count) + (1 - residual) / heads * mean
    sums = mixed.sum(axis=1)
    idle = sums == 0
    mixed[idle], sums[idle] = np.eye(count)[idle], 1
    return mixed / sums[:, None]
