"""A process that stands in for one that trains: it writes a run at once, without torch, until it is stopped.

In:   the same line on stdin as `glassformer.workbench.training_process`. The name of the run says what
      happens: "broken…" fails before the run begins, "stubborn…" does not stop when asked to.
"""

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

from glassformer.api.training import Training
from glassformer.messages import message
from glassformer.runlog import Event, RunWriter
from glassformer.settings import parse_toml
from glassformer.workbench import LocalTrainer
from glassformer.workbench.process import PROBLEM


def wait(trainer: LocalTrainer, id: str, *states: str, seconds: float = 300) -> Training:
    """A run once it is in one of these states."""
    end = time.monotonic() + seconds
    while True:
        [now] = [each for each in trainer.trainings() if each.id == id]
        if now.state in states:
            return now
        assert time.monotonic() < end, now
        assert now.state not in ("failed", "ended"), now
        time.sleep(0.05)


def main() -> int:
    request: dict[str, Any] = json.loads(sys.stdin.readline())
    name, folder = request["name"], Path(request["runs"], request["name"])
    if name.startswith("broken"):
        sys.stdout.write(
            json.dumps({PROBLEM: message("training.recipe.run_name", name=name).to_json()}) + "\n"
        )
        return 1
    stopped: list[int] = []
    signal.signal(
        signal.SIGTERM, lambda number, _: None if name.startswith("stubborn") else stopped.append(number)
    )
    kind = "resumed" if request["resume"] else "started"
    checkpoint = folder / "checkpoints" / "step-00000010"
    checkpoint.mkdir(parents=True, exist_ok=True)
    (checkpoint / "training.json").write_text(json.dumps(request), encoding="utf-8")
    if request["toml"] is not None:
        (folder / "recipe.toml").write_text(request["toml"], encoding="utf-8")
        tables = parse_toml(request["toml"])
        settings = {
            f"{table}.{key}": value for table, values in tables.items() for key, value in values.items()
        }
        (folder / "settings.json").write_text(json.dumps(settings | request["changes"]), encoding="utf-8")
    with RunWriter(folder) as writer:  # from now on it is seen to run: what tests read is written
        writer.write_event(Event(0, kind, "It began.", time=time.time()))
        while not stopped:
            writer.write_scalars([(1, {"loss": 2.0})])
            time.sleep(0.05)
        writer.write_event(Event(1, "stopped", "It stopped.", time=time.time()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
