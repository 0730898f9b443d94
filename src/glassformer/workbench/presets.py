"""Texts worth looking at: the examples by which attention is usually explained, each with what to look at.

In:   presets.toml, the models that are there, and the recordings that ship.
Out:  `Preset`s. One whose model is missing is left out, unless a recording shows it.
"""

import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from glassformer.api.jobs import Preset
from glassformer.api.library import SHIPPED
from glassformer.messages import Message, message

FILE = Path(__file__).with_name("presets.toml")


@cache
def read_presets() -> tuple[Preset, ...]:
    """All of them."""
    presets = tomllib.loads(FILE.read_text(encoding="utf-8"))["preset"]
    return tuple(
        Preset(**preset, title=_find_text(preset["id"], "title"), point=_find_text(preset["id"], "point"))
        for preset in presets
    )


def _find_text(id: str, name: str) -> Message:
    return message(f"workbench.preset.{id.replace('-', '_')}.{name}")


def list_presets(models: Collection[str], shipped: Path = SHIPPED) -> list[Preset]:
    """Those that can be run or shown here; which recording shows one is for the library to say."""
    shown = find_shown(shipped)
    return [preset for preset in read_presets() if preset.model in models or preset.id in shown]


def find_shown(folder: Path) -> set[str]:
    """Presets that a shipped recording shows: its card names one."""
    cards = (tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml")))
    return {card["preset"] for card in cards if "preset" in card}
