"""Texts worth looking at: the examples by which attention is usually explained, each with what to look at.

In:   presets.toml, the models that are there, and the recordings that ship.
Out:  `Preset`s. One whose model is missing is left out, unless a recording shows it.
"""

import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from glassformer.show.library import SHIPPED
from glassformer.show.workbench import Preset

FILE = Path(__file__).with_name("presets.toml")


@cache
def read_presets() -> tuple[Preset, ...]:
    """All of them."""
    words = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(Preset(**preset) for preset in words["preset"])


def list_presets(models: Collection[str], shipped: Path = SHIPPED) -> list[Preset]:
    """Those that can be run or shown here."""
    recordings = find_recordings(shipped)
    return [
        preset.model_copy(update={"recording": recordings.get(preset.id)})
        for preset in read_presets()
        if preset.model in models or preset.id in recordings
    ]


def find_recordings(folder: Path) -> dict[str, str]:
    """Ids of the recordings that show a preset, by the preset's id: their cards say both."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        card = tomllib.loads(path.read_text(encoding="utf-8"))
        if "preset" in card and "id" in card:
            found[card["preset"]] = card["id"]
    return found
