"""Activations are those of torch."""

import pytest

from glassformer.walk.functions import ACTIVATIONS

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("number", [-800.0, -3.0, -0.5, 0.0, 0.5, 3.0, 800.0])
def test_every_activation_is_that_of_torch(number: float) -> None:
    functional = torch.nn.functional
    wanted = {
        "relu": functional.relu,
        "gelu": functional.gelu,
        "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "silu": functional.silu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
    }
    assert set(ACTIVATIONS) == set(wanted)
    for name, function in ACTIVATIONS.items():
        there = float(wanted[name](torch.tensor(number, dtype=torch.float64)))
        assert function(number) == pytest.approx(there, abs=1e-12), name
