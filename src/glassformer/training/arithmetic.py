"""Settings of arithmetic that make training faster; a process has them once, so they are given back.

In:   the device that a run trains on.
Out:  a context in which they hold.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def fast_arithmetic(device: torch.device) -> Iterator[None]:
    """Numbers too small to be normal are 0: as gradients they cost up to 3.7 × the time. On a GPU, tf32."""
    flushed, precision = _flushes(), torch.get_float32_matmul_precision()
    torch.set_flush_denormal(True)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_float32_matmul_precision(precision)


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Inside `fast_arithmetic`, numbers as they are everywhere else: for recordings."""
    flushed, precision = _flushes(), torch.get_float32_matmul_precision()
    torch.set_flush_denormal(False)
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_float32_matmul_precision(precision)


def _flushes() -> bool:
    """Whether this thread takes denormal numbers for 0 already; torch can set that but does not tell."""
    return float(torch.tensor([1e-39]) * torch.ones(1)) == 0.0
