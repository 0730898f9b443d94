"""Texts worth looking at: the examples by which attention is usually explained, each with what to look at.

In:   presets.toml, and the names of the models that are there.
Out:  `Preset`s. One whose model is missing is left out.
"""

import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from glassformer.api.jobs import Preset
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


def list_presets(models: Collection[str]) -> list[Preset]:
    """Those whose model is there."""
    return [preset for preset in read_presets() if preset.model in models]
