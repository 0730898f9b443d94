"""Rates over time, decay of matrices alone, gradients of a mean, averages of weights."""

import math

import pytest
import torch
from torch import nn

from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError
from glassformer.model.transformer import Transformer
from glassformer.training.optim import (
    Gradients,
    MovingAverage,
    average_weights,
    build_optimiser,
    learning_rate,
    set_rate,
)
from glassformer.training.settings import TrainSettings
from tolerances import assert_near
from training.networks import make


def test_the_papers_schedule_is_equation_3() -> None:
    settings = TrainSettings(warmup=4000)
    for step in (1, 10, 3999, 4000, 4001, 100_000):
        expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(step, settings, 512) == pytest.approx(expected, rel=1e-12)


def test_cosine_and_linear_rise_fall_and_end_at_the_floor() -> None:
    for schedule in ("cosine", "linear"):
        settings = TrainSettings(steps=100, rate=2.0, warmup=10, floor=0.1, schedule=schedule)  # type: ignore[arg-type]
        rates = [learning_rate(step, settings, 8) for step in range(1, 101)]
        assert rates[4] == pytest.approx(1.0)
        assert max(rates) == rates[9] == pytest.approx(2.0)
        assert rates[9:] == sorted(rates[9:], reverse=True)
        assert rates[54] == pytest.approx(1.1)  # half-way between 2 and 0.2
        assert rates[-1] == pytest.approx(0.2)


def test_rates_fall_by_steps_or_by_time_whichever_is_ahead() -> None:
    settings = TrainSettings(steps=100, rate=2.0, warmup=10, floor=0.1, schedule="linear")
    assert learning_rate(20, settings, 8, used=0.5) == learning_rate(55, settings, 8)
    assert learning_rate(55, settings, 8, used=0.2) == learning_rate(55, settings, 8)
    assert learning_rate(5, settings, 8, used=0.5) == learning_rate(5, settings, 8)  # still warming up
    assert learning_rate(20, settings, 8, used=1.0) == pytest.approx(0.2)
    with pytest.raises(ConfigurationError, match="minutes = 0 is not possible"):
        TrainSettings(minutes=0)


def test_constant_needs_no_warm_up() -> None:
    settings = TrainSettings(rate=0.5, warmup=0, schedule="constant")
    assert [learning_rate(step, settings, 8) for step in (1, 7)] == [0.5, 0.5]


def test_only_matrices_decay() -> None:
    torch.manual_seed(0)
    network = Transformer(ModelConfig(20, layers=1, width=8, heads=2, feed_forward=16))
    optimiser = build_optimiser(network, TrainSettings(decay=0.5))
    before = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    set_rate(optimiser, 0.1)
    optimiser.step()
    for name, parameter in network.named_parameters():
        expected = before[name] * (0.95 if parameter.dim() >= 2 else 1.0)
        torch.testing.assert_close(parameter.detach(), expected)


def test_gradients_are_scaled_then_clipped_by_their_whole_length() -> None:
    names = ("network.encoder.layers.0.weight", "network.embeddings.weight", "network.head.weight")
    parameters = dict(zip(names, (nn.Parameter(torch.zeros(size)) for size in (2, 1, 5)), strict=True))
    first, second, _ = parameters.values()
    gradients = Gradients(parameters)
    assert gradients.layers == ("encoder.0", "embeddings", "head")
    first.grad, second.grad = torch.tensor([6.0, 0.0]), torch.tensor([8.0])
    norms = gradients.scale_and_clip(torch.tensor(0.5), clip=1.0)
    assert norms.tolist() == pytest.approx([5.0, 3.0, 4.0, 0.0])
    assert_near(first.grad, torch.tensor([0.6, 0.0]))
    assert_near(second.grad, torch.tensor([0.8]))
    first.grad, second.grad = torch.tensor([6.0, 0.0]), torch.tensor([8.0])
    gradients.scale_and_clip(torch.tensor(0.5), clip=0.0)
    torch.testing.assert_close(second.grad, torch.tensor([4.0]))
    first.grad, second.grad = torch.tensor([0.06, 0.0]), torch.tensor([0.08])
    gradients.scale_and_clip(torch.tensor(1.0), clip=1.0)
    torch.testing.assert_close(second.grad, torch.tensor([0.08]))


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_the_norms_of_layers_are_those_of_their_parameters(shape: str) -> None:
    network = make(shape)
    parameters = dict(network.named_parameters())
    chance = torch.Generator().manual_seed(0)
    for parameter in parameters.values():
        parameter.grad = torch.randn(parameter.shape, generator=chance)
    gradients = Gradients(parameters)
    norms = gradients.scale_and_clip(torch.tensor(1.0), clip=0.0)
    whole = torch.cat([parameter.grad.flatten() for parameter in parameters.values()])  # type: ignore[union-attr]
    assert_near(norms[0], whole.norm().double())
    for layer, norm in zip(gradients.layers, norms[1:], strict=True):
        stack, _, number = layer.partition(".")
        inside = network.get_submodule(f"{stack}.layers.{number}" if number else stack)
        expected = torch.cat([each.grad.flatten() for each in inside.parameters() if each.grad is not None])
        assert_near(norm, expected.norm().double())
    assert len(gradients.layers) == 1 + sum(network.config.depth.values())


def test_a_moving_average_follows_and_starts_warm() -> None:
    parameter = nn.Parameter(torch.zeros(1))
    average = MovingAverage([parameter], keep=0.9)
    expected = 0.0
    for step in range(1, 200):
        parameter.data.fill_(float(step))
        average.update(step)
        keep = min(0.9, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * step
    assert average.values[0].item() == pytest.approx(expected, rel=1e-5)
    assert 185 < expected < 195


def test_the_mean_of_checkpoints() -> None:
    states = [
        {"a": torch.tensor([1.0, math.pi]), "n": torch.tensor(3)},
        {"a": torch.tensor([3.0, 0.0]), "n": torch.tensor(5)},
    ]
    mean = average_weights(states)
    torch.testing.assert_close(mean["a"], torch.tensor([2.0, math.pi / 2]))
    assert mean["a"].dtype == torch.float32
    assert mean["n"].item() == 5
