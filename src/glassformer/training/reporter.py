"""What a run says about itself: in its log, to whoever watches, to TensorBoard if asked.

In:   the numbers of every step; networks to look at; scores.
Out:  lines in the `RunLog`, sentences and a progress line, alarms.

The numbers of steps stay where they were computed until they are looked at: asking a GPU for every loss would
make it wait for every answer.
"""

import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from glassformer import __version__
from glassformer.errors import ConfigurationError
from glassformer.runlog import BEST, ENVIRONMENT, Event, RunWriter
from glassformer.tasks.task import Network, Task
from glassformer.training.alarms import HeadWatch, LossWatch
from glassformer.training.display import Display
from glassformer.training.monitor import Monitor
from glassformer.training.settings import MonitorSettings, TrainSettings


class Reporter:
    """The voice of a run; in all processes but the first it says nothing."""

    def __init__(
        self, folder: Path, settings: TrainSettings, watching: MonitorSettings, *, writing: bool, silent: bool
    ) -> None:
        self.folder = folder
        self.watching = watching
        self.split = settings.evaluate_on  # whose texts are looked at, too
        self.display = Display(settings.steps, silent=silent or not writing)
        self.writer = RunWriter(folder) if writing else None
        self.board = _open_board(folder) if writing and watching.tensorboard else None
        self.losses = LossWatch(watching)
        self.heads = HeadWatch(watching)
        self.monitor: Monitor | None = None
        self._kept: list[tuple[int, Tensor, float, int, float]] = []  # step, (loss, norm), rate, tokens, time

    def begin(self, step: int, network: Network, device: torch.device) -> None:
        """First words, and where all this happens."""
        environment = describe_environment(network, device)
        if self.writer is not None:
            text = json.dumps(environment, indent=2, ensure_ascii=False) + "\n"
            (self.folder / ENVIRONMENT).write_text(text, encoding="utf-8")
        where = f"{environment['parameters']:,} parameters on {environment['device']}"
        if step:
            self._say(step, "resumed", f"Goes on after step {step}: {where}.")
        else:
            self._say(0, "started", f"Begins: {where}.")

    def keep(self, step: int, numbers: Tensor, rate: float, tokens: int) -> None:
        """The loss and the gradient's length of a step, on their device, for the next `flush`."""
        self._kept.append((step, numbers, rate, tokens, time.time()))

    def flush(self) -> tuple[int, float, float] | None:
        """Write what was kept; the first step whose loss or gradient is no number, if there is one."""
        kept, self._kept = self._kept, []
        if not kept:
            return None
        values = torch.stack([numbers for _, numbers, _, _, _ in kept]).tolist()  # one copy for all steps
        rows = []
        wrong = None
        for (step, _, rate, tokens, moment), (loss, norm) in zip(kept, values, strict=True):
            rows.append((step, {"loss": loss, "norm": norm, "rate": rate, "tokens": tokens, "time": moment}))
            if not (math.isfinite(loss) and math.isfinite(norm)):
                wrong = step, loss, norm
                break
        self._write(rows)
        for step, numbers in rows[: len(rows) - (wrong is not None)]:
            self._raise(self.losses.check(step, numbers["loss"]))
        step, _, rate, tokens, _ = kept[-1]
        self.display.show(step, tokens, values[-1][0], rate)
        return wrong

    def look(self, step: int, network: Network, task: Task) -> None:
        """Every head's statistics into the log; alarms where they are due."""
        if self.monitor is None:
            self.monitor = Monitor(network, task.probe(self.split), self.watching)
        maps = self.monitor.look()
        if self.writer is not None and maps:
            self.writer.write_heads(step, maps)
        for alarm in self.heads.check(step, maps):
            self._raise(alarm)

    def judge(
        self, step: int, evaluate: Callable[[], Mapping[str, float]], *, prefix: str = "dev_"
    ) -> Mapping[str, float]:
        """Scores, written and shown."""
        scores = evaluate()
        self._write([(step, {f"{prefix}{name}": score for name, score in scores.items()})])
        said = ", ".join(f"{name} {score:.4g}" for name, score in scores.items())
        self.display.note(f"Step {step}: {prefix.rstrip('_')} {said}")
        self.display.pause()
        return scores

    def praise(self, step: int, name: str, score: float) -> None:
        """Into the log: the score that decides was never better."""
        if self.writer is not None:
            message = f"The best {name} so far is {score:.4g}."
            self.writer.write_event(Event(step, BEST, message, topic=name, value=score, time=time.time()))

    def end(self, step: int, why: str, summary: str) -> None:
        """Last words."""
        kind, _, reason = why.partition(": ")
        sentence = f"Finished at step {step}." if kind == "finished" else f"Stopped at step {step}: {reason}."
        self._say(step, kind, f"{sentence} {summary}".strip())

    def fail(self, step: int, message: str) -> None:
        """Words of a run that cannot go on; a log that cannot be written must not hide the reason."""
        try:
            if self.writer is not None:
                self.writer.write_event(Event(step, "failed", message, time=time.time()))
        except OSError:
            pass

    def memory(self) -> dict[str, Any]:
        """What the watches remember: plain numbers."""
        return {"loss": dict(self.losses.memory), "heads": dict(self.heads.memory)}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """What `memory` gave."""
        self.losses.memory = dict(memory["loss"])
        self.heads.memory = dict(memory["heads"])

    def close(self) -> None:
        self.display.close()
        if self.writer is not None:
            self.writer.close()
        if self.board is not None:
            self.board.close()

    def _write(self, rows: list[tuple[int, dict[str, float]]]) -> None:
        if self.writer is not None:
            self.writer.write_scalars(rows)
        if self.board is not None:
            for step, numbers in rows:
                for name, value in numbers.items():
                    self.board.add_scalar(name, value, step)

    def _raise(self, alarm: Event | None) -> None:
        if alarm is not None:
            if self.writer is not None:
                self.writer.write_event(alarm)
            self.display.note(f"Alarm at step {alarm.step}, {alarm.topic}: {alarm.message}")

    def _say(self, step: int, kind: str, message: str) -> None:
        if self.writer is not None:
            self.writer.write_event(Event(step, kind, message, time=time.time()))
        self.display.note(message)


def describe_environment(network: nn.Module, device: torch.device) -> dict[str, Any]:
    """What a person needs to know to repeat a run: machine, versions, size of the network."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "device": f"{device.type} ({name})",
        "processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "glassformer": __version__,
    }


def _open_board(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigurationError(
            "tensorboard = true, but it is not installed; `pip install tensorboard`, or set it to false."
        ) from error
    return SummaryWriter(str(folder / "tensorboard"))
