"""What a run reports: to its log, to the terminal, and to the callbacks that its recipe names.

In:   the numbers of every step; networks to measure; scores.
Out:  calls of callbacks, see `callbacks.callback`; alarms.

The numbers of steps stay on their device until they are written: reading every loss from a GPU would make it
wait each time.
"""

import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from glassformer import __version__
from glassformer.config import ModelConfig
from glassformer.errors import GlassformerError
from glassformer.messages import Message, message
from glassformer.runlog import (
    BEST,
    CHANCE,
    DATA,
    ENVIRONMENT,
    LAYER_NORM,
    Event,
    RunWriter,
    is_run,
    read_overview,
)
from glassformer.runlog.samples import Sample, append_samples
from glassformer.tasks.summary import explain
from glassformer.tasks.task import Network, Task
from glassformer.text.files import read_json, write_json
from glassformer.training.alarm_action import AlarmAction
from glassformer.training.alarms import AlarmWatch
from glassformer.training.callbacks.callback import (
    Callback,
    CallbackList,
    HeadMaps,
    Rows,
    RunStart,
    open_callbacks,
)
from glassformer.training.changes import SETTINGS
from glassformer.training.display import Display
from glassformer.training.monitor import Monitor
from glassformer.training.settings import MonitorSettings, TrainSettings

DEV = "dev_"  # before the names of scores that decide


class LogFile(Callback):
    """Writes what happens to the log of the run."""

    def __init__(self, folder: Path) -> None:
        self.writer = RunWriter(folder)

    def on_start(self, run: RunStart) -> None:
        write_json(run.folder / ENVIRONMENT, run.environment)

    def on_steps(self, rows: Rows) -> None:
        self.writer.write_scalars(rows)

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        if maps:
            self.writer.write_heads(step, maps)

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        self.writer.write_scalars([(step, {f"{split}_{name}": score for name, score in scores.items()})])

    def on_event(self, event: Event) -> None:
        self.writer.write_event(event)

    def on_end(self) -> None:
        self.writer.close()


