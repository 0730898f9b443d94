"""Probes: the same few texts recorded at chosen steps, so that one can watch attention being learnt.

In:   the network as it is, a step.
Out:  `probes/step-00000100-0.bundle` in the folder of the run, see `runlog.probes`. Training goes on as if
      nothing had happened: no random number is drawn, no weight and no mode changes.

Probes take a share of the time and so many bytes at most. Steps that would take more time are left out; when
the bytes are used up, steps between others are removed, so that what stays is spread over the whole run.
"""

import bisect
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glassformer import bundle
from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError, GlassformerError
from glassformer.loaded.native import NativeModel
from glassformer.messages import Message, message
from glassformer.recorders.record import record
from glassformer.runlog.probes import PROBES, TEXTS, find_probes, name_probe, read_probe_texts
from glassformer.tasks.task import Network, Task
from glassformer.text.batches import Batch
from glassformer.text.files import write_json
from glassformer.training.arithmetic import exact_arithmetic
from glassformer.training.monitor import find_real, until_last_label
from glassformer.training.settings import ProbeSettings, TrainSettings

# What the page's views are drawn from; the walk and "Inside" need more than the weights.
WANT = ("weights", "hidden", "output", "queries", "keys", "values", "scores")


@dataclass(frozen=True, slots=True)
class ProbeText:
    """What is read: texts, or the ids of tokens where their text would be split otherwise."""

    source: str | dict[str, list[int]]
    target: str | list[int] | None = None
    second_text: str | None = None
    language: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Only what is given."""
        parts = {name: getattr(self, name) for name in ProbeText.__slots__}
        return {name: part for name, part in parts.items() if part is not None}


class Schedule:
    """At which steps texts are recorded."""

    def __init__(self, settings: ProbeSettings, train: TrainSettings) -> None:
        self.last = train.steps
        self.every = train.evaluate_every
        self.fixed = settings.steps is not None
        self.steps = sorted(set(settings.steps)) if settings.steps is not None else _grow(train.steps)

    def has(self, step: int, *, final: bool = False) -> bool:
        """Whether a step is one of them."""
        found = bisect.bisect_left(self.steps, step)
        named = found < len(self.steps) and self.steps[found] == step
        return named or (not self.fixed and (final or step % self.every == 0))

    def position(self, step: int) -> int:
        """How many of them there are up to a step, about: where it is among them."""
        return bisect.bisect_right(self.steps, step) + (0 if self.fixed else step // self.every)

    def share_before(self, start: int, step: int) -> float:
        """Which share of those after `start` there are up to a step."""
        first = self.position(start)
        return (self.position(step) - first) / max(1, self.position(self.last) - first)


class TimeBudget:
    """Keeps probes within a share of the time that training will take."""

    def __init__(self, share: float, schedule: Schedule, start: int) -> None:
        self.share = share
        self.schedule = schedule
        self.start = start  # the step at which this session began
        self.began = time.perf_counter()
        self.spent = 0.0
        self.next = 0.0  # what the next one will take, about

    def allows(self, step: int) -> bool:
        """Whether one more fits; what is left is spread over all steps of the schedule to come."""
        if step <= self.start:
            return True  # before the first step nobody knows how long training takes
        elapsed = time.perf_counter() - self.began - self.spent
        whole = elapsed / (step - self.start) * (self.schedule.last - self.start)
        released = self.share * whole * self.schedule.share_before(self.start, step)
        return self.spent + self.next <= released

    def add(self, step: int, texts: Sequence[float]) -> None:
        """How long each text took; before the first step, where all is prepared, it does not count."""
        self.next = min(texts) * len(texts)
        if step <= self.start:
            self.began += sum(texts)
        else:
            self.spent += sum(texts)


class Probes:
    """The probes of a run; only the process that writes has one."""

    def __init__(self, run: Path, settings: ProbeSettings, train: TrainSettings, task: Task) -> None:
        self.run = run
        self.folder = run / PROBES
        self.settings = settings
        self.task = task
        self.split = train.evaluate_on
        self.schedule = Schedule(settings, train)
        self.budget = TimeBudget(settings.share, self.schedule, 0)
        self.texts: dict[int, ProbeText] = {}
        self.failed: Message | None = None
        self._model: NativeModel | None = None

    def begin(self, step: int, network: Network) -> None:
        """Read the texts; remove what was recorded after this step, by a run that was killed and goes on."""
        for probe in find_probes(self.run):
            if probe.step > step:
                probe.path.unlink(missing_ok=True)
        for part in self.folder.glob(".*"):  # of a process that was killed
            part.unlink(missing_ok=True)
        self.texts = self._number(self._read_texts(network))
        self.budget = TimeBudget(self.settings.share, self.schedule, step)

    def adopt(self, parent: Path, step: int) -> None:
        """Begin with those of another run up to the step at which it is forked."""
        known = [probe for probe in find_probes(parent) if probe.step <= step]
        if not known:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(parent / PROBES / TEXTS, self.folder / TEXTS)
        for probe in known:
            place = self.folder / probe.path.name
            try:
                os.link(probe.path, place)  # takes no room, and stays when the other run is removed
            except OSError:
                shutil.copyfile(probe.path, place)

    def is_due(self, step: int, *, final: bool) -> bool:
        """Whether to record now."""
        if not self.texts or self.failed is not None or not self.schedule.has(step, final=final):
            return False
        return self.schedule.fixed or final or self.budget.allows(step)

    def take(self, step: int, network: Network) -> None:
        """Record every text; a failure ends the probes of this session, not the training."""
        try:
            self.budget.add(step, self._take(step, network))
        except (GlassformerError, OSError) as error:
            reason = error.message if isinstance(error, GlassformerError) else error
            self.failed = message("training.probe.failed", step=step, reason=reason)

    def _take(self, step: int, network: Network) -> list[float]:
        """How many seconds each text took."""
        if self._model is None or self._model.network is not network:
            labels = self.task.labels
            self._model = NativeModel(network, self.task.tokenizer, name=self.run.name, labels=labels)
        self.folder.mkdir(parents=True, exist_ok=True)
        seconds = []
        for number, text in self.texts.items():
            start = time.perf_counter()
            with exact_arithmetic():
                recording = record(
                    self._model,
                    text.source,
                    text.target,
                    second_text=text.second_text,
                    target_language=text.language,
                    want=WANT,
                )
            bundle.save(recording, self.folder / name_probe(step, number))
            seconds.append(time.perf_counter() - start)
        self._thin()
        return seconds

    def _thin(self) -> None:
        """Remove steps between others until the rest fits."""
        probes = find_probes(self.run)
        sizes: dict[int, int] = {}
        for probe in probes:
            sizes[probe.step] = sizes.get(probe.step, 0) + probe.path.stat().st_size
        removed = choose_removed(sizes, self.settings.megabytes * 1e6, self.schedule)
        for probe in probes:
            if probe.step in removed:
                probe.path.unlink(missing_ok=True)

    # Texts

    def _number(self, texts: Sequence[ProbeText]) -> dict[int, ProbeText]:
        """Each text with the number that it has had, or else a new one; the list is written."""
        known = read_probe_texts(self.run)
        numbered: dict[int, ProbeText] = {}
        for text in texts:
            same = [number for number, other in known.items() if dict(other) == text.to_json()]
            number = same[0] if same else max(known, default=-1) + 1
            known[number] = text.to_json()
            numbered[number] = text
        if numbered:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f".{TEXTS}"
            write_json(new, {str(number): text for number, text in known.items()})
            os.replace(new, self.folder / TEXTS)
        return numbered

    def _read_texts(self, network: Network) -> list[ProbeText]:
        model = NativeModel(network, self.task.tokenizer, name=self.run.name)
        if model.reads != "text":  # a list of texts cannot hold pictures and sounds
            if self.settings.texts:
                raise ConfigurationError("training.probe.no_texts")
            return []
        if self.settings.texts is not None:
            return [self._read_given(model, text) for text in self.settings.texts]
        lengths = self.task.examples(self.split).lengths
        if not self.settings.count or not len(lengths):
            return []
        chosen = choose_examples(lengths, self.settings.count, self.settings.tokens)
        batch = self.task.collate(self.split, chosen, 0)
        return [self._read_example(model, batch, row) for row in range(len(chosen))]

    def _read_given(self, model: NativeModel, given: str | list[str]) -> ProbeText:
        """A text of the recipe, cut to the most tokens; an error where the network reads no such thing."""
        first, second, language = (*([given] if isinstance(given, str) else given), None, None)[:3]
        assert first is not None
        written = None
        if model.shape == "encoder-decoder":
            if second is None:
                raise ConfigurationError("training.probe.no_target", text=first)
            written, second = model.reader.read(second, target=True).ids[: self._most(model) - 1], None
        elif language is not None or (second is not None and not _reads_pairs(model)):
            raise ConfigurationError("training.probe.no_pair", text=first)
        encoding = model.reader.read_source(first, second)
        if second is not None and len(encoding.ids) <= self._most(model):
            return ProbeText(first, second_text=second)
        source = self._cut(model, encoding.ids, encoding.segments)
        return ProbeText(source, self._spell(model, written), language=language)

    def _read_example(self, model: NativeModel, batch: Batch, row: int) -> ProbeText:
        """An example of the task as it is, without its padding, cut to the most tokens."""
        real = int(find_real(model.network, batch)[row].sum())
        ids = batch.ids[row, :real].tolist()
        segments = None if batch.segments is None else batch.segments[row, :real].tolist()
        written = None
        if batch.target is not None:
            count = int(until_last_label(batch.labels)[row].sum())
            written = batch.target[row, 1 : min(count, self._most(model))].tolist()
        return ProbeText(self._cut(model, ids, segments), self._spell(model, written))

    def _most(self, model: NativeModel) -> int:
        return min(self.settings.tokens, model.limit or self.settings.tokens)

    def _cut(
        self, model: NativeModel, ids: Sequence[int], segments: Sequence[int] | None
    ) -> str | dict[str, list[int]]:
        """The first tokens: as a text where that is read as they are, which keeps words together."""
        most = self._most(model)
        ids = tuple(ids[:most])
        if segments is None or not any(segments):
            text = self.task.tokenizer.decode(ids)
            if text.strip() and model.reader.read(text).ids == ids:
                return text
            return {"input_ids": list(ids)}
        return {"input_ids": list(ids), "token_type_ids": list(segments[:most])}

    def _spell(self, model: NativeModel, ids: Sequence[int] | None) -> str | list[int] | None:
        if ids is None:
            return None
        text = self.task.tokenizer.decode(tuple(ids))
        if text.strip() and model.reader.read(text, target=True).ids == tuple(ids):
            return text
        return list(ids)


def choose_examples(lengths: Any, count: int, tokens: int) -> list[int]:
    """Some examples from all over a split: of usual length among those that fit.

    Where most do not fit, and those that do are too few (the rest at the end of a file), any: they are cut.
    """
    fitting = np.flatnonzero(lengths <= tokens)
    chosen = fitting[lengths[fitting] >= np.median(lengths[fitting])] if len(fitting) else fitting
    if len(chosen) < count and len(fitting) < len(lengths) / 2:
        chosen = np.arange(len(lengths))
    places = np.linspace(0, len(chosen) - 1, min(count, len(chosen))).round().astype(int)
    return [int(chosen[place]) for place in dict.fromkeys(places.tolist())]


def choose_removed(sizes: dict[int, int], most: float, schedule: Schedule) -> set[int]:
    """The steps to remove so that the rest takes no more than so many bytes; the first and last ones stay.

    Each time that step goes whose neighbours are closest to one another on the schedule; of equal ones the
    oldest.
    """
    kept = sorted(sizes)
    total = sum(sizes.values())
    while total > most and len(kept) > 2:
        gaps = [
            schedule.position(after) - schedule.position(before)
            for before, after in zip(kept, kept[2:], strict=False)
        ]
        leaving = kept.pop(1 + gaps.index(min(gaps)))
        total -= sizes[leaving]
    return sizes.keys() - set(kept)


def _grow(last: int) -> list[int]:
    """0, 1, 2, 3, 5, 8 … up to a step: each about 1.6 times the one before."""
    steps = [0, 1, 2]
    while steps[-1] + steps[-2] <= last:
        steps.append(steps[-1] + steps[-2])
    return [step for step in steps if step <= last]


def _reads_pairs(model: NativeModel) -> bool:
    config = model.network.config
    return isinstance(config, ModelConfig) and config.segments > 1
