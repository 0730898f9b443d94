"""The loop: batches, steps, looks, evaluations, checkpoints; killed at any moment, it goes on unharmed.

In:   a `Plan` (task, network, settings) and the folder of a run.
Out:  an `Outcome`; in the folder checkpoints and the log.

What a step does follows from the weights, the optimiser's memory, the step's number and its batches;
batches follow from seed and position. All of it is in every checkpoint, so on a CPU a resumed run has the
same losses, bit for bit.
"""

import itertools
import math
from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.errors import ConfigurationError, GlassformerError
from glassformer.registry import suggest
from glassformer.tasks.task import Network, Task, TaskModule
from glassformer.text.batches import Batch, BatchSettings, Loader, Position
from glassformer.training.arithmetic import fast_arithmetic
from glassformer.training.checkpoints import Checkpoints
from glassformer.training.clock import Clock
from glassformer.training.distributed import Processes, choose_device, join_processes
from glassformer.training.errors import TrainingError
from glassformer.training.finish import average_checkpoints, save_model
from glassformer.training.learner import Learner
from glassformer.training.reporter import Reporter
from glassformer.training.settings import MonitorSettings, TrainSettings
from glassformer.training.signals import Request
from glassformer.training.steps import find_compiler

LOWEST = ("loss", "perplexity", "bits_per_byte", "bits_per_character", "error")  # scores that should fall


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run is made of."""

    task: Task
    network: Network
    batches: BatchSettings = field(default_factory=BatchSettings)
    train: TrainSettings = field(default_factory=TrainSettings)
    monitor: MonitorSettings = field(default_factory=MonitorSettings)
    notes: tuple[str, ...] = ()  # sentences about where the network comes from


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    step: int
    score: float | None  # the best one, of the name below
    score_name: str
    best: Path | None  # folders of models
    last: Path | None
    why: str  # "finished", or why it stopped


@dataclass(slots=True)
class Progress:
    """Where a run is: the numbers in a checkpoint."""

    step: int = 0
    epoch: int = 0
    index: int = 0  # batches of the epoch that all processes together have had
    tokens: int = 0
    seconds: float = 0.0
    best_score: float | None = None
    best_step: int = 0
    misses: int = 0  # evaluations since the best one


def run_loop(plan: Plan, run: str | Path, *, resume: bool = False, silent: bool = False) -> Outcome:
    """Train the network of a plan; with `resume` go on from the run's last checkpoint, if it has one."""
    device = choose_device(plan.train.device)
    with fast_arithmetic(device), join_processes(plan.train.parallel, device) as processes:
        return _Run(plan, Path(run), device, processes, silent=silent).go(resume=resume)


