"""Forward and backward through one batch: as it is, compiled, or replayed as a CUDA graph.

In:   a module that turns a batch into its summed loss.
Out:  the summed loss, detached; gradients are added to those of the parameters.

A step on a GPU is hundreds of small kernels, and starting them takes longer than running them. "default" lets
torch.compile fuse them; "graphs" also records all kernels of a batch's shape once and starts them with one
call; "replay" does that without fusing them. For recording, batches are padded to a few shapes.
"""

import shutil
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
import torch.fx.experimental._config
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError
from glassformer.model.loss import IGNORED
from glassformer.model.transformer import Transformer
from glassformer.tasks.task import TaskModule
from glassformer.text.batches import Batch
from glassformer.training.settings import TrainSettings

ROWS = 16  # rows of a batch become a multiple of this before a graph is looked for
GRID = 4  # and tokens of this: short sentences would be mostly padding on a coarser one
# But tokens under a mask never of this: torch prepares such masks differently, and would compile twice.
UNALIGNED = 16
PLACES = 1024  # and places of labels of this
WARM_UP = 2  # runs before a recording, in which kernels are chosen and compiled


class Step:
    """One batch forwards and backwards, kernel after kernel."""

    def __init__(self, module: nn.Module, device: torch.device, precision: torch.dtype | None) -> None:
        self.module = module
        self.device = device
        self.precision = precision
        self.parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]

    def __call__(self, batch: Batch) -> Tensor:
        """The summed loss; gradients are added up."""
        return self.run(_count_on(batch.to(self.device), self.device))

    def run(self, batch: Batch) -> Tensor:
        """The same for a batch that is on the device."""
        with torch.autocast(self.device.type, self.precision, enabled=self.precision is not None):
            total: Tensor = self.module(batch)
        torch.autograd.backward(total)
        return total.detach()

    def prepare(self, batch: Batch) -> Batch:
        """What can be done to a batch ahead of time."""
        return batch

    def expect(self, rows: int) -> None:
        """The most rows that a batch will have, known before the first one is prepared."""

    def clear(self) -> None:
        """Forget gradients: the next batch begins another update."""
        for parameter in self.parameters:
            parameter.grad = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A graph, the batch that it reads, and where it leaves the loss."""

    graph: torch.cuda.CUDAGraph
    batch: Batch
    total: Tensor


class GraphedStep(Step):
    """All kernels of a batch's shape recorded once, then started by one call."""

    def __init__(
        self,
        module: nn.Module,
        config: ModelConfig,
        device: torch.device,
        precision: torch.dtype | None,
        *,
        varied: bool,
    ) -> None:
        super().__init__(module, device, precision)
        self.config = config
        self.varied = varied
        self.rows = ROWS
        # Memory of a stream is used again by that stream alone: one for all recordings.
        self.beside: Any = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.recorded: dict[tuple[Any, ...], Recorded] = {}
        for parameter in self.parameters:  # a graph adds to gradients where they are: they never move
            parameter.grad = torch.zeros_like(parameter)

    def __call__(self, batch: Batch) -> Tensor:
        batch = _count_on(batch, self.device)
        key = tuple(None if part is None else tuple(part.shape) for part in _tensors(batch).values())
        if key not in self.recorded:
            self.recorded[key] = self._record(batch)
        recorded = self.recorded[key]
        places = _tensors(recorded.batch)
        for name, part in _tensors(batch).items():
            if part is not None:
                places[name].copy_(part, non_blocking=True)
        recorded.graph.replay()
        return recorded.total

    def prepare(self, batch: Batch) -> Batch:
        return pad_to_grid(batch, self.config, multiple=self.rows)

    def expect(self, rows: int) -> None:
        """Where all batches are alike but the last of an epoch, that one is filled up: one shape for all."""
        if not self.varied:
            self.rows = rows

    def clear(self) -> None:
        torch._foreach_zero_([_gradient(parameter) for parameter in self.parameters])

    def _record(self, batch: Batch) -> Recorded:
        kept = [_gradient(parameter).clone() for parameter in self.parameters]
        chance = torch.cuda.get_rng_state(self.device)
        fixed = batch.to(self.device)
        self.beside.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self.beside):
            for _ in range(WARM_UP):
                self.run(fixed)
        torch.cuda.current_stream(self.device).wait_stream(self.beside)
        graph = torch.cuda.CUDAGraph()
        pool = next((known.graph.pool() for known in self.recorded.values()), None)
        # Batches are made ahead by a thread, which takes page-locked memory meanwhile: that is no error.
        with torch.cuda.graph(graph, pool, self.beside, capture_error_mode="thread_local"):
            total = self.run(fixed)
        for parameter, gradient in zip(self.parameters, kept, strict=True):
            _gradient(parameter).copy_(gradient)
        torch.cuda.set_rng_state(chance, self.device)  # this replay drops what any other would drop
        return Recorded(graph, fixed, total)


