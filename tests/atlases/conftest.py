"""An atlas by hand."""

from collections.abc import Callable

import pytest

from glassformer.atlases import Atlas
from glassformer.atlases.schema import AtlasBody


def make_atlas(name: str = "one", layers: int = 2, previous: float = 0.9) -> Atlas:
    """Two heads a layer: head 0 looks at the previous token, head 1 has no type."""
    heads = []
    for layer in range(layers):
        for head in range(2):
            mean = previous if head == 0 else 0.1
            score = {"mean": mean, "low": mean - 0.02, "high": mean + 0.02}
            heads.append(
                {
                    "place": f"decoder.self.{layer}",
                    "head": head,
                    "type": "previous_token" if mean > 0.3 else None,
                    "types": ["previous_token"] if mean > 0.3 else [],
                    "scores": {
                        "previous_token": score | {"null": 0.1, "null_high": 0.1, "texts": 9, "p": 0.01}
                    },
                    "measures": {"entropy": score},
                    "by_position": {"entropy": [0.5, None], "edges": [0, 8, 16]},
                    "cluster": head,
                    "point": [0.0, float(head)],
                    "cost": None,
                    "examples": [],
                }
            )
    detector = {
        "name": "previous_token",
        "family": "previous_token",
        "threshold": 0.2,
        "null": "uniform",
        "applies": ["decoder.self"],
        "texts": 9,
    }
    body = AtlasBody.model_validate(
        {
            "model": {"name": name, "identity": "0"},
            "corpus": {"name": "mine", "texts": 9, "tokens": 99, "skipped": 0},
            "places": [{"place": f"decoder.self.{layer}", "heads": 2} for layer in range(layers)],
            "detectors": [detector],
            "heads": heads,
            "clusters": [],
        }
    )
    return Atlas(body)


@pytest.fixture
def build_atlas() -> Callable[..., Atlas]:
    return make_atlas
