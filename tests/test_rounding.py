"""The tolerance for float32: wide enough for every order of summation, too narrow for any mistake."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.errors import RecordingError
from glassformer.model.transformer import Transformer
from glassformer.place import Place
from glassformer.recorders.statistics.measure import head_statistics
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import AttentionMap, Factors, Tokens
from glassformer.rounding import EPSILON, rounding, row_tolerance
from tolerances import assert_near, largest


def build(layers: int, width: int, *, stronger: float = 1.0, seed: int = 0, **words: Any) -> Transformer:
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary_size=97, shape="decoder", layers=layers, width=width, heads=4, activation="gelu", **words
    )
    network = Transformer(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 2:
                parameter.mul_(stronger)
    return network


@torch.no_grad()
def read(network: Transformer) -> tuple[Tensor, float]:
    """The logits of some tokens, and the largest attention score."""
    seen = [0.0]
    handles = [
        module.register_forward_hook(lambda _, __, scores: seen.append(largest(scores)))
        for name, module in network.named_modules()
        if name.endswith(".scores")
    ]
    assert handles
    logits = network(torch.randint(0, 97, (1, 24), generator=torch.Generator().manual_seed(1)))
    for handle in handles:
        handle.remove()
    return logits, max(seen)


def share(found: Tensor, wanted: Tensor, layers: int, width: int, scores: float) -> float:
    """How far apart, as a share of the tolerance."""
    far = largest(found.double() - wanted.double())
    return far / rounding(layers=layers, summands=width, magnitude=largest(wanted), scores=scores)


@pytest.mark.numeric
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("width", [16, 64, 256])
@pytest.mark.parametrize("layers", [1, 2, 6, 12])
def test_networks_stay_within_it(layers: int, width: int, seed: int) -> None:
    network = build(layers, width, seed=seed)
    found, scores = read(network)
    wanted, _ = read(copy.deepcopy(network).double())
    assert 0.005 < share(found, wanted, layers, width, scores) < 0.2  # a tolerance far from use tests nothing


@pytest.mark.numeric
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sharp_attention_stays_within_it(seed: int) -> None:
    network = build(2, 64, stronger=3.0, seed=seed)
    found, scores = read(network)
    wanted, _ = read(copy.deepcopy(network).double())
    assert scores > 10
    assert share(found, wanted, 2, 64, scores) < 1


@pytest.mark.parametrize(
    ("change", "stronger"),
    [
        ({"activation": "gelu-tanh"}, 2.0),  # the two GELUs differ for inputs around 2
        ({"activation": "silu"}, 1.0),
        ({"norm_epsilon": 1e-4}, 1.0),
        ({"similarity": "dot"}, 1.0),
        ({"positions": "none"}, 1.0),
    ],
    ids=str,
)
def test_mistakes_do_not(change: dict[str, Any], stronger: float) -> None:
    network = build(2, 64, stronger=stronger)
    other = Transformer(
        ModelConfig(
            **{"vocabulary_size": 97, "shape": "decoder", "layers": 2, "width": 64, "heads": 4}
            | {"activation": "gelu"}
            | change
        )
    ).eval()
    other.load_state_dict(network.state_dict())
    found, scores = read(other)
    wanted, _ = read(network)
    assert share(found, wanted, 2, 64, scores) > 2


def test_one_product_in_each_precision() -> None:
    left, right = torch.randn(50, 256).double(), torch.randn(256, 40).double()
    for dtype in (torch.float32, torch.float16):
        inputs, weights = left.to(dtype), right.to(dtype)
        found, wanted = inputs @ weights, inputs.double() @ weights.double()
        name = str(dtype).removeprefix("torch.")
        assert_near(found, wanted, operations=1, summands=256, dtype=name)
        with pytest.raises(AssertionError, match="apart; rounding explains"):
            assert_near(
                found + 64 * EPSILON[name] * largest(wanted), wanted, operations=1, summands=256, dtype=name
            )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_rows_rounded_once_stay_within_their_tolerance(dtype: torch.dtype) -> None:
    scores = torch.randn(400, 300, generator=torch.Generator().manual_seed(0)).double()
    tolerance = row_tolerance(str(dtype).removeprefix("torch."))
    for sharpness in (0.1, 1, 10):
        weights = torch.softmax(sharpness * scores, -1).to(dtype)
        assert 0 < largest(weights.double().sum(-1) - 1) <= tolerance / 2


@pytest.mark.numeric
@pytest.mark.parametrize("sharpness", [1.0, 4.0, 8.0])
def test_rows_computed_again_stay_within_their_tolerance(sharpness: float) -> None:
    chance = torch.Generator().manual_seed(0)
    queries, keys = (sharpness * torch.randn(2, 300, 64, generator=chance) for _ in range(2))
    statistics = head_statistics(queries, keys, Scoring(1.0))
    factors = Factors(queries.numpy(), keys.numpy(), statistics.log_sum_exp, 1.0)
    tokens = Tokens.positional("source", 300)
    found = AttentionMap(Place("encoder", "self", 0), tokens, tokens, statistics, factors=factors)
    errors = np.abs(found.weights().sum(-1) - 1)
    limits = np.maximum(row_tolerance("float32"), np.abs(statistics.log_sum_exp) * rounding())
    assert 0.02 < (errors / limits).max() < 0.5
    others = (queries * (1 + 1e-3)).numpy()  # other scores, by a thousandth
    for wrong in (
        Factors(others, keys.numpy(), statistics.log_sum_exp, 1.0),
        Factors(queries.numpy(), keys.numpy(), statistics.log_sum_exp + 1e9, 1.0),
    ):
        with pytest.raises(RecordingError, match="sum to"):
            replace(found, factors=wrong)


def test_what_is_not_finite_must_be_the_same() -> None:
    assert_near([1.0, float("-inf")], [1.0, float("-inf")])
    with pytest.raises(AssertionError):
        assert_near([1.0, 0.0], [1.0, float("-inf")])
    with pytest.raises(AssertionError):
        assert_near([1.0, float("nan")], [1.0, 2.0])


def test_shapes_must_agree() -> None:
    assert_near([[1.0, 1.0]], 1.0)
    with pytest.raises(AssertionError, match="beside"):
        assert_near([1.0, 1.0], [1.0])
