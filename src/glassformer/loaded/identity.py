"""Which model this is: a hash over all weights, after a check that every one of them is a finite number.

In:   a network.
Out:  the SHA-256 of its weights, or an error that names the first weight that is not a number.

Hashing reads every byte, so the result is kept until a weight changes. Torch counts changes in place; a few
numbers of every weight are compared as well, for changes that it does not count (through `.data`).
"""

import hashlib
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from glassformer.errors import RecordingError

_SAMPLES = 16  # numbers of each weight that are compared


class Identity:
    """The hash of one network, computed when first asked for and again after a change."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self._seen: tuple[object, ...] | None = None
        self._hash = ""

    @torch.no_grad()
    def hash(self) -> str:
        """Hexadecimal SHA-256 over names, types, shapes and bytes of all weights, by name."""
        weights = dict(_list_tensors(self.network.state_dict(keep_vars=True).items()))
        seen = _glance(weights)
        if seen != self._seen:
            weights = dict(sorted(weights.items()))
            _check_numbers(weights)
            self._hash = _hash(weights)
            self._seen = seen
        return self._hash


def _list_tensors(items: Iterable[tuple[str, object]]) -> Iterator[tuple[str, Tensor]]:
    """The weights by name; those that were quantized come packed with their offsets, and other things."""
    for name, item in items:
        if isinstance(item, Tensor):
            yield name, item.dequantize() if item.is_quantized else item
        elif isinstance(item, tuple | list):
            yield from _list_tensors((f"{name}.{place}", part) for place, part in enumerate(item))


def _glance(weights: dict[str, Tensor]) -> tuple[object, ...]:
    """What differs when a weight was changed or replaced, at almost no cost."""
    places = tuple(
        (name, weight.data_ptr(), None if weight.is_inference() else weight._version)
        for name, weight in weights.items()
    )
    samples: dict[object, list[Tensor]] = {}  # by precision and device: each joined and fetched in one go
    for weight in weights.values():
        samples.setdefault((weight.dtype, weight.device), []).append(_sample(weight))
    return (*places, *(bytes(_read_bytes(torch.cat(group))) for group in samples.values()))


def _sample(weight: Tensor) -> Tensor:
    """A few numbers of a weight, evenly spread."""
    size = weight.numel()
    step = max(1, size // _SAMPLES)
    if type(weight) in (Tensor, nn.Parameter) and weight.is_contiguous():  # as most are
        return weight.as_strided((min(size, _SAMPLES),), (step,))  # one operation for five
    return weight.detach().reshape(-1)[::step][:_SAMPLES]


def _check_numbers(weights: dict[str, Tensor]) -> None:
    for name, weight in weights.items():
        if weight.is_floating_point() and not bool(weight.isfinite().all()):
            wrong = int((~weight.isfinite()).sum())
            raise RecordingError("loaded.not_finite", weight=name, wrong=wrong, count=weight.numel())


def _hash(weights: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name, weight in weights.items():
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}\n".encode())
        digest.update(_read_bytes(weight))
    return digest.hexdigest()


def _read_bytes(weight: Tensor) -> memoryview:
    return weight.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
