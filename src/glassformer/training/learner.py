"""What learns: a network in its task, its optimiser, its average; one update at a time.

In:   the batches of one update.
Out:  better weights; the mean loss, the length of the gradient, the tokens that were read. Also everything
      that must be kept to go on from here, as named tensors, and the network that is evaluated and saved.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from glassformer.model.transformer import Transformer
from glassformer.tasks.task import Network, TaskModule
from glassformer.text.batches import Batch
from glassformer.training.distributed import Processes, copy_into, gather, sync_last, wrap
from glassformer.training.finetune import merge_all, prepare, save_adapters
from glassformer.training.optim import Gradients, MovingAverage, build_optimiser, learning_rate, set_rate
from glassformer.training.settings import TrainSettings
from glassformer.training.steps import Step, build_step


class Learner:
    """A network that can take a step, be judged, be kept and be put back."""

    def __init__(
        self, module: TaskModule, settings: TrainSettings, processes: Processes, *, varied: bool
    ) -> None:
        """`varied`: batches have many shapes."""
        self.module = module
        self.settings = settings
        self.processes = processes
        self.device = next(module.parameters()).device
        self.width = module.network.config.width
        # Where the weights in training are shards, or not the ones to be judged, there is a copy to judge.
        self.adapted = settings.lora_rank > 0
        self.copied = processes.sharded or settings.ema > 0 or self.adapted
        self.evaluated: Network = copy.deepcopy(module.network) if self.copied else module.network
        self.notes = prepare(module.network, settings)
        if settings.recompute:
            recompute_blocks(module.network)
        self.wrapped = wrap(module, processes)
        self.optimiser = build_optimiser(module, settings)
        self.parameters = dict(module.named_parameters())
        self.buffers = dict(module.named_buffers())
        self.gradients = Gradients(
            {name: each for name, each in self.parameters.items() if each.requires_grad}
        )
        trained = list(self.parameters.values())
        self.average = MovingAverage(trained, settings.ema) if settings.ema else None
        self.step_on: Step = build_step(self.wrapped, settings, self.device, varied=varied)

    def step(self, number: int, batches: Sequence[Batch], rate: float) -> tuple[Tensor, int]:
        """One update, the `number`th; (loss, gradient's length, that of each layer), tokens read.

        Gradients are those of the loss summed over all labels of all batches and processes, divided once by
        their number: however an update is cut into batches, it is the same update.
        """
        seed_everything(self.settings.seed, number, self.processes.rank)
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for place, batch in enumerate(batches):
            with sync_last(self.wrapped, last=place + 1 == len(batches)):
                total += self.step_on(batch)
        counts = [sum(batch.count for batch in batches), sum(batch.tokens for batch in batches)]
        numbers = torch.tensor([0.0, *counts], dtype=torch.float64)
        if self.processes.world > 1:
            numbers = numbers.to(self.device)
            numbers[0] = total
            self.processes.sum(numbers)
            total = numbers[0]
        labels, tokens = int(numbers[1]), int(numbers[2])
        factor = torch.full((), self.processes.world / labels, device=self.device)
        norms = self.gradients.scale_and_clip(factor, self.settings.clip)
        set_rate(self.optimiser, rate)
        self.optimiser.step()
        self.step_on.clear()
        if self.average is not None:
            self.average.update(number)
        return torch.cat(((total / labels)[None], norms)), tokens

    def rate(self, number: int, used: float) -> float:
        """The learning rate of an update; see `learning_rate`."""
        return learning_rate(number, self.settings, self.width, used)

    def network_to_evaluate(self) -> Network:
        """The network to be judged, with the weights of now: the average where there is one."""
        if self.copied:
            values = self._averages() if self.average is not None else self.parameters
            self._fill_copy(values)
        return self.evaluated

    def save_adapters(self, kept: Mapping[str, Tensor], folder: Path) -> None:
        """Write the adapters of what `keep` gave, if there are any, beside the merged weights."""
        which = "average." if self.average is not None else "weights."
        values = {name.removeprefix(which): each for name, each in kept.items() if name.startswith(which)}
        save_adapters(values, self.settings.lora_scale, folder)

    def network_to_monitor(self) -> Network:
        """The network to be watched, with the weights in training, in one piece."""
        if self.processes.sharded or self.adapted:
            self._fill_copy(self.parameters)
            return self.evaluated
        return self.module.network

    def keep(self) -> dict[str, Tensor]:
        """Everything that changes while it learns, whole, on the CPU; every process must ask for it."""
        return {name: gather(tensor).to("cpu", copy=True) for name, tensor in self._changing()}

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """Put back what `keep` gave."""
        self._remember()
        for name, parameter in self.parameters.items():
            memory = self.optimiser.state.get(parameter, {})
            if memory and not any(f"{moment}.{name}" in kept for moment in memory):
                del self.optimiser.state[parameter]  # it never had a gradient
        for name, tensor in self._changing():
            copy_into(tensor, kept[name])

    def _changing(self) -> Iterator[tuple[str, Tensor]]:
        for name, parameter in self.parameters.items():
            yield f"weights.{name}", parameter
            for moment, tensor in self.optimiser.state.get(parameter, {}).items():
                if isinstance(tensor, Tensor):
                    yield f"{moment}.{name}", tensor
        for name, buffer in self.buffers.items():
            yield f"weights.{name}", buffer
        if self.average is not None:
            for name, value in self._averages().items():
                yield f"average.{name}", value

    def _averages(self) -> dict[str, Tensor]:
        assert self.average is not None
        return dict(zip(self.parameters, self.average.values, strict=True))

    def _remember(self) -> None:
        """Let the optimiser make its memory, as its first step does: one without gradient and rate."""
        for parameter in self.parameters.values():
            if parameter.requires_grad:
                parameter.grad = torch.zeros_like(parameter)
        set_rate(self.optimiser, 0.0)
        self.optimiser.step()
        self.step_on.clear()

    def _fill_copy(self, values: Mapping[str, Tensor]) -> None:
        named = dict(self.evaluated.named_parameters()) | dict(self.evaluated.named_buffers())
        whole = {name: gather(value) for name, value in (*values.items(), *self.buffers.items())}
        for name, value in merge_all(whole, self.settings.lora_scale).items():
            inner = name.removeprefix("network.")
            if inner != name:
                copy_into(named[inner], value)


def recompute_blocks(network: nn.Module) -> None:
    """Gradient checkpointing: what a block computed is computed again in the backward pass, not kept."""
    if not isinstance(network, Transformer):
        return
    for stack in (network.encoder, network.decoder):
        for block in () if stack is None else stack.layers:
            block.forward = partial(_run_again, block.forward)


def _run_again(forward: Any, *inputs: Any) -> Any:
    if not torch.is_grad_enabled():
        return forward(*inputs)
    return checkpoint(forward, *inputs, use_reentrant=False)


def seed_everything(seed: int, step: int, rank: int) -> None:
    """What is random in a step follows from these three alone, so that no state of it need be kept."""
    torch.manual_seed((seed * 1_000_003 + step) * 1_009 + rank)
