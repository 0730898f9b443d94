"""atlas.json: strict, without NaN."""

import math

import pytest
from pydantic import ValidationError

from glassformer.atlases.schema import AtlasHead, Interval


def test_nan_is_refused() -> None:
    with pytest.raises(ValidationError):
        Interval(mean=math.nan, low=0.0, high=1.0)


def test_the_layer_is_that_of_the_place() -> None:
    card = AtlasHead.model_validate(
        {
            "place": "decoder.cross.3",
            "head": 1,
            "type": None,
            "types": [],
            "scores": {"copying": None},
            "measures": {},
            "by_position": {"entropy": [0.5], "edges": [0, 8]},
            "cluster": 0,
            "point": [0.0, 1.0],
            "cost": None,
            "examples": [],
        }
    )
    assert card.layer == 3
