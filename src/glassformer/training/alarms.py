"""Alarms: what the rules find, joined to one alarm for each cause, from when it begins until it passes.

In:   the numbers of every step; statistics of every head, look after look; scores. Or the log of a run.
Out:  events: an alarm begins, grows (other heads or layers have the same trouble), passes.

The rules (step_rules.py, head_rules.py) see nothing but what the log holds, so `replay` finds in a log what
was found while it was written. All memory is plain numbers, so that a resumed run raises the same alarms.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from glassformer.messages import Message, message
from glassformer.place import Place, name_term
from glassformer.runlog import ALARM, CHANCE, GREW, LAYER_NORM, PASSED, AlarmRecord, Event, RunLog
from glassformer.training.head_rules import HEAD_CAUSES, HeadRules, Statistics
from glassformer.training.settings import MonitorSettings
from glassformer.training.step_rules import LOOK_CAUSES, SCORE_CAUSES, STEP_CAUSES, StepRules, Symptom

QUIET = 20  # steps without a symptom after which the trouble of a step has passed; looks and evaluations: 1
NAMED = 4  # maps that a message names

CAUSES = (*STEP_CAUSES, *LOOK_CAUSES, *SCORE_CAUSES, *HEAD_CAUSES)
DIVERGING = ("loss_rising", "loss_spike", "gradient_explosion", "bad_start", "rate_jump")


class AlarmWatch:
    """Follows a run and tells when a trouble begins, grows and passes."""

    def __init__(self, settings: MonitorSettings, chance: float | None = None) -> None:
        """`chance` is the loss of a guess that knows nothing."""
        self.steps = StepRules(settings.spike)
        self.steps.memory["chance"] = chance
        self.heads = HeadRules(settings)
        self.count = 0  # alarms so far
        self.open: dict[str, dict[str, Any]] = {}  # cause → its alarm, as plain numbers

    def check_step(
        self, step: int, loss: float, norm: float, rate: float, layers: Mapping[str, float]
    ) -> list[Event]:
        """News after a step; `layers` has the gradient norms of layers where they were measured."""
        return self._update(step, STEP_CAUSES, self.steps.check_step(loss, norm, rate, layers), QUIET)

    def check_look(self, step: int, maps: Statistics) -> list[Event]:
        """News after a look at every head."""
        found = [*self.steps.check_look(step), *self.heads.check(step, maps)]
        return self._update(step, (*LOOK_CAUSES, *HEAD_CAUSES), found, 1)

    def check_scores(self, step: int, scores: Mapping[str, float]) -> list[Event]:
        """News after an evaluation."""
        return self._update(step, SCORE_CAUSES, self.steps.check_scores(scores), 1)

    def find_first_trouble(self, step: int) -> int:
        """The step at which that began which led to a loss that is not finite at `step`."""
        return min([step, *(alarm["first_step"] for cause, alarm in self.open.items() if cause in DIVERGING)])

    def forget_alarms(self) -> None:
        """Close all alarms without a word: a fork begins with none."""
        self.open, self.count = {}, 0

    def state(self) -> dict[str, Any]:
        """Everything that is remembered: plain numbers and texts."""
        return {
            "steps": self.steps.memory,
            "heads": self.heads.memory,
            "open": self.open,
            "count": self.count,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` gave; what an older version remembered is left."""
        if "steps" not in state:
            return
        chance = self.steps.memory["chance"]
        self.steps.memory |= state["steps"]
        self.steps.memory["rate"] = 0.0  # another rate was chosen on purpose
        if chance is not None:
            self.steps.memory["chance"] = chance
        self.heads.memory |= state["heads"]
        self.open, self.count = dict(state["open"]), state["count"]

    def _update(
        self, step: int, causes: Iterable[str], symptoms: Iterable[Symptom], quiet: int
    ) -> list[Event]:
        events = []
        found = {symptom.cause: symptom for symptom in symptoms}
        for cause in causes:
            symptom, known = found.get(cause), self.open.get(cause)
            if symptom is None:
                if known is not None:
                    known["quiet"] += 1
                    if known["quiet"] >= quiet:
                        del self.open[cause]
                        events.append(_tell(step, PASSED, known, _describe_end(known)))
                continue
            heads = {place.address: list(heads) for place, heads in symptom.heads.items()}
            if known is None:
                self.count += 1
                known = {"number": self.count, "cause": cause, "first_step": step, "heads": {}, "layers": []}
                self.open[cause] = known
                kind = ALARM
            else:
                kind = GREW
            more = _add(known["heads"], heads) | _add_layers(known["layers"], symptom.layers)
            known |= {"last_step": step, "quiet": 0}
            if kind == ALARM or more:
                events.append(_tell(step, kind, known, describe(symptom, known), symptom.value))
        return events


