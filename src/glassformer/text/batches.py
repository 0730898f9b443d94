"""Examples of unequal length into batches of equal cost: the same ones for the same seed, from anywhere on.

In:   the lengths of examples, a function that collates some of them, a budget of tokens.
Out:  `Batch` after `Batch`, each with the position to go on from if the process is killed right after it.

A plan is a pure function of lengths, settings, seed and epoch. Processes that train together draw up the
same plan and take turns in it, so that they all take the same number of steps.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import ConfigurationError, InputError
from glassformer.settings import Count, CountOrZero, Settings
from glassformer.text.prefetch import prefetch

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """What a network is given at a time, padded on the right. B examples, S tokens to read, T to predict."""

    ids: Tensor  # (B, S) what the encoder reads, or a decoder alone
    labels: Tensor  # (B, T) the tokens to predict, `loss.IGNORED` where there is none; (B,) for classes
    count: int  # how many labels count
    tokens: int  # how many tokens are read that are not padding, on both sides
    real: Tensor | None = None  # (B, S) True where a token is not padding; None: all are
    target: Tensor | None = None  # (B, T) what the decoder of an encoder-decoder reads
    segments: Tensor | None = None  # (B, S) 0 in the first text, 1 in the second; None: one text
    # (count,) where in labels.flatten() those that count stand; None: nearly everywhere
    places: Tensor | None = None
    numbers: Tensor | None = None  # (B, number) to be learnt; None: labels are
    relation: Tensor | None = None  # (B,) 1 where two texts do not follow one another; None: not asked
    # Tokens to read and words to predict of each example: numbers here, so that none is fetched from a GPU
    sizes: tuple[tuple[int, int], ...] | None = None

    def to(self, device: torch.device | str) -> "Batch":
        """The same on a device; the copy does not wait where the batch is pinned."""
        return self._change(lambda part: part.to(device, non_blocking=True))

    def pin(self) -> "Batch":
        """The same in memory that a GPU can fetch by itself."""
        return self._change(lambda part: part.pin_memory())

    def _change(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        changed: dict[str, Any] = {name: change(part) for name, part in parts if isinstance(part, Tensor)}
        return replace(self, **changed)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in training: the batches of this epoch that one process has already had."""

    epoch: int = 0
    index: int = 0


BEGINNING = Position()


class Collate(Protocol):
    """From some examples to a batch; what is random in it depends on seed, epoch and index alone."""

    def __call__(self, indices: Sequence[int] | Indices, epoch: int) -> Batch:
        """The batch of these examples in this epoch."""


@dataclass(frozen=True, slots=True)
class BatchSettings(Settings):
    """How examples are put together: the table `[batches]` of a recipe."""

    tokens: Count = 4096  # at most this many in a batch, padding counted: rows × the longest side
    rows: Count | None = None  # at most this many examples; None: as many as fit
    shuffle: bool = True
    prefetch: CountOrZero = 4  # batches made ahead by a thread; 0: each is made when it is asked for


def plan_batches(
    lengths: NDArray[np.int64],
    settings: BatchSettings,
    *,
    seed: int = 0,
    epoch: int = 0,
    multiple_of: int = 1,
) -> list[Indices]:
    """The batches of one epoch, as indices: every example once, similar lengths together, in random order.

    Their number is a multiple of `multiple_of`, for which the largest are halved. Only where all have one
    example already are the last few left out, other ones in each epoch.
    """
    if len(lengths) == 0:
        raise InputError("text.no_examples")
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(lengths)) if settings.shuffle else np.arange(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]  # equal lengths stay in random order
    batches = _halve_largest(_cut(order, lengths[order], settings), multiple_of)
    if settings.shuffle:
        batches = [batches[place] for place in random.permutation(len(batches))]
    batches = batches[: len(batches) // multiple_of * multiple_of]
    if not batches:
        raise InputError("text.too_few_examples", count=len(lengths), batches=multiple_of)
    return batches


def _cut(order: Indices, lengths: NDArray[np.int64], settings: BatchSettings) -> list[Indices]:
    """Slices of `order`, whose lengths ascend, each as long as the budget allows."""
    if lengths[-1] > settings.tokens:
        raise InputError("text.example_too_long", count=int(lengths[-1]), most=settings.tokens)
    batches, start = [], 0
    while start < len(order):
        most = len(order) - start if settings.rows is None else min(settings.rows, len(order) - start)
        fits, fails = 1, most + 1  # rows × longest grows with the rows: halve the interval
        while fails - fits > 1:
            middle = (fits + fails) // 2
            if middle * lengths[start + middle - 1] <= settings.tokens:
                fits = middle
            else:
                fails = middle
        batches.append(order[start : start + fits])
        start += fits
    return batches


def _halve_largest(batches: list[Indices], multiple_of: int) -> list[Indices]:
    while len(batches) % multiple_of:
        place = max(range(len(batches)), key=lambda number: len(batches[number]))
        largest = batches[place]
        if len(largest) == 1:
            return batches
        batches[place : place + 1] = [largest[: len(largest) // 2], largest[len(largest) // 2 :]]
    return batches


@dataclass(eq=False)
class Loader:
    """Batches for one process, epoch after epoch, from any position on."""

    lengths: Indices  # of each example, the tokens of its longer side
    collate: Collate
    settings: BatchSettings
    _: KW_ONLY
    seed: int = 0
    rank: int = 0  # of this process among `world`
    world: int = 1
    accumulation: int = 1  # so many batches make one step, so an epoch is whole steps
    pinned: bool = False  # for copies to a GPU

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.world:
            last = self.world - 1
            raise ConfigurationError("text.unknown_rank", rank=self.rank, world=self.world, last=last)
        self._planned: tuple[int, list[Indices]] = (-1, [])

    def plan(self, epoch: int) -> list[Indices]:
        """This process's share of an epoch: batch b of rank r is number b · world + r of all.

        All processes have the same number of batches, in all epochs.
        """
        known, batches = self._planned
        if known != epoch:
            batches = plan_batches(
                self.lengths,
                self.settings,
                seed=self.seed,
                epoch=epoch,
                multiple_of=self.world * self.accumulation,
            )
            self._planned = epoch, batches
        return batches[self.rank :: self.world]

    def start(
        self, position: Position = BEGINNING, epochs: int | None = None
    ) -> Iterator[tuple[Position, Batch]]:
        """Batches, each with the position after it: without end, or until `epochs` epochs are complete.

        Close the iterator, or leave it to the garbage collector, and its thread ends.
        """
        batches = self._make(position, epochs)
        return prefetch(batches, self.settings.prefetch) if self.settings.prefetch else batches

    def _make(self, position: Position, epochs: int | None) -> Iterator[tuple[Position, Batch]]:
        epoch, index = position.epoch, position.index
        while epochs is None or epoch < epochs:
            plan = self.plan(epoch)
            for place in range(index, len(plan)):
                batch = self.collate(plan[place], epoch)
                done = place + 1 == len(plan)
                after = Position(epoch + 1, 0) if done else Position(epoch, place + 1)
                yield after, batch.pin() if self.pinned else batch
            epoch, index = epoch + 1, 0
