"""n²·d, measured: attention, projections, a recurrent layer and a convolution on longer and longer texts.

In:   the width.
Out:  seconds by length, how much a doubling costs, and the table of complexity, steps and path length.
"""

import time
from collections.abc import Callable, Mapping

import torch
from torch import nn

from glassformer.config import ModelConfig
from glassformer.lessons.figures import round_number, seeded, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Lines, Table
from glassformer.messages import message
from glassformer.model.attention import Mask, SelfAttention, fused_product

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
HEADS = 4
BUDGET = 1.0  # seconds for everything
TRIES = 3
KERNEL = 3  # words that the convolution sees at once
SLOW = 60.0  # milliseconds after which a piece is measured no further


@torch.no_grad()
def compute(inputs: Inputs) -> Result:
    """Measure until the time is up; what was not reached has no number."""
    width = int(inputs.text("width"))
    config = ModelConfig(vocabulary_size=1, shape="encoder", width=width, heads=HEADS, feed_forward=width)
    measured = measure(SelfAttention(config).eval(), width)  # on one thread, as every topic runs
    known = [value for value in measured["attention"] if value == value]  # the others were not reached
    growth = known[-1] / known[-2]  # what the last doubling that was measured cost
    lines = Lines(
        id="seconds",
        title=message("lessons.cost.time_of_a_layer", width=width),
        note=message("lessons.cost.how_measured", tries=TRIES),
        x=tuple(float(length) for length in LENGTHS),
        x_title=message("lessons.cost.tokens"),
        y_title=message("lessons.cost.milliseconds"),
        x_scale="log",
        y_scale="log",
        series=(
            series("lessons.cost.product_curve", measured["attention"]),
            series("lessons.cost.projections_curve", measured["projections"]),
            series("lessons.cost.recurrent_curve", measured["recurrent"]),
            series(message("lessons.cost.convolution_curve", kernel=KERNEL), measured["convolution"]),
        ),
    )
    longest = LENGTHS[len(known) - 1]
    found = message("lessons.cost.found", half=longest // 2, longest=longest, growth=growth)
    return Result(found, (lines, _compare(), _list(measured)))


def measure(attention: SelfAttention, width: int) -> dict[str, list[float]]:
    """Milliseconds of each piece at each length; NaN where the time was up."""
    others = {
        "recurrent": nn.GRU(width, width, batch_first=True).eval(),
        "convolution": nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2).eval(),
    }
    measured: dict[str, list[float]] = {name: [] for name in ("attention", "projections", *others)}
    end = time.perf_counter() + BUDGET
    for length in LENGTHS:
        for name, found in measured.items():
            in_time = length <= LENGTHS[1] or (time.perf_counter() < end and found[-1] < SLOW)
            found.append(clock(prepare(name, attention, others, length)) if in_time else float("nan"))
    return measured


def prepare(
    name: str, attention: SelfAttention, others: Mapping[str, nn.Module], length: int
) -> Callable[[], object]:
    """One of the four pieces of work at one length."""
    assert attention.qkv is not None
    fused, output, width = attention.qkv, attention.output, attention.qkv.in_features
    hidden = torch.randn(1, length, width, generator=seeded(0))
    if name in others:
        read = hidden.transpose(1, 2).contiguous() if name == "convolution" else hidden  # channels first
        return lambda: others[name](read)
    if name == "projections":
        return lambda: output(fused(hidden)[..., :width])
    parts = [attention.split(part) for part in fused(hidden).chunk(3, dim=-1)]
    factor = parts[0].shape[-1] ** -0.5
    return lambda: fused_product(parts[0], parts[1], parts[2], Mask(), factor, 0.0)


def clock(work: Callable[[], object]) -> float:
    """Milliseconds that the quickest of a few tries took of the processor, whatever others did meanwhile."""
    work()
    best = float("inf")
    for _ in range(TRIES):
        started = time.thread_time()
        work()
        best = min(best, time.thread_time() - started)
    return best * 1000


def _compare() -> Table:
    path = message("lessons.cost.path_of_convolution")
    return Table(
        id="complexity",
        title=message("lessons.cost.in_theory"),
        columns=(
            message("lessons.cost.layer"),
            message("lessons.cost.work"),
            message("lessons.cost.sequential_steps"),
            message("lessons.cost.path"),
        ),
        rows=(
            (message("lessons.cost.self_attention"), "O(n²·d)", "O(1)", "O(1)"),
            (message("lessons.cost.recurrent"), "O(n·d²)", "O(n)", "O(n)"),
            (message("lessons.cost.convolution"), "O(k·n·d²)", "O(1)", path),
        ),
    )


def _list(measured: dict[str, list[float]]) -> Table:
    return Table(
        id="measured",
        title=message("lessons.cost.measured"),
        columns=(
            message("lessons.cost.n"),
            message("lessons.cost.attention"),
            message("lessons.cost.projections"),
            message("lessons.cost.recurrent"),
            message("lessons.cost.convolution_measured"),
        ),
        rows=tuple(
            (float(length), *(round_number(measured[name][place]) for name in measured))
            for place, length in enumerate(LENGTHS)
        ),
    )
