"""What is measured of every head beside detectors: entropy, distance, weight on the first token.

In:   the maps of one text after the other.
Out:  one number for each text and head; the same, and the weight on the query itself, by the position of the
      query, over all texts.
"""

from collections.abc import Mapping

import numpy as np

from glassformer.atlases.schema import ByPosition
from glassformer.corpus.atlas.estimates import tidy
from glassformer.corpus.atlas.measuring import Layers, Where
from glassformer.metrics.scores import Numbers

MEASURES = ("entropy", "distance", "first_token")
BY_POSITION = (*MEASURES, "self_token")
FARTHEST = 16  # bins: as many powers of two


class Profile:
    """Measures of one stack and kind, text by text."""

    def __init__(self, heads: int) -> None:
        self.heads = heads
        self.values: dict[str, list[Numbers]] = {name: [] for name in MEASURES}
        self._sums = {name: np.zeros((heads, FARTHEST)) for name in BY_POSITION}
        self._counts = np.zeros(FARTHEST)
        self._known: set[str] = set()  # cross-attention has no distances

    def add(self, layers: Layers) -> None:
        """Rows that have no choice are left out."""
        statistics = [each.statistics for each in layers.maps]
        allowed = np.concatenate([each.allowed for each in statistics])  # (head, query)
        rows = (layers.view.visible.sum(axis=1) > 1) & statistics[0].rows
        if not rows.any():
            return
        most = np.log(np.maximum(allowed, 2))
        shares = np.concatenate([each.entropy for each in statistics]) / most
        found = {"entropy": np.clip(shares[:, rows], 0.0, 1.0)}  # (head, row)
        found["first_token"] = layers.weights[:, rows, 0].astype(np.float64)
        if layers.view.kind == "self":
            found["distance"] = np.concatenate([each.distance for each in statistics])[:, rows]
            found["self_token"] = np.diagonal(layers.weights, axis1=1, axis2=2)[:, rows].astype(np.float64)
        bins = np.minimum(np.frexp(np.flatnonzero(rows))[1], FARTHEST - 1)  # 0, 1, 2–3, 4–7 …
        np.add.at(self._counts, bins, 1)
        for name, numbers in found.items():
            np.add.at(self._sums[name].T, bins, numbers.T)
            self._known.add(name)
            if name in self.values:
                self.values[name].append(numbers.mean(axis=1, dtype=np.float64))

    def extend(self, other: "Profile") -> None:
        """Add the texts of another profile."""
        for name, numbers in other.values.items():
            self.values[name] += numbers
        for name, sums in other._sums.items():
            self._sums[name] += sums
        self._counts += other._counts
        self._known |= other._known

    def read_positions(self, head: int) -> ByPosition:
        """Means of a head in bins of positions: 0, 1, 2–3, 4–7 and so on."""
        last = int(np.flatnonzero(self._counts).max(initial=0)) + 1
        means = {
            name: tuple(
                tidy(total / count) if count else None
                for total, count in zip(self._sums[name][head, :last], self._counts[:last], strict=True)
            )
            for name in BY_POSITION
            if name in self._known or name == "entropy"
        }
        return ByPosition(edges=(0, *(2**power for power in range(last))), **means)


def profile_all(profiles: dict[Where, Profile], layers: Mapping[Where, Layers]) -> None:
    """Add one text to the profiles of all stacks and kinds."""
    for where, each in layers.items():
        profiles.setdefault(where, Profile(len(each.weights))).add(each)
