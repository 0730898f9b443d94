"""Batches that are generated side by side on a CPU: each lane has its own share of torch's threads.

In:   a network, a function that generates for one batch, batches.
Out:  its results, in the order of the batches.

A step of a small network is too little for many threads: two that share each product took 1.3 times as long
as two lanes of one thread (benchmarks/results.md).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import nn

from glassformer.model.generate import at_inference
from glassformer.model.linear import generating

Batch = TypeVar("Batch")
Answer = TypeVar("Answer")


def run_in_lanes(
    network: nn.Module, run: Callable[[Batch], Answer], batches: Sequence[Batch]
) -> list[Answer]:
    """Run batches in parallel, at most as many as torch has threads; after an exception no other begins."""
    threads = torch.get_num_threads()
    lanes = min(threads, len(batches))
    if lanes < 2:
        return [run(batch) for batch in batches]
    which = object()  # for packed weights all batches are one generation

    def settle() -> None:
        torch.set_num_threads(threads // lanes)

    def work(batch: Batch) -> Answer:
        with generating(which):
            return run(batch)

    # Evaluation mode has to last until the last lane has ended, not the first.
    with at_inference(network), ThreadPoolExecutor(lanes, initializer=settle) as workers:
        try:
            return list(workers.map(work, batches))
        except BaseException:
            workers.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            torch.set_num_threads(threads)  # new threads must not inherit a lane's setting
