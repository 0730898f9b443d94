"""Timing of rivals side by side: interleaved rounds, ratios within a round, an interval by resampling.

In:   named functions that do the same work.
Out:  rows for benchmarks/results.md. Nothing here decides a test.
"""

import gc
import platform
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True)
class Timing:
    """One variant's times, and its ratios to the reference of the same round (above 1: faster)."""

    name: str
    seconds: list[float]
    ratios: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def interval(self) -> tuple[float, float, float]:
        """Median ratio with the 95 % interval of 2,000 resamplings."""
        chance = random.Random(0)
        draws = sorted(
            statistics.median(chance.choices(self.ratios, k=len(self.ratios))) for _ in range(2000)
        )
        return statistics.median(self.ratios), draws[50], draws[1949]


def compare(
    variants: dict[str, Callable[[], object]],
    *,
    repeats: int = 15,
    clock: Callable[[], float] = time.perf_counter,
    settle: Callable[[], None] = lambda: None,
) -> list[Timing]:
    """Run every variant once a round, in a new order each round; the first variant named is the reference."""
    names = list(variants)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        variants[name]()
    order = random.Random(0)
    for _ in range(repeats):
        for name in order.sample(names, len(names)):
            gc.collect()
            settle()
            start = clock()
            variants[name]()
            settle()
            seconds[name].append(clock() - start)
    return rate(seconds)


def rate(seconds: dict[str, list[float]]) -> list[Timing]:
    """Times of rounds, by name, with their ratios to those of the first."""
    reference = next(iter(seconds.values()))
    return [
        Timing(name, own, [base / each for base, each in zip(reference, own, strict=True)])
        for name, own in seconds.items()
    ]


def print_rows(title: str, timings: list[Timing], *, work: float, unit: str, machine: str = "") -> None:
    """A Markdown table with a dated heading; `work` is how much one call does, in `unit`."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    print(
        f"\n### {title}\n{now}; {machine or platform.processor() or platform.machine()}; {versions()}; "
        f"{len(timings[0].seconds)} interleaved rounds\n"
    )
    print(f"| variant | median s | {unit}/s | × {timings[0].name} (95 %) |\n|---|---|---|---|")
    for timing in timings:
        middle, low, high = timing.interval()
        print(
            f"| {timing.name} | {timing.median:.4f} | {work / timing.median:,.0f} "
            f"| {middle:.2f} ({low:.2f}–{high:.2f}) |"
        )


def versions() -> str:
    """The packages whose speed is compared."""
    found = []
    for name in ("torch", "transformers", "ctranslate2", "x-transformers"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
