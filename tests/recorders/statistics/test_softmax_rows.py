"""Softmax in place: weights of torch to the last bit, statistics of float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.recorders.statistics import softmax_rows
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recorders.statistics.softmax_rows import SHORTEST, can_form, form_weights
from glassformer.recording import HeadStatistics
from measured_examples import KINDS, Example, check, make_example

pytestmark = pytest.mark.numeric  # by what its helpers compare

PLAIN = ["full", "causal", "cross with many keys", "cached", "grouped", "one key head", "one query", "sharp"]


def form_products(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.repeat_interleave(len(queries) // len(keys), 0).transpose(1, 2)


def soften(products: Tensor, scoring: Scoring) -> Tensor:
    """As eager attention does: a matrix of masks is added, then one softmax over whole rows."""
    scores = products * scoring.scale
    if scoring.causal:
        mask = torch.full(products.shape[1:], torch.finfo(torch.float32).min).triu(scoring.offset + 1)
        scores = scores + mask
    return torch.softmax(scores, -1, dtype=torch.float32)


def measure(example: Example) -> tuple[Tensor, HeadStatistics]:
    products = form_products(example.queries, example.keys)
    rows = np.ones(products.shape[1], bool) if example.rows is None else example.rows.numpy()
    return products, form_weights(products, example.scoring, rows)


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("length", [100, 300])
@pytest.mark.parametrize(("cells", "height"), [(1 << 20, 64), (1 << 12, 16)])
def test_weights_are_those_of_torch_and_statistics_those_of_float64(
    kind: str, length: int, cells: int, height: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(softmax_rows, "CELLS", cells)
    monkeypatch.setattr(softmax_rows, "HEIGHT", height)
    example = make_example(kind, length)
    weights, found = measure(example)
    assert torch.equal(weights, soften(form_products(example.queries, example.keys), example.scoring))
    check(found, example)


@pytest.mark.parametrize("causal", [True, False])
def test_every_length_gives_the_weights_of_torch(causal: bool) -> None:
    chance = torch.Generator().manual_seed(0)
    for length in [*range(SHORTEST, SHORTEST + 70), 129, 255, 256, 257, 511, 513, 777, 1000, 1024]:
        products = torch.randn(2, length, length, generator=chance) * 9
        expected = soften(products, Scoring(0.3, causal=causal))
        form_weights(products, Scoring(0.3, causal=causal), np.ones(length, bool))
        assert torch.equal(products, expected), length


def test_padded_rows_are_left_out_of_the_mass() -> None:
    example = make_example("full", 100)
    rows = np.arange(100) % 7 != 3
    found = form_weights(form_products(example.queries, example.keys), example.scoring, rows)
    np.testing.assert_allclose(
        found.mass, example.weights[:, rows].sum(1), rtol=0, atol=100 * example.rounding
    )


def test_what_can_be_formed_here() -> None:
    found = set()
    for kind in KINDS:
        example = make_example(kind, 100)
        if can_form(example.queries, example.keys, example.scoring):
            found.add(kind)
    assert found == set(PLAIN)
    example = make_example("full", 100)
    assert not can_form(example.queries.half(), example.keys.half(), example.scoring)
    assert not can_form(example.queries.to("meta"), example.keys.to("meta"), example.scoring)
    assert not can_form(example.queries, example.keys[:, : SHORTEST - 1], example.scoring)
