"""What the monitor costs: looks at every head, gradient norms of layers and rules, beside the training steps.

    python benchmarks/monitor.py [--model translator | language] [--device cuda]

In:   random words; on a CPU one thread and process CPU seconds, on a GPU wall seconds.
Out:  seconds of a step, of a look, of what each step costs more (norms of layers, rules), and their share.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.model.transformer import Transformer
from glassformer.text.batches import Batch
from glassformer.training.alarms import AlarmWatch
from glassformer.training.monitor import Monitor
from glassformer.training.optim import Gradients, build_optimiser, set_rate
from glassformer.training.settings import MonitorSettings, TrainSettings


def build(model: str) -> tuple[Transformer, Batch]:
    """A network of the zoo's size, and a batch of 4,096 tokens for it."""
    if model == "translator":
        network = Transformer(
            ModelConfig(12_000, layers=4, width=256, heads=8, feed_forward=1024, max_length=128)
        )
        ids, target = (torch.randint(3, 12_000, (128, 16)) for _ in range(2))
        return network, Batch(ids, target.roll(-1, 1), target.numel(), 2 * ids.numel(), target=target)
    network = Transformer(
        ModelConfig(
            8_000,
            shape="decoder",
            layers=6,
            width=256,
            heads=8,
            feed_forward=1024,
            max_length=512,
            positions="learned",
            norm_position="pre",
            scale_embeddings=False,
        )
    )
    ids = torch.randint(3, 8_000, (8, 512))
    return network, Batch(ids, ids.roll(-1, 1), ids.numel(), ids.numel())


def loss_of(network: Transformer, batch: Batch) -> Tensor:
    """The summed loss of a batch."""
    if batch.target is None:
        return network.loss(network.decode(batch.ids), batch.labels) * batch.count
    hidden = network.decode(batch.target, memory=network.encode(batch.ids))
    return network.loss(hidden, batch.labels) * batch.count


def measure(work: Callable[[], object], repeats: int, device: str) -> float:
    """The median time of some work."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    seconds = []
    for _ in range(repeats + 2):
        start = clock()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(clock() - start)
    return statistics.median(seconds[2:])


def measure_each_step(
    network: Transformer, batch: Batch, gradients: Gradients, device: str
) -> tuple[float, float]:
    """What every step costs more: the norms of layers, and the rules of alarms."""
    watch = AlarmWatch(MonitorSettings(), chance=9.0)
    losses = iter((10 + torch.rand(10_000)).tolist())
    layers = dict.fromkeys(gradients.layers, 1.0)

    def check() -> None:
        for number in range(100):  # every tenth step has the norms of layers
            watch.check_step(number, next(losses), 1.0, 1e-4, {} if number % 10 else layers)

    loss_of(network, batch).backward()  # gradients to measure
    one = torch.ones((), device=device)
    given = [each.grad for each in network.parameters() if each.grad is not None]
    plain = measure(lambda: torch.nn.utils.get_total_norm(given, foreach=True) * one, 50, device)
    plain += measure(lambda: torch._foreach_mul_(given, one), 50, device)
    norms = measure(lambda: gradients.scale_and_clip(one, 0.0), 50, device) - plain
    return max(0.0, norms), measure(check, 7, device) / 100


def main() -> None:
    """Measure one model and print a line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", choices=("translator", "language"), default="translator")
    options.add_argument("--device", default="cpu")
    options.add_argument("--every", type=int, default=100)
    options.add_argument("--repeats", type=int, default=7)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    network, batch = build(chosen.model)
    network, batch = network.to(chosen.device).train(), batch.to(chosen.device)
    optimiser = build_optimiser(network, TrainSettings())
    gradients = Gradients(dict(network.named_parameters()))
    monitor = Monitor(network, batch, MonitorSettings())

    def step() -> None:
        with torch.autocast(chosen.device, torch.bfloat16, enabled=chosen.device == "cuda"):
            loss = loss_of(network, batch)
        loss.backward()
        gradients.scale_and_clip(torch.full((), 1 / batch.count, device=chosen.device), 1.0)
        set_rate(optimiser, 1e-4)
        optimiser.step()
        optimiser.zero_grad()

    stepping = measure(step, chosen.repeats, chosen.device)
    looking = measure(monitor.look, chosen.repeats, chosen.device)
    norms, rules = measure_each_step(network, batch, gradients, chosen.device)
    extra = looking + chosen.every * (norms + rules)
    share = extra / (extra + chosen.every * stepping)
    print(
        f"{chosen.model}, {chosen.device}, torch {torch.__version__}: step {stepping * 1e3:.1f} ms, look",
        end=" ",
    )
    print(f"{looking * 1e3:.1f} ms, norms {norms * 1e6:.0f} µs, rules {rules * 1e6:.0f} µs a step:", end=" ")
    print(f"{share:.2%} of training time at every = {chosen.every}")


if __name__ == "__main__":
    main()
