"""Rules over the statistics of heads: which of them are in trouble now?

In:   the statistics of every head, look after look; see head_statistics.py.
Out:  a `Symptom` for each cause, with all heads that have it.

A sharp head is no trouble by itself: one that looks at the previous word has hardly any entropy, and a
fine-tuned network begins with such heads. A head has collapsed if it became sharp suddenly, or if all of
its map are.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.place import Place
from glassformer.training.settings import MonitorSettings
from glassformer.training.step_rules import Symptom

LOOKS = 2  # looks in a row that must show what may be chance
SUDDEN = 0.4  # the share of entropy that a head had lately, before it collapsed
EVEN = 0.9995  # a share of entropy above this is an even look at everything
SHAPED = 0.9  # and one below this was a pattern
NO_SPREAD = 1e-5  # scores that differ by less than this are the same for every key
PATTERN = 0.9  # only heads below this share have a pattern to be alike in
LATE = 2000  # steps after which not every head of the network may still look evenly

HEAD_CAUSES = ("collapsed_heads", "uniform_heads", "dead_heads", "identical_heads", "exploding_scores")

Statistics = Mapping[Place, Mapping[str, Any]]  # by map and name: one number for each head
Numbers = Mapping[str, NDArray[np.float64]]


class HeadRules:
    """Looks for trouble in the statistics of heads."""

    def __init__(self, settings: MonitorSettings) -> None:
        self.settings = settings
        # by address, what heads had before: shares of entropy at the last look, their lowest, the first
        # contribution; seen: trouble → looks in a row that showed it
        self.memory: dict[str, Any] = {"last": {}, "lowest": {}, "usual": {}, "seen": {}}
        self._stuck = False  # all heads of the network look evenly, late

    def check(self, step: int, maps: Statistics) -> list[Symptom]:
        """Every cause that shows at this look."""
        found: dict[str, dict[Place, tuple[int, ...]]] = {}
        values: dict[str, list[float]] = {}
        seen: dict[str, int] = {}
        shares = np.concatenate(
            [np.asarray(each["entropy_share"]) for each in maps.values()] or [np.zeros(1)]
        )
        self._stuck = step >= LATE and bool((shares > EVEN).all())
        for place, statistics in maps.items():
            numbers = {name: np.asarray(each, dtype=np.float64) for name, each in statistics.items()}
            for cause, heads in self._find(place.address, numbers).items():
                confirmed = []
                for head, (value, looks) in heads.items():
                    key = f"{cause} {place.address} {head}"
                    seen[key] = self.memory["seen"].get(key, 0) + 1
                    if seen[key] >= looks:
                        confirmed.append(head)
                        values.setdefault(cause, []).append(value)
                if confirmed:
                    found.setdefault(cause, {})[place] = tuple(confirmed)
            self._remember(place.address, numbers)
        self.memory["seen"] = seen
        return [self._describe(cause, places, values[cause]) for cause, places in found.items()]

    def _describe(self, cause: str, places: dict[Place, tuple[int, ...]], values: list[float]) -> Symptom:
        worst = min(values) if cause in ("collapsed_heads", "dead_heads") else max(values)
        return Symptom(cause, worst, {"value": worst}, places)

    def _find(self, address: str, numbers: Numbers) -> dict[str, dict[int, tuple[float, int]]]:
        """By cause, the heads of a map that have it: its value, and how many looks must show it."""
        return {
            "collapsed_heads": self._collapsed(address, numbers),
            "uniform_heads": self._uniform(address, numbers),
            "dead_heads": self._dead(address, numbers),
            "identical_heads": self._identical(numbers),
            "exploding_scores": {
                head: (float(spread), 1)
                for head, spread in enumerate(numbers["spread"])
                if spread > self.settings.explode
            },
        }

    def _collapsed(self, address: str, numbers: Numbers) -> dict[int, tuple[float, int]]:
        shares = numbers["entropy_share"]
        sharp = shares < self.settings.collapse
        known = shares[~np.isnan(shares)]
        whole = len(known) > 1 and bool(known.mean() < self.settings.collapse)
        last = self.memory["last"].get(address, [])
        sudden = np.array([before > SUDDEN for before in last] or [False] * len(shares))
        if whole:
            return {int(head): (float(shares[head]), LOOKS) for head in np.flatnonzero(~np.isnan(shares))}
        return {int(head): (float(shares[head]), 1) for head in np.flatnonzero(sharp & sudden)}

    def _uniform(self, address: str, numbers: Numbers) -> dict[int, tuple[float, int]]:
        shares, spread = numbers["entropy_share"], numbers["spread"]
        lowest = np.array(self.memory["lowest"].get(address, [1.0] * len(shares)))
        even = shares > EVEN
        lost = even & (lowest < SHAPED)  # it had a pattern
        never = spread < NO_SPREAD
        looks = {True: 1, False: LOOKS}
        return {
            int(head): (float(shares[head]), looks[bool(lost[head])])
            for head in np.flatnonzero(lost | never | (even & self._stuck))
        }

    def _dead(self, address: str, numbers: Numbers) -> dict[int, tuple[float, int]]:
        added = numbers["contribution"]
        known = added[~np.isnan(added)]
        usual = max(
            float(np.median(known)) if len(known) > 1 else 0.0, self.memory["usual"].get(address, 0.0)
        )
        dead = added < self.settings.dead * usual
        return {int(head): (float(added[head] / usual), LOOKS) for head in np.flatnonzero(dead)}

    def _identical(self, numbers: Numbers) -> dict[int, tuple[float, int]]:
        shaped = numbers["entropy_share"] < PATTERN
        found = {}
        for head, (likeness, twin) in enumerate(zip(numbers["likeness"], numbers["twin"], strict=True)):
            if likeness > self.settings.identical and shaped[head] and shaped[int(twin)]:
                found[head] = (float(likeness), LOOKS)
        return found

    def _remember(self, address: str, numbers: Numbers) -> None:
        shares, added = numbers["entropy_share"], numbers["contribution"]
        lowest = self.memory["lowest"].get(address, [math.inf] * len(shares))
        self.memory["lowest"][address] = np.fmin(lowest, np.where(np.isnan(shares), np.inf, shares)).tolist()
        self.memory["last"][address] = np.nan_to_num(shares, nan=0.0).tolist()
        known = added[~np.isnan(added)]
        if len(known) and address not in self.memory["usual"]:
            self.memory["usual"][address] = float(np.median(known))  # before it learnt
