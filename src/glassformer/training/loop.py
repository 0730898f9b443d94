"""The training loop: batches, steps, monitoring, evaluations, checkpoints. A killed run can be resumed.

In:   a `Plan` (task, network, settings) and the folder of a run.
Out:  an `Outcome`; in the folder checkpoints and the log.

A step depends on the weights, the state of the optimiser, its number and its batches; batches depend on seed
and position. All of this is in every checkpoint, so on a CPU a resumed run has the same losses, bit for bit.
"""

import itertools
import math
import time
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from glassformer.errors import ConfigurationError, GlassformerError, TrainingError
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.registry import suggestion
from glassformer.runlog import Curve, read_run
from glassformer.tasks.scores import SCORES
from glassformer.tasks.summary import summarise
from glassformer.tasks.task import Network, Task, TaskModule
from glassformer.text.batches import Batch, BatchSettings, Loader, Position
from glassformer.training.arithmetic import fast_arithmetic
from glassformer.training.checkpoints import (
    Checkpoints,
    State,
    average_checkpoints,
    load_state,
    save_model,
)
from glassformer.training.commands import fork_command, resume_command
from glassformer.training.distributed import Processes, choose_device, join_processes
from glassformer.training.learner import Learner
from glassformer.training.optim import highest_rate
from glassformer.training.probes import Probes
from glassformer.training.reporter import Reporter
from glassformer.training.settings import MonitorSettings, ProbeSettings, TrainSettings
from glassformer.training.signals import StopRequest
from glassformer.training.steps import find_compiler

SAMPLES = 4  # texts whose answers are written at each evaluation
LEVEL = 0.1  # of the fall of the loss so far: what is closer to the lowest loss is its level
LOWEST = ("loss", "perplexity", "bits_per_byte", "bits_per_character", "error", "mse", "mae")  # should fall


Ending = Literal["finished", "interrupted", "no_improvement", "alarm", "pruned"]

