"""The steps of a network whose architecture is not known: what its recording backs.

In:   a builder over a recording of a model of transformers.
Out:  chapters: states, and for each attention queries, keys, values, scores, weights.
"""

import numpy as np
from numpy.typing import NDArray

from glassformer.recording import AttentionMap
from glassformer.recording.arrays import choose
from glassformer.rounding import HALVES
from glassformer.walk.builder import PlanBuilder
from glassformer.walk.types import Axis

AGREEMENT = 1e-3  # how far scores may be from what follows from queries and keys, at most
ROUNDING = 4e-6  # in single precision: as a share of what was summed
CHECKED = 6  # queries of each map for which that is looked at
WITNESSES = 3  # scores that a cap must account for: there is one that gives any single score


def write_observed(builder: PlanBuilder) -> None:
    """Stack by stack, layer by layer; the output last."""
    arrays = builder.arrays
    recording = arrays.recording
    for stack in sorted(arrays.stacks(), key=lambda name: name == "decoder"):  # the others keep their order
        side = arrays.tokens(stack).side
        builder.open(f"{stack}/embedding", "embedding", stack)
        axes: tuple[Axis, ...] = (side, "feature")
        builder.write("states", "states", [f"{stack}/ids"], axes, output=f"{stack}/hidden/0")
        layers = [each.layer for each in recording.maps if each.stack == stack and each.step is None]
        for layer in range(max(layers, default=-1) + 1):
            for kind in ("self", "cross"):
                found = arrays.map(stack, layer, kind)
                if found is not None:
                    _write_attention(builder, found)
            if arrays.depth(stack):
                builder.open(f"{stack}/{layer}/states", "states", stack, layer)
                before, after = (f"{stack}/hidden/{number}" for number in (layer, layer + 1))
                builder.write("states", "states", [before], axes, output=after)
    output = recording.output
    if output is not None:
        builder.open("output", "output", output.stack)
        place: tuple[Axis, ...] = () if not output.per_token else (arrays.tokens(output.stack).side,)
        builder.write("likeliest", "choose", [], (*place, "rank"))


def _write_attention(builder: PlanBuilder, found: AttentionMap) -> None:
    write = builder.write
    builder.open(f"{found.stack}/{found.layer}/{found.kind}", found.kind, found.stack, found.layer)
    query: tuple[Axis, ...] = ("head", found.query.side, "feature")
    key: tuple[Axis, ...] = ("head", found.key.side, "feature")
    matrix: tuple[Axis, ...] = ("head", found.query.side, found.key.side)
    pair = [write("queries", "states", [], query), write("keys", "states", [], key)]
    values = write("values", "states", [], key)
    numbers = _follow(found)
    scores = write("scores", "states" if numbers is None else "dot", pair, matrix, numbers=numbers)
    plain = found.sink_weights is None and found.relaxed is None
    weights = write("weights", "softmax" if plain else "states", [scores], matrix)
    write("mixed", "mix", [weights, values], query)
    write("output", "states", [], query[1:], missing=builder.unobserved)


def _follow(found: AttentionMap) -> dict[str, float] | None:
    """By which numbers scores follow from products of queries and keys: a scale, and in some models a soft
    cap, c · tanh(x / c); None where something else is in them, such as a bias."""
    if found.queries is None or found.keys is None or found.dense_scores is None or found.scale is None:
        return None
    if found.queries.shape[-1] != found.keys.shape[-1]:
        return None
    rows = choose(len(found.query), CHECKED)
    groups = (len(found.keys), -1, found.queries.shape[-1])  # heads that share their keys stand together
    queries = found.queries[:, rows].astype(np.float64).reshape(groups)
    keys = found.keys.astype(np.float64).transpose(0, 2, 1)
    scores = found.dense_scores[:, rows].astype(np.float64)
    seen = np.isfinite(scores)
    products = (queries @ keys).reshape(scores.shape)[seen] * found.scale
    sizes = (np.abs(queries) @ np.abs(keys)).reshape(scores.shape)[seen] * abs(found.scale)
    near = (
        np.full_like(sizes, AGREEMENT) if found.dtype in HALVES else np.minimum(ROUNDING * sizes, AGREEMENT)
    )

    def fit(guess: NDArray[np.float64]) -> bool:
        return bool((np.abs(guess - scores[seen]) <= near).all())

    if fit(products):
        return {"scale": found.scale}
    witnesses = np.count_nonzero(np.abs(products - scores[seen]) > near)
    cap = _find_cap(products, scores[seen]) if witnesses >= WITNESSES else None
    for each in () if cap is None else (float(f"{cap:.2g}"), float(f"{cap:.4g}"), cap):
        if fit(each * np.tanh(products / each)):
            return {"scale": found.scale, "cap": each}
    return None


def _find_cap(products: NDArray[np.float64], scores: NDArray[np.float64]) -> float | None:
    """The cap that makes the largest product the score that it became."""
    place = int(np.abs(products).argmax())
    product, score = abs(float(products[place])), float(scores[place] * np.sign(products[place]))
    if not 0 < score < product:
        return None
    low, high = score, 1e6 * product
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if middle * np.tanh(product / middle) < score else (low, middle)
    return high
