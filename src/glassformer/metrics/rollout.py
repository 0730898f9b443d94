"""Rollout: attention followed through the layers, from a token down to the input (Abnar and Zuidema 2020).

In:   the self-attention maps of a stack, all layers from 0.
Out:  for each layer, how much of each token there comes from each token of the input.

    M_l = r I + (1 - r) A_l, rows normalised; A_l the mean over heads, r the share of the residual connection
    R_l = M_l R_(l-1), R_0 = M_0
"""

from typing import Annotated

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import literal
from glassformer.metrics.blocks import require_weights
from glassformer.metrics.metric import recording_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Numbers, Part, Phrase, Wording
from glassformer.recording import AttentionMap, Recording

LONGEST = 1024  # tokens: rollout keeps a whole matrix for every layer

Residual = Annotated[
    float, About("the share of the residual connection", "残差连接所占的比例", least=0.0, most=1.0)
]


@recording_metric(
    "rollout",
    Wording(
        Phrase("Attention rollout", "注意力展开"),
        "沿各层逐层相乘的注意力：每层的每个词元有多少来自输入的每个词元。",
        lower=Phrase("Near 0: nothing of this input token arrives.", "接近 0：该输入词元几乎没有到达。"),
        higher=Phrase("Near 1: all comes from this input token.", "接近 1：几乎全部来自该输入词元。"),
    ),
    unit="share",
    over="pair",
)
def roll_out(recording: Recording, *, residual: Residual = 0.5) -> tuple[Part, ...]:
    """How much of a token, after each layer, comes from each token of the input."""
    parts = []
    for maps in find_stacks(recording):
        _require_short(maps[0])
        rolled = np.eye(len(maps[0].query))
        for each in maps:
            rolled = mix(each, residual) @ rolled
            shown = np.where(each.statistics.rows[:, None], rolled, np.nan)
            undefined = () if each.statistics.rows.all() else (literal("Padded rows have no value."),)
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
        raise InputError(
            "The recording has no whole self-attention map. Wanted one for every layer. "
            "Record a whole text rather than single generation steps."
        )
    for stack, maps in stacks.items():
        maps.sort(key=lambda each: each.layer)
        layers = [each.layer for each in maps]
        if layers != list(range(len(layers))):
            raise InputError(
                f"Layers {', '.join(map(str, layers))} of the {stack} were recorded. "
                f"Wanted all from 0 to {layers[-1]}. Record every layer."
            )
        shapes = sorted({each.shape[1:] for each in maps})
        if len(shapes) > 1 or shapes[0][0] != shapes[0][1]:
            raise InputError(
                f"Maps of the {stack} have {' and '.join(f'{q} x {k}' for q, k in shapes)} tokens. "
                "Wanted square maps of one length. Record a whole text without cached keys."
            )
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


def _require_short(attention_map: AttentionMap) -> None:
    count = len(attention_map.query)
    if count > LONGEST:
        raise InputError(
            f"The text has {count} tokens. Wanted at most {LONGEST}: rollout multiplies whole matrices. "
            "Record a part of the text."
        )
