"""Matrix products with the kernels that are fastest where we run.

In:   activations (…, input) and weights (output, input).
Out:  activations (…, output): what `torch.nn.functional.linear` gives, to rounding; in networks that int8.py
      has rounded, of activations in eight bits.

On a CPU torch's `linear` calls the BLAS it was built with, which for the few rows of a generation step reads
weights at a fraction of the memory's speed. oneDNN, also part of torch, is faster there: most of all with
weights laid out for it once ("packed"). One row alone is multiplied by MKL's batched product, one part of the
outputs for each thread, which reads weights almost twice as fast as oneDNN; where there are more outputs than
inputs, from a transposed copy. Decision 0007 has the measurements. Everywhere else, and under a compiler,
plain `linear` is used.
"""

import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW_ROWS = 64  # up to here packed weights win clearly; beyond, arithmetic hides the reading of weights
FEWEST_ROWS = 4  # with AVX-512 rows of zeros are added up to this: one to three rows are slower
PACK_FOR = 8  # rows the layout is made for: good from 1 to FEW_ROWS
SAMPLES = 1024  # numbers of a weight that are compared when a generation begins to use it
_TINY = torch.finfo(torch.float32).tiny
ENGINE = "fbgemm"  # of products of eight bits
CPU_FACTS = Path("/proc/cpuinfo")
ZEN_5 = 26  # the family of the first of AMD's processors that compute 512 bits at once
PACK_AFTER = 2  # calls with few rows before a weight is packed: a single short text should not pay for it


def multiply(
    inputs: Tensor, weight: Tensor, bias: Tensor | None, packed: "PackedWeight | None" = None
) -> Tensor:
    """inputs · weightᵀ + bias."""
    if not _suits_onednn(inputs, weight):
        return F.linear(inputs, weight, bias)
    if torch.is_grad_enabled() and (weight.requires_grad or inputs.requires_grad):
        return _Product.apply(inputs, weight, bias)
    if isinstance(packed, Int8Weight):
        return packed.multiply(inputs, weight, bias)
    rows = inputs.numel() // inputs.shape[-1]
    if packed is None or rows > FEW_ROWS:
        return _onednn(inputs, weight, bias)
    if rows == 1 and torch.backends.mkl.is_available():
        parts = math.gcd(torch.get_num_threads(), len(weight))
        columns = packed.in_columns(weight, parts)
        if columns is not None:
            return _multiply_row(inputs, columns, bias)
    return _multiply_few(inputs, weight, bias, packed)


def _multiply_few(inputs: Tensor, weight: Tensor, bias: Tensor | None, packed: "PackedWeight") -> Tensor:
    """Few rows, times the packed weight."""
    rows = inputs.numel() // inputs.shape[-1]
    laid_out = packed.of(weight)
    if laid_out is weight or rows >= FEWEST_ROWS or not _has_avx512():
        return _onednn(inputs, laid_out, bias)
    filled = F.pad(inputs.reshape(rows, -1), (0, 0, 0, FEWEST_ROWS - rows))
    return _onednn(filled, laid_out, bias)[:rows].view(*inputs.shape[:-1], -1)


def _multiply_row(inputs: Tensor, columns: Tensor, bias: Tensor | None) -> Tensor:
    """One row of inputs, times a weight as (part, input, output of the part); a thread takes a part."""
    parts, width, outputs = columns.shape
    row = inputs.reshape(1, 1, width).expand(parts, 1, width)
    if bias is None:
        product = torch.bmm(row, columns)
    else:
        product = torch.baddbmm(bias.reshape(parts, 1, outputs), row, columns)
    return product.reshape(*inputs.shape[:-1], -1)


class Linear(nn.Linear):
    """`nn.Linear` through `multiply`."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.packed: PackedWeight = PackedWeight()

    def forward(self, inputs: Tensor) -> Tensor:
        return multiply(inputs, self.weight, self.bias, self.packed)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Linear":
        self.packed = type(self.packed)()  # on another device or of another type it would only take room
        super()._apply(fn, recurse)
        return self


_generation: ContextVar[object | None] = ContextVar("generation", default=None)


@contextmanager
def generating(which: object) -> Iterator[None]:
    """Steps of one generation, during which weights stay as they are: packed ones may be used.

    Inside another such context they belong to the outer generation.
    """
    token = _generation.set(_generation.get() or which)
    try:
        yield
    finally:
        _generation.reset(token)


_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def packing_at_once() -> Iterator[None]:
    """Weights are packed when they are first used: the first generation computes as all later ones do, to the
    last bit."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


