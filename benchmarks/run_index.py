"""A long log of a run: how long it takes to open it by its index, to draw it, to zoom, and to make the index.

    python benchmarks/run_index.py --gigabytes 1 --folder /tmp/long-run

In:   the size of a log to write, about half of it head statistics; a folder with twice as much room.
Out:  a table. The folder is removed at the end.
"""

import argparse
import json
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from glassformer.runlog import EVENTS, HEADS, SCALARS, open_run
from glassformer.runlog.run_index import INDEX

LAYERS, NUMBERS, HEAD_COUNT = 12, 10, 12
BATCH = 2_000


def write(folder: Path, size: int) -> None:
    """Lines as training writes them, scalars of each step and heads of some, without training."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    (folder / EVENTS).write_text('{"step": 0, "kind": "started", "message": "Go."}\n')
    described = []
    for _ in range(50):  # statistics are drawn from a few, since only their length matters here
        maps = [
            {"stack": "decoder", "kind": "self", "layer": layer}
            | {f"statistic_{name}": random.random(HEAD_COUNT).round(5).tolist() for name in range(NUMBERS)}
            for layer in range(LAYERS)
        ]
        described.append(json.dumps(maps))
    step = 0
    with (folder / SCALARS).open("w") as scalars, (folder / HEADS).open("w") as heads:
        while scalars.tell() + heads.tell() < size:
            losses = (4 + random.standard_normal(BATCH) / 10).tolist()
            lines = []
            for loss in losses:
                step += 1
                lines.append(
                    f'{{"step": {step}, "loss": {loss}, "norm": {loss / 3}, "rate": 0.0003, '
                    f'"tokens": {step * 4096}, "time": {1.7e9 + step / 10}}}\n'
                )
                if step % 100 == 0:
                    heads.write(f'{{"step": {step}, "maps": {described[step // 100 % len(described)]}}}\n')
            scalars.write("".join(lines))


def measure(function: Callable[[], object], times: int = 5) -> tuple[float, float]:
    """Median seconds of a call, and of the processor: the first contains other work of the machine."""
    taken, used = [], []
    for _ in range(times):
        start, before = time.perf_counter(), time.process_time()
        function()
        taken.append(time.perf_counter() - start)
        used.append(time.process_time() - before)
    return statistics.median(taken), statistics.median(used)


def main() -> None:
    """Write, index, open, read."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    folder = arguments.folder
    write(folder, int(arguments.gigabytes * 1e9))
    try:
        report(folder)
    finally:
        shutil.rmtree(folder)


def report(folder: Path) -> None:
    """Print what was measured."""
    size = sum((folder / name).stat().st_size for name in (SCALARS, HEADS))
    making, used = measure(lambda: open_run(folder).close(), times=1)
    index = sum(path.stat().st_size for path in (folder / INDEX).rglob("*") if path.is_file())
    with open_run(folder) as run:
        last, (place, *_) = run.last_step, run.maps
        middle = last // 2

        def open_and_draw() -> None:
            with open_run(folder) as opened:
                opened.series("loss")

        rows = {
            "open": measure(lambda: open_run(folder).close()),
            "open, and the whole loss in 2,000 points": measure(open_and_draw),
            "one statistic of all heads of a layer, whole": measure(lambda: run.heads(place, "statistic_3")),
            "the same, 10 % of the steps": measure(
                lambda: run.heads(place, "statistic_3", middle, middle + last // 10)
            ),
            "2,000 exact rows in the middle": measure(lambda: run.series("loss", middle, middle + 1999)),
        }
    print(f"{size / 1e9:.2f} GB of log, {last:,} steps; index {index / size:.1%} of it")
    print(f"index made from the log in {making:.0f} s ({used:.0f} s of the processor)")
    for name, (taken, used) in rows.items():
        print(f"{name}: {1000 * taken:.0f} ms ({1000 * used:.0f} ms of the processor)")


if __name__ == "__main__":
    main()
