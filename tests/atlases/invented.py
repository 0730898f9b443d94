"""A small atlas with everything in it: two stacks, types, costs, examples. Its numbers are made up."""

from typing import Any

import numpy as np

from glassformer.atlases import Atlas
from glassformer.atlases.schema import AtlasBody
from glassformer.recording import Recording, from_arrays

WORDS = ("The", "cat", "saw", "the", "dog", ",", "and", "the", "cat", "saw", "it", ".")
DETECTORS = (
    ("previous_token", "previous_token", None, ("decoder.self",)),
    ("induction", "induction", None, ("decoder.self",)),
    ("sink", "sink", None, ("decoder.self",)),
    ("dependent:obj", "dependent", "obj", ("decoder.self",)),
    ("governor:nsubj", "governor", "nsubj", ("decoder.self",)),
    ("alignment", "alignment", None, ("decoder.cross",)),
)


def invent_atlas(
    name: str = "zoo/invented", layers: int = 3, heads: int = 4, seed: int = 0, *, cross: bool = True
) -> Atlas:
    """Heads take turns: the type of head h of layer l is number l + h of those that apply, or none."""
    numbers = np.random.default_rng(seed)
    kinds = ("decoder.self", "decoder.cross") if cross else ("decoder.self",)
    cards = [
        _invent_head(f"{kind}.{layer}", head, layer + head + seed, numbers)
        for kind in kinds
        for layer in range(layers)
        for head in range(heads)
    ]
    types = [card["type"] for card in cards]
    body = AtlasBody.model_validate(
        {
            "model": {"name": name, "identity": f"{seed:064x}"},
            "corpus": {"name": "made-up sentences", "texts": 120, "tokens": 2400, "skipped": 1},
            "places": [
                {"place": f"{kind}.{layer}", "heads": heads} for kind in kinds for layer in range(layers)
            ],
            "detectors": [
                {
                    "name": each,
                    "family": family,
                    "detail": detail,
                    "threshold": 0.2,
                    "null": "uniform" if each == "previous_token" else "shuffled",
                    "baseline": 0.31 if detail or each == "alignment" else None,
                    "offset": -1 if detail else None,
                    "applies": applies,
                    "texts": 100,
                }
                for each, family, detail, applies in DETECTORS
            ],
            "heads": cards,
            "clusters": [
                {
                    "number": number,
                    "heads": sum(card["cluster"] == number for card in cards),
                    "types": {each: types.count(each) for each in set(types) - {None}},
                }
                for number in range(3)
            ],
            "notes": [{"code": "text.literal", "parameters": {"text": "Invented."}, "default": "{text}"}],
        }
    )
    recordings = tuple(_invent_recording(layers, heads, seed + text) for text in range(2))
    return Atlas(body, recordings=recordings)


def _invent_head(place: str, head: int, turn: int, numbers: np.random.Generator) -> dict[str, Any]:
    kind = place.rpartition(".")[0]
    applying = [each for each, _, _, applies in DETECTORS if kind in applies]
    turns = [*applying, None]
    chosen = turns[turn % len(turns)]
    scores: dict[str, Any] = {}
    for each, *_ in DETECTORS:
        mean = float(numbers.uniform(0.6, 0.9) if each == chosen else numbers.uniform(0.0, 0.15))
        scores[each] = None
        if each in applying:
            scores[each] = {
                **_around(mean, 0.03),
                "null": 0.08,
                "null_high": 0.1,
                "texts": 100,
                "p": 0.001 if each == chosen else 0.6,
            }
    strong = [
        {"bundle": text, "query": 4, "key": 2, "detector": chosen, "value": round(0.9 - text / 10, 2)}
        for text in range(2)
        if kind == "decoder.self"
    ]
    cost = float(numbers.normal(0.02, 0.03))
    return {
        "place": place,
        "head": head,
        "type": chosen,
        "types": [chosen] if chosen else [],
        "scores": scores,
        "measures": {
            "entropy": _around(float(numbers.uniform(0.1, 0.9)), 0.02),
            "distance": _around(float(numbers.uniform(1, 9)), 0.5),
            "first_token": None,
        },
        "by_position": {
            "entropy": [*numbers.uniform(0.2, 0.8, 4).round(3), None],
            "edges": [0, 2, 4, 8, 16, 32],
        },
        "cluster": turn % 3,
        "point": [float(numbers.normal(turn % 3)), float(numbers.normal(-(turn % 3)))],
        "cost": {**_around(cost, 0.01), "texts": 40} if chosen != "sink" else None,
        "examples": strong,
    }


def _around(mean: float, half: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _invent_recording(layers: int, heads: int, seed: int) -> Recording:
    size = len(WORDS)
    scores = np.random.default_rng(seed).normal(size=(layers, heads, size, size)).astype(np.float32) * 2
    weights = np.where(np.tril(np.ones((size, size), bool)), np.exp(scores), 0)
    return from_arrays(
        list(weights / weights.sum(-1, keepdims=True)), list(WORDS), stack="decoder", kind="self"
    )
