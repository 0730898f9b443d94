"""One process or several: which ones take part, and how networks, sums and weights are shared among them.

In:   the word `parallel` of a recipe; what torchrun says in the environment.
Out:  `Processes`; a module wrapped for them; whole tensors from shards and back.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from glassformer.errors import ConfigurationError
from glassformer.model.transformer import Transformer
from glassformer.tasks.task import TaskModule
from glassformer.training.settings import Parallel

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Processes:
    """Those that train together; alone, it is the only one and the first."""

    rank: int = 0
    world: int = 1
    parallel: Parallel = "none"

    @property
    def first(self) -> bool:
        return self.rank == 0

    @property
    def sharded(self) -> bool:
        return self.world > 1 and self.parallel == "fsdp"

    def sum(self, numbers: Tensor) -> Tensor:
        """Numbers added up over all processes, in place."""
        if self.world > 1:
            dist.all_reduce(numbers)
        return numbers

    def broadcast(self, number: float, device: torch.device) -> float:
        """The first process's number, to all."""
        if self.world == 1:
            return number
        shared = torch.tensor(number, dtype=torch.float64, device=device)
        dist.broadcast(shared, 0)
        return float(shared)

    def gather_lists(self, mine: list[Result]) -> list[list[Result]]:
        """The lists of all processes, by rank; every process must ask for it."""
        lists: list[Any] = [None] * self.world
        dist.all_gather_object(lists, mine)
        return lists

    def copy_weights(self, network: nn.Module) -> None:
        """The first process's weights, to all."""
        if self.world > 1:
            for tensor in network.state_dict().values():
                dist.broadcast(tensor, 0)

    def barrier(self) -> None:
        """Until all have come here."""
        if self.world > 1:
            dist.barrier()


@contextmanager
def join_processes(parallel: Parallel, device: torch.device) -> Iterator[Processes]:
    """Take part in what torchrun started, or be alone."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Processes()
        return
    if parallel == "none":
        raise ConfigurationError("training.parallel_none", count=world)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), world, parallel)
    finally:
        dist.destroy_process_group()


def choose_device(word: str) -> torch.device:
    """The device that a recipe names; under torchrun each process takes its own GPU."""
    if word == "auto":
        word = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(word)
    except RuntimeError as error:
        raise ConfigurationError("training.unknown_device", name=word) from error
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ConfigurationError("training.no_gpu", name=word)
        if device.index is None:
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return device


def wrap(module: TaskModule, processes: Processes) -> nn.Module:
    """The module that computes losses, so that gradients end up as means over processes."""
    if processes.world == 1:
        return module
    if processes.parallel == "ddp":
        return nn.parallel.DistributedDataParallel(module, gradient_as_bucket_view=True)
    return _shard(module)


def sync_last(wrapped: nn.Module, *, last: bool) -> Any:
    """A context for one of several batches of an update: gradients are exchanged with the last one only."""
    if isinstance(wrapped, nn.parallel.DistributedDataParallel) and not last:
        return wrapped.no_sync()
    sharded: Any = wrapped
    if hasattr(sharded, "set_requires_gradient_sync"):
        sharded.set_requires_gradient_sync(last)
    return nullcontext()


def _shard(module: TaskModule) -> nn.Module:
    """Self-attention and feed-forward of each block are gathered when they run; the rest with the module.

    Cross-attention is of the rest: its keys and values are made before its block runs.
    """
    from torch.distributed.fsdp import fully_shard

    # A linear layer gives a view; what torch warns of is changing it in place, which no network here does.
    warnings.filterwarnings("ignore", r"FSDP2-wrapped module .* returned a view", UserWarning)
    network = module.network
    if isinstance(network, Transformer) and not network.config.share_layers:
        for stack in (network.encoder, network.decoder):
            for layer in range(0 if stack is None else stack.depth):
                assert stack is not None
                fully_shard(stack.block(layer).attention)
                fully_shard(stack.block(layer).feed_forward)
    fully_shard(module)
    return module


def local(tensor: Tensor) -> Tensor:
    """The part of a tensor that this process has; changing it changes the whole."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def gather(tensor: Tensor) -> Tensor:
    """A whole tensor; every process must ask for it."""
    whole = tensor.detach()
    return whole.full_tensor() if hasattr(whole, "full_tensor") else whole


@torch.no_grad()
def copy_into(place: Tensor, whole: Tensor) -> None:
    """Write a whole tensor where a tensor, or this process's shard of it, is."""
    if hasattr(place, "to_local"):
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(place, DTensor)
        moved = whole.to(place.device, place.dtype)
        place.to_local().copy_(distribute_tensor(moved, place.device_mesh, place.placements).to_local())
    else:
        place.copy_(whole)