class PackedWeight:
    """A weight laid out for products with few rows: made when it pays, anew when the weight has changed.

    Torch counts changes in place, but not those through `.data`: against these, each generation compares
    numbers from all over the weight before it uses the packed form. Several threads may use it at once: old
    forms are dropped before the new key is set, and each thread goes on with the form that it has read.
    """

    def __init__(self) -> None:
        self._key: tuple[int, int] | None = None
        self._calls = 0
        self._weight: Tensor | None = None
        self._rows = 0  # calls with one row in this generation: beam search makes one, greedy search many
        self._columns: Tensor | None = None
        self._sample: Tensor | None = None  # a view of the weight: its memory stays taken, its address unique
        self._sampled: Tensor | None = None  # the same numbers when it was first used
        self._checked: object = None  # the generation that has compared them

    def of(self, weight: Tensor) -> Tensor:
        """The packed form of `weight`; `weight` itself outside of a generation, or while seldom used."""
        if not self._follow(weight):
            return weight
        self._calls += 1
        laid_out = self._weight
        if laid_out is None and (self._calls > PACK_AFTER or _at_once.get()):
            laid_out = self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), PACK_FOR)
        return weight if laid_out is None else laid_out

    def in_columns(self, weight: Tensor, parts: int) -> Tensor | None:
        """`weight` as (part, input, output of the part), for one row; None where `of` is better.

        With more outputs than inputs it is copied, so that each input has its outputs side by side.
        """
        outputs, inputs = weight.shape
        if not self._follow(weight) or (outputs <= inputs and parts == 1):
            return None
        columns = weight.detach().unflatten(0, (parts, -1)).transpose(1, 2)
        if outputs <= inputs:
            return columns
        self._rows += 1
        copied = self._columns
        if copied is not None and len(copied) != parts:
            copied = self._columns = None  # another number of threads
        if copied is None and (self._rows > PACK_AFTER or _at_once.get()):
            copied = self._columns = columns.contiguous()
        return columns if copied is None else copied

    def _follow(self, weight: Tensor) -> bool:
        """Drop the packed forms of a weight that has changed; False where none may be used."""
        which = _generation.get()
        if which is None or weight.is_inference():
            return False  # tensors made in inference mode do not count their changes
        key = (weight.data_ptr(), weight._version)
        if key != self._key or (which is not self._checked and self._has_changed()):
            self._calls, self._weight, self._columns = 0, None, None
            flat = weight.detach().flatten()
            self._sample = flat[:: flat.numel() // SAMPLES | 1]  # odd: not the same columns again and again
            self._sampled = self._sample.clone()
            self._key = key
        if which is not self._checked:
            self._rows = 0
        self._checked = which
        return True

    def _has_changed(self) -> bool:
        assert self._sample is not None
        assert self._sampled is not None
        return not torch.equal(self._sample, self._sampled)

    def __deepcopy__(self, memo: dict[int, Any]) -> "PackedWeight":
        return type(self)()

    def __reduce__(self) -> tuple[type["PackedWeight"], tuple[()]]:
        return type(self), ()


class Int8Weight(PackedWeight):
    """A weight in eight bits, one scale for each output; inputs of its products are rounded to eight bits.

    They are rounded by the range of their own row: a token does not suffer from its neighbours.
    """

    def __init__(self) -> None:
        super().__init__()
        self._packed: Any = None

    def multiply(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """inputs · weightᵀ + bias; on processors that add pairs of products in 16 bits, inputs have seven."""
        rows = inputs.reshape(-1, inputs.shape[-1])
        sizes = rows.abs().amax(1, keepdim=True).clamp_min_(_TINY)  # 13 × as fast as torch's norm
        # Torch alone would round all rows by one range, and any range below 0.016 as if it were that large.
        narrow = not _adds_in_32_bits()
        product = torch.ops.quantized.linear_dynamic(rows / sizes, self._pack(weight), narrow)
        product = product.mul_(sizes) if bias is None else torch.addcmul(bias, product, sizes)
        return product.view(*inputs.shape[:-1], -1)

    def _pack(self, weight: Tensor) -> Any:
        key = (weight.data_ptr(), 0 if weight.is_inference() else weight._version)
        if key != self._key:
            self._sample = weight.detach()  # its memory stays taken, its address unique
            self._packed = _pack_int8(self._sample)
            self._key = key  # set last: a thread that sees this key finds the packed weight
        return self._packed


def find_scales(weight: Tensor) -> Tensor:
    """The step (output, 1) between two numbers that eight bits can say, for each row of a weight."""
    return (weight.abs().amax(1, keepdim=True) / 127).clamp_min(_TINY)


_engine = threading.Lock()  # guards a setting of the whole process


def _pack_int8(weight: Tensor) -> Any:
    """Laid out for FBGEMM; torch announces that it will replace these tensors one day."""
    scales = find_scales(weight)[:, 0].double()
    with _engine, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = torch.backends.quantized.engine
        torch.backends.quantized.engine = ENGINE
        try:
            zeros = torch.zeros(len(weight), dtype=torch.long)
            rounded = torch.quantize_per_channel(weight.contiguous(), scales, zeros, 0, torch.qint8)
            return torch.ops.quantized.linear_prepack(rounded, None)
        finally:
            torch.backends.quantized.engine = chosen


@cache
def _has_avx512() -> bool:
    return torch.backends.cpu.get_cpu_capability().startswith("AVX512")


@cache
def _has_wide_vectors() -> bool:
    """Whether vectors of 512 bits are computed at once, and by oneDNN alone: on AMD's processors since Zen 5
    (MKL uses 256 bits there). A rule, not a measurement: a training gives the same numbers each time."""
    return _has_avx512() and _read_amd_family() >= ZEN_5


def _read_amd_family() -> int:
    """The family of this processor in /proc/cpuinfo; 0 if it is not AMD's, or the system is not Linux."""
    try:
        first = CPU_FACTS.read_text().partition("\n\n")[0]
    except (OSError, UnicodeDecodeError):
        return 0
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())
    }
    family = facts.get("cpu family", "")
    return int(family) if facts.get("vendor_id") == "AuthenticAMD" and family.isdecimal() else 0