def build_step(module: nn.Module, settings: TrainSettings, device: torch.device, *, varied: bool) -> Step:
    """The step that a recipe asks for, or the nearest one that this machine and network can do.

    `varied`: batches have many shapes.
    """
    half = settings.precision == "bfloat16" or (settings.precision == "auto" and device.type == "cuda")
    if half and device.type == "cpu":
        raise ConfigurationError("training.bfloat16")
    precision = torch.bfloat16 if half else None
    graphs = settings.compile in ("graphs", "replay")
    fused = settings.compile in ("default", "graphs")
    if settings.compile == "no" or (graphs and device.type == "cpu") or (fused and not find_compiler()):
        return Step(module, device, precision)
    compiled = _compile(module, varied=varied) if fused else module
    if graphs and isinstance(module, TaskModule):
        network = module.network
        if isinstance(network, Transformer) and network.config.norm == "layer":  # others wait for the GPU
            return GraphedStep(compiled, network.config, device, precision, varied=varied)
    return Step(compiled, device, precision)


def find_compiler() -> str | None:
    """The C compiler that torch.compile needs, if there is one."""
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def _compile(module: nn.Module, *, varied: bool) -> Any:
    """Compiled for its one shape, or once for all: left to itself, torch would compile three times."""
    if not varied:
        return torch.compile(module)
    shapes: Any = torch.fx.experimental._config
    shapes.use_duck_shape = False  # two sizes that happen to be equal may differ in the next batch
    return torch.compile(module, dynamic=True)


def pad_to_grid(batch: Batch, config: ModelConfig, *, multiple: int = ROWS) -> Batch:
    """The same batch with more padding: rows by `multiple`, tokens by GRID; `real` for encoders.

    Pictures and sounds get rows, and the longest sound of a batch its own shape.
    """
    if batch.ids.is_floating_point():
        return _add_rows(batch, -len(batch.ids) % multiple)
    rows = -len(batch.ids) % multiple
    length = batch.ids.shape[1]
    read = -length % GRID
    real = batch.real
    if config.has_encoder:
        if (length + read) % UNALIGNED == 0:
            read += GRID
        read = max(0, min(read, config.max_length - length))
        real = torch.ones_like(batch.ids, dtype=torch.bool) if real is None else real
    if real is not None:
        real = F.pad(real, (0, read, 0, rows))
        real[len(batch.ids) :, 0] = True  # a row without any token would be no number
    wide = batch.labels.dim() == 2
    alike = batch.target is None and batch.labels.shape == batch.ids.shape  # labels stand at their own tokens
    written = read if alike else -batch.labels.shape[1] % GRID if wide else 0
    labels = F.pad(batch.labels, (0, written, 0, rows) if wide else (0, rows), value=IGNORED)
    return replace(
        batch,
        ids=F.pad(batch.ids, (0, read, 0, rows)),
        labels=labels,
        real=real,
        target=None if batch.target is None else F.pad(batch.target, (0, written, 0, rows)),
        segments=None if batch.segments is None else F.pad(batch.segments, (0, read, 0, rows)),
        places=_pad_places(batch, labels),
        numbers=None if batch.numbers is None else F.pad(batch.numbers, (0, 0, 0, rows)),
        relation=None if batch.relation is None else F.pad(batch.relation, (0, rows), value=IGNORED),
    )


def _add_rows(batch: Batch, rows: int) -> Batch:
    """More pictures or sounds, all zero, whose labels do not count."""

    def add(part: Tensor | None, value: int = 0) -> Tensor | None:
        return None if part is None else F.pad(part, (0, 0) * (part.dim() - 1) + (0, rows), value=value)

    labels, ids, real = add(batch.labels, IGNORED), add(batch.ids), add(batch.real)
    assert labels is not None
    assert ids is not None
    if real is not None:
        real[len(batch.ids) :, 0] = True  # a row without any token would be no number
    return replace(batch, ids=ids, labels=labels, real=real, target=add(batch.target))


def _pad_places(batch: Batch, labels: Tensor) -> Tensor | None:
    """Places in the padded labels; more of them, which point at a label that does not count."""
    if batch.places is None:
        return None
    before, after = batch.labels.shape[1], labels.shape[1]
    places = batch.places // before * after + batch.places % before
    spare = -len(places) % PLACES
    ignored = (labels.flatten() == IGNORED).nonzero()
    if spare and len(ignored) == 0:
        return None
    return F.pad(places, (0, spare), value=int(ignored[0])) if spare else places


def _tensors(batch: Batch) -> dict[str, Any]:
    parts = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {name: part for name, part in parts.items() if part is None or isinstance(part, Tensor)}


def _count_on(batch: Batch, device: torch.device) -> Batch:
    """Its count as a tensor: a compiler or a graph would take a number for one that never changes."""
    count: Any = torch.tensor(float(batch.count)).to(device, non_blocking=True)
    return replace(batch, count=count)


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
