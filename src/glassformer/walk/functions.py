"""Activations, one number at a time, in double precision.

In:   a number.
Out:  what the activation makes of it.
"""

import math
from collections.abc import Callable


def _gelu(x: float) -> float:
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def _silu(x: float) -> float:
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": _gelu,
    "gelu-tanh": _gelu_tanh,
    "silu": _silu,
    "tanh": math.tanh,
    "sigmoid": _sigmoid,
}
