"""TensorBoard: scalars, every head as a scalar and as an image for each statistic, events as text.

In:   what happens in a run.
Out:  event files in the folder `tensorboard` of the run. `tensorboard --logdir runs` shows all runs.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from glassformer.place import Place
from glassformer.runlog import Event
from glassformer.training.callbacks.callback import CALLBACKS, Callback, HeadMaps, Rows, RunStart

SQUARE = 8  # pixels of one head
SHARES = ("entropy_share", "peak", "sink", "induction")  # statistics between 0 and 1


@CALLBACKS.register("tensorboard")
class TensorBoard(Callback):
    """Writes event files."""

    def __init__(self) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._open = SummaryWriter

    def on_start(self, run: RunStart) -> None:
        # What an interrupted run wrote after its checkpoint is hidden.
        self.board = self._open(
            str(run.folder / "tensorboard"), purge_step=run.step + 1 if run.step else None
        )
        lines = "\n".join(f"    {name} = {value}" for name, value in run.settings.items())
        self.board.add_text("recipe", lines, run.step)

    def on_steps(self, rows: Rows) -> None:
        for step, numbers in rows:
            for name, value in numbers.items():
                if name != "time":
                    self.board.add_scalar(name, value, step, walltime=numbers.get("time"))

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        for place, statistics in maps.items():
            for name, values in statistics.items():
                for head, value in enumerate(values):
                    self.board.add_scalar(f"{name}/{place.address}.{head}", value, step)
        for name in next(iter(maps.values()), {}):
            for kind, rows in _group(maps, name).items():
                self.board.add_image(f"{name}/{kind}", draw(rows, whole=name in SHARES), step)

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        for name, score in scores.items():
            self.board.add_scalar(f"{split}_{name}", score, step)
        self.board.flush()

    def on_event(self, event: Event) -> None:
        self.board.add_text("alarms" if event.alarm is not None else "events", event.message, event.step)

    def on_end(self) -> None:
        self.board.close()


def _group(maps: HeadMaps, name: str) -> dict[str, list[Sequence[float]]]:
    """One statistic of the layers of each stack and kind, "decoder.self", in order."""
    groups: dict[str, list[Sequence[float]]] = {}
    for place in sorted(maps, key=_order):
        groups.setdefault(f"{place.stack}.{place.kind}", []).append(maps[place][name])
    return groups


def _order(place: Place) -> tuple[str, str, int]:
    return place.stack, place.kind, place.layer


def draw(rows: Sequence[Sequence[float]], *, whole: bool) -> NDArray[np.uint8]:
    """(channel, y, x) A square for each head, layers from above; brighter is more, red is not defined.

    `whole`: white is 1, as for shares; otherwise it is the largest value.
    """
    grid = np.full((len(rows), max(map(len, rows))), np.nan)
    for layer, values in enumerate(rows):
        grid[layer, : len(values)] = values
    known = np.isfinite(grid)
    low, high = (0.0, 1.0) if whole else (grid[known].min(initial=0), grid[known].max(initial=0))
    grey = np.zeros(grid.shape)
    grey[known] = np.clip((grid[known] - low) / (high - low or 1.0), 0, 1)
    channels = [np.where(known, grey, red) for red in (1.0, 0.0, 0.0)]
    pixels = np.round(255 * np.stack(channels)).astype(np.uint8)
    return pixels.repeat(SQUARE, axis=1).repeat(SQUARE, axis=2)
