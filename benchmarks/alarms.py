"""Alarms, proved on real training runs: healthy ones, and ones with planted trouble (alarm_runs.py).

    python benchmarks/alarms.py make FOLDER --data data [--only NAME]   # trains all runs: 15 minutes
    python benchmarks/alarms.py pack FOLDER                             # their logs in tests/data/alarms.npz
    python benchmarks/alarms.py report                                  # what today's rules find in that file

In:   the data of the recipes (docs/how-to/translator.md).
Out:  logs of runs, as `glassformer train` writes them; a report in Markdown, for results.md.
"""

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from alarm_logs import describe_case, judge, pack, report, unpack
from alarm_runs import Run, cut_data, healthy, provoked
from torch import Tensor

import glassformer.training.learner as learner
import glassformer.training.recipe as recipes
from glassformer.errors import TrainingError
from glassformer.runlog import read_run
from glassformer.tasks.task import Network
from glassformer.text.batches import Batch
from glassformer.training.loop import Outcome, Plan

ROOT = Path(__file__).resolve().parent.parent
RECIPES, LOGS = ROOT / "recipes", ROOT / "tests" / "data" / "alarms.npz"
DONE = "done"  # a file in the folder of a run that is complete


def all_runs() -> dict[str, Run]:
    """Every run by name."""
    return {run.name: run for run in (*healthy(), *provoked())}


def make(name: str, folder: Path) -> str:
    """Train one run; its trouble is planted by the task, which sees every batch before the network does."""
    run = all_runs()[name]
    torch.set_num_threads(1)
    started = time.monotonic()
    changes = {
        key: value for key, value in run.changes.items() if value is not None or key == "train.minutes"
    }
    with _planting(run):
        try:
            recipe = _write_recipe(run, folder)
            recipes.train(
                recipe,
                {**changes, "task.folder": str(folder / "data")},
                runs=folder / "runs",
                name=name,
                silent=True,
            )
        except TrainingError as error:
            if error.message.code != "training.not_finite":
                raise
    shutil.rmtree(folder / "runs" / name / "checkpoints", ignore_errors=True)
    (folder / "runs" / name / DONE).touch()
    return f"{name}: {time.monotonic() - started:.0f} s"


def _write_recipe(run: Run, folder: Path) -> Path:
    """The recipe; a change to None removes a setting of it."""
    import tomllib

    source = RECIPES / f"{run.recipe}.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    for key, value in run.changes.items():
        table, _, name = key.partition(".")
        if value is None:
            tables.get(table, {}).pop(name, None)
    path = folder / "recipes" / f"{run.name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for table, content in tables.items():
        lines.append(f"[{table}]")
        lines += [f"{key} = {_as_toml(value)}" for key, value in content.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _as_toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_as_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def _planting(run: Run) -> Iterator[None]:
    """The trouble of a run, while it trains."""
    loop, rate = recipes.run_loop, learner.learning_rate

    def run_loop(plan: Plan, *words: Any, **named: Any) -> Outcome:
        task, step = plan.task, 0
        compute = task.loss

        def loss(network: Network, batch: Batch) -> Tensor:
            nonlocal step
            if network.training and torch.is_grad_enabled():
                step += 1
                if run.provoke is not None:
                    batch = run.provoke(step, network, batch)
            return compute(network, batch)

        task.loss = loss  # type: ignore[method-assign]
        return loop(plan, *words, **named)

    def learning_rate(step: int, *words: Any) -> float:
        usual = rate(step, *words)
        return usual if run.rate is None else run.rate(step, usual)

    with patch.object(recipes, "run_loop", run_loop), patch.object(learner, "learning_rate", learning_rate):
        yield


def make_all(folder: Path, data: Path, only: str, workers: int) -> None:
    """Train all runs that are not there yet."""
    if not (folder / "data").is_dir():
        cut_data(data, folder / "data")
    names = [name for name in all_runs() if only in name and not (folder / "runs" / name / DONE).exists()]
    names.sort(key=lambda name: name[-1])  # one of each kind first
    with ProcessPoolExecutor(workers) as pool:
        for name, job in [(name, pool.submit(make, name, folder)) for name in names]:
            try:
                print(job.result(), flush=True)
            except Exception as error:  # the others go on
                print(f"{name} failed: {error!r}", flush=True)


def main() -> None:
    """One of three commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("--data", type=Path, default=Path("data"))
    making.add_argument("--only", default="")
    making.add_argument("--workers", type=int, default=2)
    packing = commands.add_parser("pack")
    packing.add_argument("folder", type=Path)
    packing.add_argument("file", type=Path, nargs="?", default=LOGS)
    reporting = commands.add_parser("report")
    reporting.add_argument("file", type=Path, nargs="?", default=LOGS)
    chosen = parser.parse_args()
    match chosen.command:
        case "make":
            make_all(chosen.folder.resolve(), chosen.data, chosen.only, chosen.workers)
        case "pack":
            made = [run for run in all_runs().values() if (chosen.folder / "runs" / run.name / DONE).exists()]
            pack(
                (describe_case(read_run(chosen.folder / "runs" / run.name), run) for run in made), chosen.file
            )
            print(f"{len(made)} logs, {chosen.file.stat().st_size / 1e6:.2f} MB")
        case "report":
            print(report(map(judge, unpack(chosen.file))))


if __name__ == "__main__":
    main()