# Called after evaluations and looks at the heads with the step, the score that decides (None: no evaluation)
# and the open alarms by cause; why the run should end, or None.
Judge = Callable[[int, float | None, Mapping[str, Any]], Message | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run is made of."""

    task: Task
    network: Network
    batches: BatchSettings = field(default_factory=BatchSettings)
    train: TrainSettings = field(default_factory=TrainSettings)
    monitor: MonitorSettings = field(default_factory=MonitorSettings)
    notes: tuple[Message, ...] = ()  # where the network comes from
    probe: ProbeSettings = field(default_factory=lambda: ProbeSettings(count=0))


@dataclass(frozen=True, slots=True)
class Fork:
    """Where a new run begins instead of at step 0."""

    run: str  # the name of the other run
    place: Path  # one of its checkpoints
    other_batches: bool = False  # whether settings have changed that decide which batches follow


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    step: int
    score: float | None  # the best one, of the name below
    score_name: str
    best: Path | None  # folders of models
    last: Path | None
    ending: Ending

    @property
    def why(self) -> str:
        """Deprecated: see `ending`."""
        warnings.warn("Outcome.why is now Outcome.ending", DeprecationWarning, stacklevel=2)
        reasons = {
            "interrupted": "stopped: asked to",
            "no_improvement": f"stopped: no better {self.score_name}",
        }
        return reasons.get(self.ending, self.ending)


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


class Clock:
    """The time that a run has used, over all its sessions; it starts when it is created."""

    def __init__(self, minutes: float | None, used: float = 0.0) -> None:
        self.limit = None if minutes is None else 60 * minutes
        self._start = time.monotonic() - used

    @property
    def seconds(self) -> float:
        """Seconds used so far."""
        return time.monotonic() - self._start

    @property
    def used_share(self) -> float:
        """The used share of the allowed minutes: 1 at the end, 0 where there is no limit."""
        return 0.0 if self.limit is None else min(1.0, self.seconds / self.limit)


def run_loop(
    plan: Plan,
    run: str | Path,
    *,
    resume: bool = False,
    fork: Fork | None = None,
    silent: bool = False,
    judge: Judge | None = None,
) -> Outcome:
    """Train the network of a plan; with `resume` continue from the run's newest state, or fork another.

    A `judge` may end the run early; it is for runs of one process.
    """
    device = choose_device(plan.train.device)
    with fast_arithmetic(device), join_processes(plan.train.parallel, device) as processes:
        started = _Run(plan, Path(run), device, processes, silent=silent)
        started.judge = judge if processes.world == 1 else None
        return started.go(resume=resume, fork=fork)


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
        self.reporter.layers = self.learner.gradients.layers
        self.probes = Probes(folder, plan.probe, plan.train, plan.task)
        self.score_name, self.direction = choose_score(plan.task, plan.train.best_by)
        plan.task.scores = tuple(plan.train.scores)
        plan.task.together = processes if processes.world > 1 else None
        self.request = StopRequest(self.reporter.display.note)
        self.judge: Judge | None = None
        self.verdict: Message | None = None  # why the judge ends the run
        self.restored: list[Message] = []  # what a person should know about the state that was restored

    def go(self, *, resume: bool, fork: Fork | None) -> Outcome:
        """Start, resume or fork, and train to the end; errors are written to the log, too."""
        with ExitStack() as stack:
            stack.callback(self.reporter.close)
            stack.enter_context(self.request.handling_signals())
            try:
                if resume:
                    self._resume()
                elif fork is not None:
                    self._fork(fork)
                self.reporter.begin(self.progress.step, self.learner.evaluated, self.device)
                skipped = self.plan.task.examples("train").notes
                for note in (*self.plan.notes, *self.learner.notes, *skipped, *self._limitations()):
                    self.reporter.display.note(note)
                if self.processes.first:
                    self.reporter.describe_data(self._summarise_data())
                for note in self.restored:
                    self.reporter.log_note(self.progress.step, note)
                if self.processes.first:
                    self.probes.begin(self.progress.step, self.learner.evaluated)
                self.clock = Clock(self.settings.minutes, self.progress.seconds)
                if fork is not None:
                    self._save(self.progress.step)  # so that it can be resumed from its first step on
                ending = self._loop()
                self._end(ending)
            except OSError as error:
                raise TrainingError(
                    "training.log_failed", reason=error, next=self._how_to_resume()
                ) from error
            except GlassformerError as error:
                self.reporter.log_failure(self.progress.step, error.message)
                raise
        best, last = self.checkpoints.best(), self.checkpoints.last()
        return Outcome(self.progress.step, self.progress.best_score, self.score_name, best, last, ending)

    def _limitations(self) -> list[Message]:
        """What a recipe asks for and this machine cannot do."""
        wanted = self.settings.compile
        if wanted in ("graphs", "replay") and self.device.type == "cpu":
            return [message("training.compile_on_cpu", value=wanted)]
        if wanted in ("default", "graphs") and not find_compiler():
            return [message("training.no_compiler", value=wanted)]
        return []

    def _summarise_data(self) -> dict[str, Any]:
        task = self.plan.task
        others = ["test"] if task.has_split("test") and self.settings.evaluate_on != "test" else []
        updates = len(self._loader().plan(0)) // self.share
        splits = ["train", self.settings.evaluate_on]
        return summarise(task, splits, self.settings.steps, updates, others)

    def _loop(self) -> Ending:
        settings, progress = self.settings, self.progress
        if progress.step == 0 and self.plan.monitor.every:
            self._monitor(0)  # what the heads were before they learnt: later looks are compared with it
        if progress.step == 0:
            self._probe(0)
        with closing(self._updates()) as updates:
            while progress.step < settings.steps:
                position, batches = next(updates)
                step = progress.step + 1
                used = self._time_used()
                rate = self.learner.rate(step, used)
                numbers, tokens = self.learner.step(step, batches, rate)
                progress.step, progress.epoch = step, position.epoch
                progress.index = position.index * self.processes.world
                progress.tokens += tokens
                self.reporter.add_step(step, numbers, rate, progress.tokens)
                final = step == settings.steps or used >= 1
                ending = self._between_steps(step, final=final)
                if ending or final:
                    return ending or "finished"
        return "finished"

    def _time_used(self) -> float:
        """The used share of the allowed time: that of the first process, for all."""
        limited = self.clock.limit is not None
        return self.processes.broadcast(self.clock.used_share, self.device) if limited else 0.0

    def _between_steps(self, step: int, *, final: bool) -> Ending | None:
        """Report, monitor, evaluate and save where it is time to; why the run ends, or None."""
        settings = self.settings
        stop = self._agree_to_stop(step)
        evaluate = final or step % settings.evaluate_every == 0
        save = final or stop or step % settings.save_every == 0
        every = self.plan.monitor.every
        monitor = every > 0 and step % every == 0
        if evaluate or save or monitor or step % settings.log_every == 0:
            self._report()
        if monitor:
            self._monitor(step)
        self._probe(step, final=final)
        score, better = self._evaluate(step) if evaluate else (None, False)
        if self.judge is not None and (evaluate or monitor) and not final:
            self.verdict = self.judge(step, score, self.reporter.watch.open)
        no_improvement = 0 < settings.patience <= self.progress.misses
        if save or better or no_improvement or self.verdict:
            self._save(step)
        if stop:
            return "interrupted" if self.request.made or not self.reporter.act.stopped_by else "alarm"
        if self.verdict is not None:
            return "pruned"
        return "no_improvement" if no_improvement else None

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
            task.examples("train").lengths,
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
        """Runs ahead in a thread: prepares batches for a step."""
        return self.learner.step_on.prepare(self.plan.task.collate("train", indices, epoch))

    def _report(self) -> None:
        """Write pending numbers; a loss that is not finite ends the run."""
        wrong = self.reporter.write_steps()
        if wrong is not None:
            step, loss, norm = wrong
            raise TrainingError(
                "training.not_finite", step=step, loss=loss, norm=norm, next=self._how_to_fork(step)
            )

    def _how_to_resume(self) -> Message:
        last = self.checkpoints.last()
        if last is None:
            return message("training.no_checkpoint")
        return message("training.last_checkpoint", last=last, command=resume_command(self.checkpoints.run))

    def _how_to_fork(self, step: int) -> Message:
        """After a divergence: resuming would repeat it, so a new run starts before it, with a lower rate."""
        run = self.checkpoints.run
        onset = find_onset(read_run(run).scalars["loss"], step) if self.processes.first else step
        onset = min(onset, self.reporter.watch.find_first_trouble(step))
        before = [known for known in self.checkpoints.steps() if known < onset]
        if not before:
            return message("training.no_checkpoint_before", step=onset)
        rate = highest_rate(self.settings, self.learner.width) / 2
        command = fork_command(run, [f"train.rate={rate:.3g}"], step=before[-1])
        return message("training.fork_before", step=onset, checkpoint=before[-1], command=command)

    def _monitor(self, step: int) -> None:
        network = self.learner.network_to_monitor()
        if self.processes.first:
            self.reporter.log_heads(step, network, self.plan.task)

    def _probe(self, step: int, *, final: bool = False) -> None:
        """Record the probe texts where it is time to."""
        probes = self.probes
        if not probes.schedule.has(step, final=final):
            return
        # All processes must agree: weights that are shared out are gathered by all of them.
        due = self.processes.broadcast(float(probes.is_due(step, final=final)), self.device)
        if not due:
            return
        network = self.learner.network_to_monitor()
        if self.processes.first:
            probes.take(step, network)
            if probes.failed is not None:
                self.reporter.log_note(step, probes.failed)

    def _evaluate(self, step: int) -> tuple[float, bool]:
        """Evaluate; the score that decides, and whether it is the best so far."""
        network = self.learner.network_to_evaluate()
        scores = self.reporter.log_evaluation(step, lambda: self._score(network))
        split = self.settings.evaluate_on
        self.reporter.log_samples(step, lambda: self.plan.task.samples(network, split, SAMPLES))
        score = self.processes.broadcast(scores[self.score_name], self.device)
        best = self.progress.best_score
        better = not math.isnan(score) and (best is None or self.direction * score > self.direction * best)
        if better:
            self.progress.best_score, self.progress.best_step, self.progress.misses = score, step, 0
            self.reporter.log_best(step, self.score_name, score)
        else:
            self.progress.misses += 1
        return score, better

    def _score(self, network: Network) -> dict[str, float]:
        settings, task = self.settings, self.plan.task
        scores = task.evaluate(network, settings.evaluate_on, limit=settings.evaluate_limit)
        if self.score_name not in scores:
            near = suggestion(self.score_name, scores)
            raise ConfigurationError("training.no_such_score", name=self.score_name, suggestion=near)
        return scores

    def _save(self, step: int) -> None:
        kept = self.learner.keep()
        self.progress.seconds = self.clock.seconds
        network = self.learner.network_to_evaluate()
        if self.processes.first:
            numbers: dict[str, Any] = {name: getattr(self.progress, name) for name in Progress.__slots__}
            numbers |= {"alarms": self.reporter.state(), "judged_by": self._judged_by(), "data": self.data}

            def write(folder: Path) -> None:
                save_model(network, folder, self.plan.task)
                self.learner.save_adapters(kept, folder)

            place = self.checkpoints.save(step, write, kept, numbers)
            if self.progress.best_step == step:
                self.checkpoints.mark_best(place)
        self.processes.barrier()

    def _resume(self) -> None:
        """Everything as it was after the newest checkpoint that is not damaged."""
        state = self.checkpoints.newest_state()
        self._restore(state)
        self.processes.barrier()  # until all have read it
        if not self.processes.first:
            return
        self.checkpoints.clean()
        for error in state.damaged:
            self.restored.append(
                message("training.checkpoint.skipped", problem=error.message, used=state.place.name)
            )
        self.checkpoints.discard_after(state.place)
        best = self.checkpoints.place(self.progress.best_step)
        if best.is_dir():  # it may have been killed before it was marked
            self.checkpoints.mark_best(best)

    def _fork(self, fork: Fork) -> None:
        """Everything as it was in a checkpoint of another run; what is best is judged anew."""
        state = load_state(fork.place)
        averages = {  # where the other run has none, they begin with the weights
            name.replace("weights.", "average.", 1): tensor
            for name, tensor in state.tensors.items()
            if name.startswith("weights.")
        }
        self._restore(State(state.place, averages | state.tensors, state.numbers))
        progress = self.progress
        self.progress = Progress(progress.step, progress.epoch, progress.index, progress.tokens)
        if fork.other_batches and progress.index:  # another order of batches begins with an epoch
            self.progress.epoch, self.progress.index = progress.epoch + 1, 0
        self.reporter.watch.forget_alarms()  # they are those of the other run
        if self.processes.first:
            self.probes.adopt(fork.place.parent.parent, progress.step)
        self.restored.append(message("training.event.forked", run=fork.run, step=progress.step))

    def _restore(self, state: State) -> None:
        numbers = dict(state.numbers)
        try:
            self._check_data(numbers)
            judged_by = numbers.pop("judged_by", self._judged_by())  # version 0.2 did not write it
            self.reporter.load_state(numbers.pop("alarms"))
            self.progress = Progress(**numbers)
            self.learner.restore(state.tensors)
        except (KeyError, TypeError, RuntimeError) as error:
            raise TrainingError("training.other_network", folder=state.place, reason=error) from error
        if judged_by != self._judged_by():
            self.progress.best_score, self.progress.misses = None, 0
            self.reporter.watch.steps.forget_scores()
            self.restored.append(message("training.judged_anew"))

    def _check_data(self, numbers: dict[str, Any]) -> None:
        """Refuse other data than that of the state; version 0.2 wrote only how many examples there were."""
        if "data" in numbers:
            now, before = self.data, numbers.pop("data")
        else:
            now, before = str(len(self._lengths())), str(numbers.pop("examples"))
        if now != before:
            raise TrainingError("training.other_data", now=now, before=before)

    def _judged_by(self) -> list[Any]:
        """What the best score depends on."""
        return [self.score_name, self.settings.evaluate_on, self.settings.evaluate_limit]

    @cached_property
    def data(self) -> str:
        """The identity of what is learnt from."""
        return self.plan.task.identity("train")

    def _lengths(self) -> Any:
        return self.plan.task.examples("train").lengths

    def _end(self, ending: Ending) -> None:
        """Average and evaluate the last checkpoints where wanted; log the end."""
        if self.settings.average > 1 and ending != "interrupted":
            network = self.learner.evaluated
            if self.processes.first:
                average_checkpoints(self.checkpoints, network, self.plan.task)
            self.processes.copy_weights(network)
            self.reporter.log_evaluation(self.progress.step, lambda: self._score(network), prefix="averaged_")
        self.processes.barrier()
        kind = "finished" if ending == "finished" else "stopped"
        self.reporter.log_end(self.progress.step, kind, self._summary(ending), ending)

    def _summary(self, ending: Ending) -> Message:
        progress, name = self.progress, self.score_name
        signal = self.request.signal if ending == "interrupted" else ""
        stopped_by = self.reporter.act.stopped_by
        text = message(
            f"training.ending.{'signalled' if signal else ending}",
            step=progress.step,
            name=name,
            patience=self.settings.patience,
            signal=signal,
            topic=None if stopped_by is None else name_term(stopped_by.topic),
            reason=self.verdict,
        )
        topics = [name_term(cause.replace("_", " ")) for cause in self.reporter.watch.open]
        if topics and ending != "alarm":
            text = message("training.ending.with_alarms", text=text, topics=topics)
        if progress.best_score is None:
            return text
        score, best_step = progress.best_score, progress.best_step
        return message("training.ending.with_best", text=text, name=name, score=score, best_step=best_step)

    def _agree_to_stop(self, step: int) -> bool:
        """Whether any process was asked to stop; several processes check at the same steps only."""
        wanted = self.request.made or self.reporter.act.stopped_by is not None
        if self.processes.world == 1:
            return wanted
        if step % self.settings.log_every:
            return False
        asked = torch.tensor(float(wanted), device=self.device)
        return bool(self.processes.sum(asked) > 0)


def find_onset(losses: Curve, step: int) -> int:
    """The step at which the loss left its lowest level for good, before it was no number at `step`."""
    known = np.isfinite(losses.values) & (losses.steps < step)
    steps, values = losses.steps[known], losses.values[known]
    if not len(values):
        return step
    low = values <= values.min() + LEVEL * (values[0] - values.min())
    return int(steps[np.flatnonzero(low)[-1]]) + 1


def _share(accumulate: int, world: int) -> int:
    """How many batches of an update each process has."""
    if accumulate % world:
        raise ConfigurationError("training.accumulate", accumulate=accumulate, processes=world)
    return accumulate // world


def choose_score(task: Task | type[Task], best_by: str | None) -> tuple[str, int]:
    """The score that decides, and 1 where higher is better, else −1."""
    name, which = task.best
    if best_by is not None and best_by != name:
        name, which = best_by, "lowest" if best_by.split(".")[0] in LOWEST else "highest"
        if name in SCORES:
            which = SCORES[name].best
    return name, 1 if which == "highest" else -1