class Reporter:
    """Tells callbacks what happens in a run; only the first process has any."""

    def __init__(
        self, folder: Path, settings: TrainSettings, watching: MonitorSettings, *, writing: bool, silent: bool
    ) -> None:
        self.folder = folder
        self.watching = watching
        self.writing = writing
        self.split = settings.evaluate_on  # the monitor reads texts of it, too
        self.display = Display(settings.steps, silent=silent or not writing)
        self.watch = AlarmWatch(watching)
        self.act = AlarmAction(watching.on_alarm, folder)
        named = open_callbacks(watching.list_callbacks()) if writing else {}
        own = [LogFile(folder), self.display, self.act] if writing else []
        self.callbacks = CallbackList(own, named, lambda text: self.log_note(self._step, text))
        self.monitor: Monitor | None = None
        self.log_every = settings.log_every
        self.layers: tuple[str, ...] = ()  # whose gradients' lengths come with every step
        # step, (loss, norm, norms of layers), rate, tokens, time
        self._pending: list[tuple[int, Tensor, float, int, float]] = []
        self._step = 0  # the last one that is known
        self._samples = True  # whether they can be written
        self._device = torch.device("cpu")

    def begin(self, step: int, network: Network, device: torch.device) -> None:
        """The start of the run, and the machine that it runs on."""
        chance = self.watch.steps.memory["chance"] = find_chance_loss(network)
        environment = describe_environment(network, device) | {CHANCE: chance}
        self._step, self._device = step, device
        saved = self.folder / SETTINGS
        settings = read_json(saved) if self.writing and saved.is_file() else {}
        self.callbacks.on_start(RunStart(self.folder, step, environment, settings))
        where = {"parameters": environment["parameters"], "device": environment["device"]}
        if step:
            self._log(step, "resumed", message("training.event.resumed", step=step, **where))
        else:
            self._log(0, "started", message("training.event.started", **where))

    def describe_data(self, summary: Mapping[str, Any]) -> None:
        """What the run learns from: a file for pages and programs, sentences for a person."""
        if self.writing:
            write_json(self.folder / DATA, summary)
        for text in explain(summary):
            self.display.note(text)

    def add_step(self, step: int, numbers: Tensor, rate: float, tokens: int) -> None:
        """The loss and the gradient norms of a step, on their device, for the next `write_steps`."""
        self._pending.append((step, numbers, rate, tokens, time.time()))

    def write_steps(self) -> tuple[int, float, float] | None:
        """Write pending steps; the first one whose loss or gradient is not finite, if there is one."""
        pending, self._pending = self._pending, []
        if not pending:
            return None
        values = torch.stack([numbers for _, numbers, _, _, _ in pending]).tolist()  # one copy for all steps
        rows = []
        wrong = None
        for (step, _, rate, tokens, moment), (loss, norm, *norms) in zip(pending, values, strict=True):
            row = {"loss": loss, "norm": norm, "rate": rate, "tokens": tokens, "time": moment}
            finite = math.isfinite(loss) and math.isfinite(norm)
            if not finite or step % self.log_every == 0:
                row |= {f"{LAYER_NORM}{layer}": each for layer, each in zip(self.layers, norms, strict=True)}
            rows.append((step, row))
            if not finite:
                wrong = step, loss, norm
                break
        rows[-1][1]["memory"] = measure_memory(self._device)
        self._step = rows[-1][0]
        self.callbacks.on_steps(rows)
        for step, numbers in rows:
            layers = {
                layer: numbers[name] for layer in self.layers if (name := f"{LAYER_NORM}{layer}") in numbers
            }
            self._log_alarms(
                self.watch.check_step(step, numbers["loss"], numbers["norm"], numbers["rate"], layers)
            )
        return wrong

    def log_heads(self, step: int, network: Network, task: Task) -> None:
        """Write the statistics of every head, and alarms."""
        if self.monitor is None:
            self.monitor = Monitor(network, task.probe(self.split), self.watching)
        maps = self.monitor.look()
        self.callbacks.on_heads(step, maps)
        self._log_alarms(self.watch.check_look(step, maps))

    def log_evaluation(
        self, step: int, evaluate: Callable[[], Mapping[str, float]], *, prefix: str = DEV
    ) -> Mapping[str, float]:
        """Evaluate, all processes together; write and show the scores."""
        scores = evaluate()
        self.callbacks.on_evaluation(step, prefix.rstrip("_"), scores)
        if prefix == DEV:
            self._log_alarms(self.watch.check_scores(step, scores))
        return scores

    def log_samples(self, step: int, make: Callable[[], Iterable[Sample]]) -> None:
        """Write what the network makes of a few texts; what cannot be written is noted, once."""
        if not self.writing or not self._samples:
            return
        try:
            samples = list(make())
            if samples:
                append_samples(self.folder, step, samples)
        except (GlassformerError, OSError) as error:
            self._samples = False
            reason = error.message if isinstance(error, GlassformerError) else str(error)
            self.log_note(step, message("training.no_samples", reason=reason))

    def log_best(self, step: int, name: str, score: float) -> None:
        """A new best value of the score that decides."""
        text = message("training.event.best", name=name, score=score)
        self.callbacks.on_event(
            Event.from_message(step, BEST, text, topic=name, value=score, time=time.time())
        )

    def log_note(self, step: int, text: Message) -> None:
        """Something that a person should know about the run."""
        self._log(step, "note", text)

    def log_end(self, step: int, kind: str, text: Message, why: str) -> None:
        """The end of the run; `kind` is "finished" or "stopped"."""
        self._log(step, kind, text, why)

    def log_failure(self, step: int, text: Message) -> None:
        """The error that ends a run; a log that cannot be written must not hide it."""
        with suppress(OSError):
            self.callbacks.on_event(Event.from_message(step, "failed", text, time=time.time()))

    def state(self) -> dict[str, Any]:
        """The memory of the alarms: plain numbers."""
        return self.watch.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.watch.load_state(state)

    def close(self) -> None:
        self.callbacks.on_end()
        if self.writing and is_run(self.folder):
            with suppress(OSError, GlassformerError):
                read_overview(self.folder)  # kept beside the index, so that a list of many runs is quick

    def _log_alarms(self, events: Iterable[Event]) -> None:
        for event in events:
            self.callbacks.on_event(event)

    def _log(self, step: int, kind: str, text: Message, topic: str = "") -> None:
        self.callbacks.on_event(Event.from_message(step, kind, text, topic=topic, time=time.time()))


def find_chance_loss(network: Network) -> float:
    """The loss of a guess that knows nothing: in nats of one class among all, or one word; of numbers whose
    spread is 1, the squared error of their mean."""
    config = network.config
    if isinstance(config, ModelConfig) and config.head == "numbers":
        return 1.0
    if isinstance(config, ModelConfig) and config.head in ("classes", "tags"):
        return math.log(config.classes)
    return math.log(config.vocabulary_size)


def measure_memory(device: torch.device) -> float:
    """Megabytes that this process uses: on a GPU the most so far, else what is in memory now."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, ValueError, IndexError):
        return math.nan


def describe_environment(network: nn.Module, device: torch.device) -> dict[str, Any]:
    """Machine, versions and size of the network: what one needs to repeat a run."""
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