def replay(log: RunLog, settings: MonitorSettings | None = None) -> list[Event]:
    """The events of alarms that today's rules find in a log."""
    chance = log.environment.get(CHANCE)
    watch = AlarmWatch(settings or MonitorSettings(), chance)
    columns = {
        name: dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
        for name, curve in log.scalars.items()
    }
    layers = {
        name.removeprefix(LAYER_NORM): column
        for name, column in columns.items()
        if name.startswith(LAYER_NORM)
    }
    looks: dict[int, dict[Place, dict[str, Any]]] = {}
    for place, history in log.heads.items():
        for row, step in enumerate(history.steps.tolist()):
            looks.setdefault(step, {})[place] = {name: each[row] for name, each in history.statistics.items()}
    losses, norms, rates, scores = (columns.get(name, {}) for name in ("loss", "norm", "rate", "dev_loss"))
    events = []
    for step in sorted({*losses, *looks, *scores}):
        if step in losses:
            measured = {layer: column[step] for layer, column in layers.items() if step in column}
            events += watch.check_step(
                step, losses[step], norms.get(step, 0.0), rates.get(step, 0.0), measured
            )
        if step in looks:
            events += watch.check_look(step, looks[step])
        if step in scores:
            events += watch.check_scores(step, {"loss": scores[step]})
    return events


def describe(symptom: Symptom, alarm: Mapping[str, Any]) -> Message:
    """What is wrong, and what helps."""
    parameters = dict(symptom.parameters)
    if alarm["heads"]:
        parameters["heads"] = _name_heads(alarm["heads"])
    code = symptom.cause
    if symptom.cause in ("gradient_explosion", "vanishing_gradient", "not_finite"):
        code += "_in" if alarm["layers"] else ""
        if alarm["layers"]:
            parameters["layers"] = tuple(alarm["layers"])
    return message(f"training.alarm.{code}", **parameters)


def _name_heads(heads: Mapping[str, list[int]]) -> list[Message]:
    """ "Heads 1 and 3 of decoder layer 0, self", for the first maps, and how many more there are."""
    named = [
        message("training.alarm.heads", place=Place.parse(address), heads=tuple(numbers), count=len(numbers))
        for address, numbers in list(heads.items())[:NAMED]
    ]
    left = sum(map(len, list(heads.values())[NAMED:]))
    return [*named, message("training.alarm.more_heads", count=left)] if left else named


def _describe_end(alarm: Mapping[str, Any]) -> Message:
    topic = name_term(alarm["cause"].replace("_", " "))
    return message("training.alarm.passed", topic=topic, first=alarm["first_step"], last=alarm["last_step"])


def _tell(step: int, kind: str, alarm: Mapping[str, Any], text: Message, value: float | None = None) -> Event:
    heads = {Place.parse(address): tuple(numbers) for address, numbers in alarm["heads"].items()}
    first, last, layers = alarm["first_step"], alarm["last_step"], tuple(alarm["layers"])
    record = AlarmRecord(alarm["number"], alarm["cause"], first, last, heads, layers)
    place = next(iter(heads), None)
    finite = value if value is not None and math.isfinite(value) else None
    topic = alarm["cause"].replace("_", " ")
    return Event.from_message(step, kind, text, topic=topic, place=place, value=finite, alarm=record)


def _add(known: dict[str, list[int]], heads: Mapping[str, list[int]]) -> bool:
    """Note heads that have the trouble; whether there were new ones."""
    new = False
    for address, numbers in heads.items():
        before = known.setdefault(address, [])
        new |= not set(numbers) <= set(before)
        before[:] = sorted({*before, *numbers})
    return new


def _add_layers(known: list[str], layers: Iterable[str]) -> bool:
    new = [layer for layer in layers if layer not in known]
    known += new
    return bool(new)