class _Run:
    """One call of `train`."""

    def __init__(
        self, plan: Plan, folder: Path, device: torch.device, processes: Processes, *, silent: bool
    ) -> None:
        self.plan = plan
        self.settings = plan.train
        self.processes = processes
        self.device = device
        self.share = _share(plan.train.accumulate, processes.world)
        self.progress = Progress()
        self.clock = Clock(plan.train.minutes)
        self.checkpoints = Checkpoints(folder, keep=plan.train.average)
        module = TaskModule(plan.task, plan.network).to(device).train()
        lengths = self._lengths()
        varied = len(lengths) > 0 and bool(lengths.min() != lengths.max())
        self.learner = Learner(module, plan.train, processes, varied=varied)
        self.reporter = Reporter(folder, plan.train, plan.monitor, writing=processes.first, silent=silent)
        self.score_name, self.direction = _choose_score(plan)
        self.request = Request(self.reporter.display.note)

    def go(self, *, resume: bool) -> Outcome:
        """Begin or go on, to the end; whatever goes wrong is in the log, too."""
        with ExitStack() as stack:
            stack.callback(self.reporter.close)
            stack.enter_context(self.request.listening())
            try:
                if resume:
                    self._restore()
                self.reporter.begin(self.progress.step, self.learner.module.network, self.device)
                for note in (*self.plan.notes, *self.plan.task.examples("train").notes, *self._excuses()):
                    self.reporter.display.note(note)
                self.clock = Clock(self.settings.minutes, self.progress.seconds)
                why = self._loop()
                self._end(why)
            except OSError as error:
                message = f"The run's log could not be written: {error}. {self._how_to_go_on()}"
                raise TrainingError(message) from error
            except GlassformerError as error:
                self.reporter.fail(self.progress.step, str(error))
                raise
        best, last = self.checkpoints.best(), self.checkpoints.last()
        return Outcome(self.progress.step, self.progress.best_score, self.score_name, best, last, why)

    def _excuses(self) -> list[str]:
        """What a recipe asks for and this machine cannot do."""
        wanted = self.settings.compile
        if wanted in ("graphs", "replay") and self.device.type == "cpu":
            return [f'compile = "{wanted}" is for GPUs: on this CPU steps run as they are.']
        if wanted in ("default", "graphs") and not find_compiler():
            return [f"compile = {wanted!r} needs a C compiler; there is none here, so steps run as they are."]
        return []

    def _loop(self) -> str:
        settings, progress = self.settings, self.progress
        with closing(self._updates()) as updates:
            while progress.step < settings.steps:
                position, batches = next(updates)
                step = progress.step + 1
                gone = self._time_gone()
                rate = self.learner.rate(step, gone)
                numbers, _, tokens = self.learner.step(step, batches, rate)
                progress.step, progress.epoch = step, position.epoch
                progress.index = position.index * self.processes.world
                progress.tokens += tokens
                self.reporter.keep(step, numbers, rate, progress.tokens)
                final = step == settings.steps or gone >= 1
                why = self._pause(step, final=final)
                if why or final:
                    return why or "finished"
        return "finished"

    def _time_gone(self) -> float:
        """The share of the allowed time that is gone: the first process's, for all."""
        return 0.0 if self.clock.limit is None else self.processes.tell(self.clock.gone, self.device)

    def _pause(self, step: int, *, final: bool) -> str:
        """What happens between two steps; a word ends the run."""
        settings = self.settings
        stop = self._agree_to_stop(step)
        judge = final or step % settings.evaluate_every == 0
        save = final or stop or step % settings.save_every == 0
        every = self.plan.monitor.every
        look = every > 0 and step % every == 0
        if judge or save or look or step % settings.log_every == 0:
            self._report()
        if look:
            self._look(step)
        better = self._judge(step) if judge else False
        tired = 0 < settings.patience <= self.progress.misses
        if save or better or tired:
            self._save(step)
        if stop:
            return "stopped: asked to"
        return f"stopped: no better {self.score_name} for {settings.patience} evaluations" if tired else ""

    def _updates(self) -> Generator[tuple[Position, list[Batch]], None, None]:
        """The batches of one update after another, each with the position after it."""
        position = Position(self.progress.epoch, self.progress.index // self.processes.world)
        with ExitStack() as stack:
            batches = self._loader().start(position)
            if isinstance(batches, Generator):
                stack.callback(batches.close)  # its thread ends with it
            while group := list(itertools.islice(batches, self.share)):
                yield group[-1][0], [batch for _, batch in group]

    def _loader(self) -> Loader:
        task = self.plan.task
        loader = Loader(
            task.examples("train"),
            self._collate,
            self.plan.batches,
            seed=self.settings.seed,
            rank=self.processes.rank,
            world=self.processes.world,
            accumulation=self.share,
            pinned=self.device.type == "cuda",
        )
        self.learner.step_on.expect(max(map(len, loader.plan(0))))
        return loader

    def _collate(self, indices: Any, epoch: int) -> Batch:
        """Runs ahead in a thread: what a step wants of its batches is done there."""
        return self.learner.step_on.prepare(self.plan.task.collate("train", indices, epoch))

    def _report(self) -> None:
        """Write what was kept; a loss that is no number ends the run before anything is made of it."""
        wrong = self.reporter.flush()
        if wrong is not None:
            step, loss, norm = wrong
            raise TrainingError(
                f"At step {step} the loss was {loss:g} and the gradient {norm:g} long: nothing can be learnt "
                f"from that. {self._how_to_go_on()} A lower rate, a longer warm-up or less clip may help."
            )

    def _how_to_go_on(self) -> str:
        last = self.checkpoints.last()
        if last is None:
            return "There is no checkpoint before it."
        return f"The last good checkpoint is {last}; --resume goes on from there."

    def _look(self, step: int) -> None:
        network = self.learner.prepare_watched()
        if self.processes.first:
            self.reporter.look(step, network, self.plan.task)

    def _judge(self, step: int) -> bool:
        """Evaluate; whether this is the best so far."""
        network = self.learner.prepare_judged()
        score = math.nan
        if self.processes.first:
            score = self.reporter.judge(step, lambda: self._evaluate(network))[self.score_name]
        score = self.processes.tell(score, self.device)
        best = self.progress.best_score
        better = not math.isnan(score) and (best is None or self.direction * score > self.direction * best)
        if better:
            self.progress.best_score, self.progress.best_step, self.progress.misses = score, step, 0
            self.reporter.praise(step, self.score_name, score)
        else:
            self.progress.misses += 1
        return better

    def _evaluate(self, network: Network) -> dict[str, float]:
        settings, task = self.settings, self.plan.task
        scores = task.evaluate(network, settings.evaluate_on, limit=settings.evaluate_limit)
        if self.score_name not in scores:
            known = suggest(self.score_name, scores)
            raise ConfigurationError(f"Evaluation gives no score {self.score_name!r}; see `best_by`.{known}")
        return scores

    def _save(self, step: int) -> None:
        kept = self.learner.keep()
        self.progress.seconds = self.clock.seconds
        network = self.learner.prepare_judged()
        if self.processes.first:
            numbers: dict[str, Any] = {name: getattr(self.progress, name) for name in Progress.__slots__}
            numbers |= {"alarms": self.reporter.memory(), "examples": len(self._lengths())}
            place = self.checkpoints.save(
                step, lambda folder: save_model(network, folder, self.plan.task), kept, numbers
            )
            if self.progress.best_step == step:
                self.checkpoints.mark_best(place)
        self.processes.wait()

    def _restore(self) -> None:
        """Everything as it was after the last checkpoint."""
        last = self.checkpoints.last()
        if self.processes.first:
            self.checkpoints.clean()
        if last is None:
            return
        tensors, numbers = self.checkpoints.load(last)
        self._check_examples(numbers.pop("examples"))
        self.reporter.remember(numbers.pop("alarms"))
        self.progress = Progress(**numbers)
        self._load(tensors, last)
        best = self.checkpoints.folder / f"step-{self.progress.best_step:08d}"
        if self.processes.first and best.is_dir():  # it may have been killed before it could say so
            self.checkpoints.mark_best(best)

    def _load(self, tensors: Mapping[str, Tensor], place: Path) -> None:
        try:
            self.learner.restore(tensors)
        except (KeyError, RuntimeError) as error:
            raise TrainingError(
                f"{place} was written for another network: {error}. Wanted the one of the recipe; "
                "use the recipe of the run, or another run."
            ) from error

    def _check_examples(self, before: int) -> None:
        now = len(self._lengths())
        if now != before:
            raise TrainingError(
                f"The training data has {now} examples, and had {before} when this run began: its batches "
                "would be others. Bring back the data, or begin a new run."
            )

    def _lengths(self) -> Any:
        return self.plan.task.examples("train").lengths

    def _end(self, why: str) -> None:
        """The mean of the last checkpoints, judged; the last words."""
        if self.settings.average > 1 and self.processes.first and why != "stopped: asked to":
            average_checkpoints(self.checkpoints, self.learner.judged, self.plan.task)
            judged = self.learner.judged
            self.reporter.judge(self.progress.step, lambda: self._evaluate(judged), prefix="averaged_")
        self.processes.wait()
        self.reporter.end(self.progress.step, why, self._summary())

    def _summary(self) -> str:
        score, step = self.progress.best_score, self.progress.best_step
        return "" if score is None else f"The best {self.score_name} was {score:.4g}, at step {step}."

    def _agree_to_stop(self, step: int) -> bool:
        """Whether any process was asked to; several processes look at the same steps only."""
        if self.processes.world == 1:
            return self.request.made
        if step % self.settings.log_every:
            return False
        asked = torch.tensor(float(self.request.made), device=self.device)
        return bool(self.processes.sum(asked) > 0)


def _share(accumulate: int, world: int) -> int:
    """How many batches of an update each process has."""
    if accumulate % world:
        raise ConfigurationError(
            f"accumulate = {accumulate} batches an update cannot be shared by {world} processes; "
            f"choose a multiple of {world}."
        )
    return accumulate // world


def _choose_score(plan: Plan) -> tuple[str, int]:
    """The score that decides, and 1 where higher is better, else −1."""
    name, which = plan.task.best
    if plan.train.best_by is not None and plan.train.best_by != name:
        name, which = plan.train.best_by, "lowest" if plan.train.best_by in LOWEST else "highest"
    return name, 1 if which == "highest" else -1
