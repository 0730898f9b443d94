"""Callbacks: objects that receive the events of a run. The log, the terminal and trackers all are ones.

In:   numbers of steps, statistics of heads, scores, events (alarms among them).
Out:  whatever a callback makes of them.

Only the first process has callbacks. One that is named in a recipe and raises does not end the run: the error
is reported once, with its name, and it is called no more except to close.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import CheckpointError, ConfigurationError
from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.registry import Registry
from glassformer.runlog import Event
from glassformer.text.files import read_json, write_json

TRACKED = "tracking.json"  # in the folder of a run: its names in other tools

Rows = Sequence[tuple[int, Mapping[str, float]]]  # by step: loss, norm, rate, tokens, time …
HeadMaps = Mapping[Place, Mapping[str, Sequence[float]]]  # by map and statistic, one number for each head


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known when a run begins or continues."""

    folder: Path
    step: int  # 0, or the step that it continues from
    environment: Mapping[str, Any]  # machine, versions, number of parameters
    settings: Mapping[str, Any]  # all values of the recipe by their full names, "train.rate"

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def recall(self, tool: str) -> str | None:
        """What `remember` kept for a tool; None where there is nothing."""
        try:
            return read_json(self.folder / TRACKED).get(tool)
        except CheckpointError:  # no such file, or a torn one
            return None

    def remember(self, tool: str, identity: str) -> None:
        """Keep the name that a tool has given to the run."""
        try:
            known = read_json(self.folder / TRACKED)
        except CheckpointError:
            known = {}
        write_json(self.folder / TRACKED, known | {tool: identity})


class Callback:
    """Base of all callbacks: each method does nothing until a class of yours replaces it."""

    def on_start(self, run: RunStart) -> None:
        """The run begins or continues."""

    def on_steps(self, rows: Rows) -> None:
        """Steps since the last call, in order: every `log_every` steps, so that a GPU need not wait."""

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        """The monitor has measured every head."""

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        """Scores of held-out text; `split` is "dev", or "averaged" for the mean of the last checkpoints."""

    def on_event(self, event: Event) -> None:
        """Something that happens now and then: `event.kind` is "started", "resumed", "note", "best", "alarm",
        "alarm_grew", "alarm_passed", "finished", "stopped" or "failed".
        """

    def on_end(self) -> None:
        """The run is over, however it ended: close what is open."""


CALLBACKS: Registry[Callable[[], Callback]] = Registry("callback", "glassformer.training.callbacks")


def open_callbacks(names: Sequence[str]) -> dict[str, Callback]:
    """The callbacks that a recipe names; a package that one needs and that is missing is an error."""
    opened = {}
    for name in dict.fromkeys(names):
        try:
            opened[name] = CALLBACKS[name]()
        except ImportError as error:
            package = (error.name or name).partition(".")[0]
            raise ConfigurationError("training.callback.not_installed", name=name, package=package) from error
    return opened


class CallbackList(Callback):
    """Several callbacks as one: first our own, whose errors are errors of the run, then the named ones."""

    def __init__(
        self, own: Sequence[Callback], named: Mapping[str, Callback], report: Callable[[Message], None]
    ) -> None:
        self.own = list(own)
        self.named = dict(named)
        self.failed: list[Callback] = []
        self._report = report

    def on_start(self, run: RunStart) -> None:
        self._call(lambda callback: callback.on_start(run))

    def on_steps(self, rows: Rows) -> None:
        self._call(lambda callback: callback.on_steps(rows))

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        self._call(lambda callback: callback.on_heads(step, maps))

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        self._call(lambda callback: callback.on_evaluation(step, split, scores))

    def on_event(self, event: Event) -> None:
        self._call(lambda callback: callback.on_event(event))

    def on_end(self) -> None:
        self._call_named(lambda callback: callback.on_end())  # may still report: our own are open
        for callback in self.failed:
            with suppress(Exception):
                callback.on_end()
        for callback in self.own:
            callback.on_end()

    def _call(self, call: Callable[[Callback], None]) -> None:
        for callback in self.own:
            call(callback)
        self._call_named(call)

    def _call_named(self, call: Callable[[Callback], None]) -> None:
        for name, callback in list(self.named.items()):
            if name not in self.named:  # it has failed while another one was reported
                continue
            try:
                call(callback)
            except Exception as error:  # it is not ours: anything may be wrong
                del self.named[name]
                self.failed.append(callback)
                reason = f"{type(error).__name__}: {error}"
                self._report(message("training.callback.failed", name=name, reason=reason))