@cache
def _adds_in_32_bits() -> bool:
    """Whether this processor adds products of eight bits without saturating (VNNI)."""
    return bool(torch.cpu._is_vnni_supported())


def knows_int8() -> bool:
    """Whether this build of torch has kernels for products of eight bits."""
    return ENGINE in torch.backends.quantized.supported_engines


class _Product(torch.autograd.Function):
    """The product and its gradients, each by the library that was faster at its shape."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        context.save_for_backward(inputs, weight)
        context.biased = bias is not None
        return _onednn(inputs, weight, bias)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        inputs, weight = context.saved_tensors
        gradient = gradient.contiguous()
        flat, rows = gradient.flatten(0, -2), inputs.flatten(0, -2)  # (row, output), (row, input)
        to_inputs = to_weight = None
        twice = torch.is_grad_enabled()  # gradients of gradients are wanted: by what torch can differentiate
        if context.needs_input_grad[0]:
            to_inputs = gradient @ weight if twice else _onednn(gradient, weight.t(), None)
        if context.needs_input_grad[1]:
            to_weight = flat.t() @ rows if twice else _weight_gradient(flat, rows)
        to_bias = flat.sum(0) if context.biased and context.needs_input_grad[2] else None
        return to_inputs, to_weight, to_bias


def _weight_gradient(gradient: Tensor, inputs: Tensor) -> Tensor:
    """gradientᵀ · inputs (output, input): BLAS, except where oneDNN is faster."""
    narrow = inputs.shape[1] > gradient.shape[1]
    if narrow or _has_wide_vectors():
        return _onednn(gradient.t(), inputs.t(), None)
    return gradient.t() @ inputs


def _onednn(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")
    return product


def _suits_onednn(inputs: Tensor, weight: Tensor) -> bool:
    return (
        inputs.is_cpu
        and inputs.dtype is torch.float32
        and weight.dtype is torch.float32
        and inputs.numel() > 0
        and not torch.compiler.is_compiling()
        and not torch.is_autocast_enabled("cpu")
        and _onednn_works()
    )


@cache
def _onednn_works() -> bool:
    """Whether this build of torch has the two operations, and they compute what `linear` does."""
    try:
        with torch.no_grad():
            inputs, weight = torch.arange(12.0).view(1, 3, 4), torch.arange(20.0).view(5, 4)
            bias = torch.arange(5.0)
            expected = F.linear(inputs, weight, bias)
            packed = torch.ops.mkldnn._reorder_linear_weight(weight, PACK_FOR)
            return all(torch.allclose(_onednn(inputs, form, bias), expected) for form in (weight, packed))
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
