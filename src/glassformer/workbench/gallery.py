"""Recordings that ship: presets run once with the zoo, so that the page is never empty and needs no torch.

In:   `python -m glassformer.workbench.gallery FOLDER [--zoo FOLDER]`; presets.toml, and PIECES below.
Out:  for each piece a bundle and a card (title, note, preset) beside it, numbered in the order to be listed.

Run it again when a model of the zoo or a preset has changed:

    python -m glassformer.workbench.gallery src/glassformer/show/recordings
"""

import argparse
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glassformer import bundle
from glassformer.recording import AttentionMap
from glassformer.show.workbench import DecodeRequest, JobRequest, Preset, Want
from glassformer.weights.hub import ZOO
from glassformer.workbench.models import Shelf
from glassformer.workbench.presets import read_presets
from glassformer.workbench.requests import check_request
from glassformer.workbench.running import Runner
from glassformer.workbench.settings import WorkbenchSettings
from glassformer.workbench.worker import Teller

LARGEST = 3_000_000  # bytes of all together
LOOK: tuple[Want, ...] = ("weights", "output", "hidden")
ALL: tuple[Want, ...] = (*LOOK, "queries", "keys", "values", "scores")


@dataclass(frozen=True, slots=True)
class Piece:
    """A preset that ships as a recording, and how much of it is kept."""

    preset: str
    want: tuple[Want, ...] = LOOK
    decode: DecodeRequest | None = None


PIECES = (
    Piece("white-cat", ALL),
    Piece("animal-street", ALL),
    Piece("fox", LOOK),
    Piece("tom-jerry", LOOK),
    Piece("etudiant", LOOK, DecodeRequest(method="beam", beams=3)),
    Piece("film", ALL),
    Piece("animal-mask"),
    Piece("i-love-you"),
    Piece("recurrent", ALL),
)


def main() -> None:
    """Record every piece whose model is there."""
    parser = argparse.ArgumentParser(prog="glassformer.workbench.gallery")
    parser.add_argument("folder", type=Path, help="where bundles and cards go; old ones are removed")
    parser.add_argument("--zoo", type=Path, default=ZOO, help="where the models are")
    arguments = parser.parse_args()
    total = make_gallery(arguments.folder, arguments.zoo, PIECES)
    sys.stdout.write(f"{total:,} bytes of {LARGEST:,}\n")
    sys.exit(total > LARGEST)


def make_gallery(folder: Path, zoo: Path, pieces: Sequence[Piece]) -> int:
    """Write all recordings; how many bytes they take together."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.bundle"), *folder.glob("*.toml")):
        old.unlink()
    shelf, runner = Shelf(zoo, (), offline=True), Runner(1 << 32)
    presets = {preset.id: preset for preset in read_presets()}
    there = {model.name for model in shelf.models()}
    number = total = 0
    for piece in pieces:
        preset = presets[piece.preset]
        if preset.model not in there:
            sys.stdout.write(f"{piece.preset}: {preset.model} is not there\n")
            continue
        number += 1
        path = folder.resolve() / f"{number:02d}-{piece.preset}.bundle"
        _record(piece, preset, shelf, runner, path)
        path.with_suffix(".toml").write_text(write_card(preset), encoding="utf-8")
        total += path.stat().st_size
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    return total


def _record(piece: Piece, preset: Preset, shelf: Shelf, runner: Runner, path: Path) -> None:
    """Exactly what a person gets who runs the preset."""
    words: dict[str, Any] = preset.model_dump(include=set(JobRequest.model_fields), exclude_none=True)
    request = JobRequest(kind="record", **words, want=piece.want, decode=piece.decode)
    model, settings = shelf.find(preset.model), WorkbenchSettings()
    check_request(request, model, settings)
    task = {
        "path": str(path),
        "name": model.name,
        "folder": str(model.folder),
        "tagged": model.tagged,
        "languages": [] if model.description is None else list(model.description.languages),
        "request": request.model_dump(),
        "tokens": settings.tokens,
        "new_tokens": settings.new_tokens,
    }
    runner.run(task, Teller("gallery", io.BytesIO(), set()))
    recording = bundle.open(path)
    bundle.save(replace(recording, maps=tuple(map(share_arrays, recording.maps))), path)


def share_arrays(map: AttentionMap) -> AttentionMap:
    """The thumbnail of a short text is its weights, pixel by pixel: what is the same is written once."""
    statistics, weights = map.statistics, map.dense
    same: dict[str, Any] = {
        name: weights
        for name in ("thumbnail_mean", "thumbnail_max")
        if weights is not None and np.array_equal(getattr(statistics, name), weights)
    }
    return replace(map, statistics=replace(statistics, **same))


def write_card(preset: Preset) -> str:
    """Title, note and preset, as TOML; JSON spells strings the same way."""
    rows = [f"preset = {json.dumps(preset.id)}"]
    for name, phrase in (("title", preset.title), ("note", preset.point)):
        rows += [f"{name}.en = {json.dumps(phrase.en, ensure_ascii=False)}"]
        rows += [f"{name}.zh = {json.dumps(phrase.zh, ensure_ascii=False)}"]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
