"""Texts worth looking at: the examples by which attention is usually explained, each with what to look at.

In:   presets.toml, what was measured of them (measured.json), and the names of the models that are there.
Out:  `Preset`s. One whose model is missing is left out.
"""

import json
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.api.jobs import Preset
from glassformer.messages import Message, message

FILE = Path(__file__).with_name("presets.toml")
MEASURED = Path(__file__).with_name("measured.json")  # written by workbench/gallery.py


@cache
def read_presets() -> tuple[Preset, ...]:
    """All of them."""
    presets = tomllib.loads(FILE.read_text(encoding="utf-8"))["preset"]
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    return tuple(_make_preset(preset, measured.get(preset["id"], {})) for preset in presets)


def _make_preset(fields: dict[str, Any], measured: dict[str, Any]) -> Preset:
    texts = {"title": name_text(fields["id"], "title"), "point": name_text(fields["id"], "point")}
    return Preset(**texts | fields | measured)


def name_text(id: str, name: str, **parameters: Any) -> Message:
    """A text of a preset."""
    return message(f"workbench.preset.{id.replace('-', '_')}.{name}", **parameters)


def list_presets(models: Collection[str]) -> list[Preset]:
    """Those whose model is there."""
    return [preset for preset in read_presets() if preset.model in models]
