"""Rules over the numbers of every step and over held-out scores: what is wrong now?

In:   loss, gradient norms and rate of one step after another; scores; the loss of a blind guess.
Out:  a `Symptom` for each trouble that shows at this step; alarms.py joins them to alarms.

Noise is judged by robust measures, which neither a trend nor a single spike moves: medians, and the median of
the absolute differences between neighbours. All memory is plain numbers: a resumed run goes on as before.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from glassformer.place import Place

WINDOW = 48  # losses that are remembered
SHORT = 8  # losses whose median is the level of now
SETTLED = 10  # steps before losses can be compared with those before them
NORMAL = 1.4826 / math.sqrt(2)  # the median of absolute differences times this is the noise, were it normal

UNSURE = 60.0  # divided by the number of losses that the noise was judged by: so many times the noise more
MIN_SPIKE = 0.15  # a spike is at least this share of the level above it
RECORD = 1.6  # and so many times the largest rise that is remembered: some losses have heavy tails
MIN_RISE = 0.05  # a level that rises is at least this share above the lowest one
RISE = 3.0  # and so many times the noise of a loss
RISING = 2  # steps in a row
EARLY_RISE = 1.25  # before losses can be compared: twice so many times the first one, and a blind guess
BAD_START = 1.6  # the first losses, all of them, are so many times a blind guess
FIRST = 3  # losses that show how a run starts
EASY = 0.03  # a level below this share of a blind guess, so early
EASY_STEPS = 300
SMOOTH = (
    0.1  # the noise of the last losses, as a share of that of those before: the same batch again and again
)
SMOOTH_STEPS = 12
NO_PROGRESS = 0.01  # the share by which a loss must have fallen after two looks
SURE = 0.03  # where the noise of a loss is below this share of it
GOOD = 0.6  # a loss below this share of a blind guess may rest

HIGH_NORM = 10.0  # a gradient so many times as long as usual, HIGH_STEPS times in a row
HIGHEST_NORM = 100.0  # or once
HIGH_STEPS = 3
NO_NORM = 1e-4  # a gradient of less than this share of its usual length is none
NORMS = 8  # gradients that show what is usual
JUMP = 10.0  # a rate so many times that of the step before

WORSE = 0.02  # held-out loss: above its best by this share twice in a row
MUCH_WORSE = 0.15  # or by this share once

STEP_CAUSES = (
    "not_finite",
    "bad_start",
    "loss_spike",
    "loss_rising",
    "gradient_explosion",
    "vanishing_gradient",
    "rate_jump",
    "repeated_batches",
)
LOOK_CAUSES = ("plateau", "too_easy")
SCORE_CAUSES = ("over_fitting",)


class Symptom(NamedTuple):
    """One trouble that shows now."""

    cause: str
    value: float
    parameters: Mapping[str, Any]  # of its message
    heads: Mapping[Place, tuple[int, ...]] = {}  # by map
    layers: tuple[str, ...] = ()  # whose gradients it is about


class StepRules:
    """Loss, gradients and rate of each step; scores now and then."""

    def __init__(self, spike: float) -> None:
        self.spike = spike  # a loss so many times the noise above its level is a spike
        self.memory: dict[str, Any] = {
            "chance": None,  # the loss of a guess that knows nothing
            "losses": [],  # the last ones
            "rises": [],  # how far each of them was above the level before it
            "start": [],  # the first ones
            "best": None,  # the lowest level so far
            "rising": 0,  # steps in a row that were far above the best level
            "rate": 0.0,
            "norms": {},  # layer ("" for all) → its last gradient norms
            "high": 0,  # steps in a row whose gradient was far longer than usual
            "looks": 0,
            "dev": None,  # the lowest held-out loss
            "level_then": None,  # of training losses, at that evaluation
            "worse": 0,  # evaluations in a row that were worse
        }

    def check_step(self, loss: float, norm: float, rate: float, layers: Mapping[str, float]) -> list[Symptom]:
        """What is wrong at this step; `layers` has gradient norms where they were logged."""
        if not (math.isfinite(loss) and math.isfinite(norm)):
            broken = tuple(layer for layer, each in layers.items() if not math.isfinite(each))
            return [Symptom("not_finite", loss, {"loss": loss, "norm": norm}, layers=broken)]
        found = [*self._check_rate(rate), *self._check_gradients(norm, layers), *self._check_loss(loss)]
        return list(found)

    def check_look(self, step: int) -> list[Symptom]:
        """Whether anything is learnt at all; called as often as heads are looked at."""
        memory = self.memory
        memory["looks"] += step > 0
        chance, level = memory["chance"], self._level()
        if chance is None or level is None or len(memory["losses"]) < SETTLED:
            return []
        if step <= EASY_STEPS and level < EASY * chance:
            return [Symptom("too_easy", level, {"loss": level, "chance": chance, "steps": step})]
        start = median(memory["start"])
        stuck = level > (1 - NO_PROGRESS) * start and memory["best"] > (1 - 3 * NO_PROGRESS) * start
        sure = self._noise() < SURE * start  # a noisy loss may fall unseen
        if memory["looks"] >= 2 and stuck and sure and level > GOOD * chance:
            return [Symptom("plateau", level, {"loss": level, "start": start, "steps": step})]
        return []

    def check_scores(self, scores: Mapping[str, float]) -> list[Symptom]:
        """Whether the loss on held-out text rises while that of training falls."""
        memory, dev = self.memory, scores.get("loss", math.nan)
        level = self._level()
        if not math.isfinite(dev) or level is None:
            return []
        if memory["dev"] is None or dev < memory["dev"]:
            memory.update(dev=dev, level_then=level, worse=0)
            return []
        learnt = level <= memory["level_then"]
        above = dev / memory["dev"] - 1 if memory["dev"] > 0 else math.inf
        memory["worse"] = memory["worse"] + 1 if above > WORSE and learnt else 0
        if memory["worse"] >= 2 or (above > MUCH_WORSE and learnt):
            return [Symptom("over_fitting", dev, {"dev": dev, "best": memory["dev"], "loss": level})]
        return []

    def forget_scores(self) -> None:
        """Compare later scores with one another alone: earlier ones were of other text."""
        self.memory.update(dev=None, level_then=None, worse=0)

    def _level(self) -> float | None:
        losses = self.memory["losses"][-SHORT:]
        return median(losses) if losses else None

    def _noise(self) -> float:
        losses = self.memory["losses"]
        if len(losses) < 4:
            return 0.0
        return NORMAL * median(abs(after - before) for before, after in pairwise(losses))

    def _is_smooth(self) -> bool:
        """Whether losses follow one another as only those of the same batch do: their curvature says so."""
        losses = self.memory["losses"]
        if len(losses) < 3 * SMOOTH_STEPS:
            return False
        bends = [abs(c - 2 * b + a) for a, b, c in zip(losses, losses[1:], losses[2:], strict=False)]
        return median(bends[-SMOOTH_STEPS:]) < SMOOTH * median(bends[:-SMOOTH_STEPS])

    def _check_rate(self, rate: float) -> Iterator[Symptom]:
        before, self.memory["rate"] = self.memory["rate"], rate
        if before > 0 and rate > 0 and not 1 / JUMP <= rate / before <= JUMP:
            yield Symptom("rate_jump", rate, {"before": before, "rate": rate})

    def _check_loss(self, loss: float) -> Iterator[Symptom]:
        memory = self.memory
        losses, chance, level = memory["losses"], memory["chance"], self._level()
        if len(memory["start"]) < FIRST:
            memory["start"].append(loss)
            if len(memory["start"]) == FIRST and chance and min(memory["start"]) > BAD_START * chance:
                yield Symptom("bad_start", loss, {"loss": min(memory["start"]), "chance": chance})
        noise = self._noise()
        rise = 0.0 if level is None else loss - level
        settled = len(losses) >= SETTLED
        if settled and level is not None:
            largest = max(memory["rises"], default=0.0)
            sure = self.spike + UNSURE / len(losses)
            if rise > max(sure * noise, RECORD * largest, MIN_SPIKE * level):
                yield Symptom("loss_spike", loss, {"loss": loss, "level": level, "noise": noise})
        losses.append(loss)
        memory["rises"].append(rise)
        del losses[:-WINDOW], memory["rises"][:-WINDOW]
        if self._is_smooth():
            yield Symptom("repeated_batches", loss, {"loss": loss, "steps": SMOOTH_STEPS})
        now = self._level()
        assert now is not None
        if len(losses) < SHORT:
            far = len(losses) > 2 and min(losses[-2:]) > EARLY_RISE * max(losses[0], chance or 0.0)
        else:
            best = memory["best"] = min(now, now if memory["best"] is None else memory["best"])
            far = now - best > max(RISE * noise, MIN_RISE * best)
        memory["rising"] = memory["rising"] + 1 if far else 0
        if memory["rising"] >= (RISING if settled else 1):
            lowest = median(memory["start"]) if memory["best"] is None else memory["best"]
            yield Symptom("loss_rising", now, {"loss": now, "best": lowest})

    def _check_gradients(self, norm: float, layers: Mapping[str, float]) -> Iterator[Symptom]:
        memory = self.memory
        ratios = {layer: self._compare_norm(layer, each) for layer, each in {"": norm, **layers}.items()}
        whole = ratios.pop("")
        memory["high"] = memory["high"] + 1 if whole is not None and whole > HIGH_NORM else 0
        high = {layer: ratio for layer, ratio in ratios.items() if ratio is not None and ratio > HIGHEST_NORM}
        if whole is not None and (memory["high"] >= HIGH_STEPS or whole > HIGHEST_NORM or high):
            largest = max([whole, *high.values()])
            yield Symptom("gradient_explosion", norm, {"norm": norm, "ratio": largest}, layers=tuple(high))
        gone = tuple(layer for layer, ratio in ratios.items() if ratio is not None and ratio < NO_NORM)
        if gone or (whole is not None and whole < NO_NORM):
            yield Symptom("vanishing_gradient", norm, {"norm": norm}, layers=gone)

    def _compare_norm(self, layer: str, norm: float) -> float | None:
        """How many times its usual length a gradient has; None where the usual one is not known."""
        last = self.memory["norms"].setdefault(layer, [])
        usual = median(last) if len(last) >= (SETTLED if layer == "" else 3) else 0.0
        if usual and (norm < NO_NORM * usual or norm > HIGH_NORM * usual):
            return norm / usual  # what is unusual does not become usual
        last.append(norm)
        del last[: -(WINDOW if layer == "" else NORMS)]
        return norm / usual if usual else None
