"""Recordings that ship: presets run once with the zoo, so that the page is never empty and needs no torch.

In:   `python -m glassformer.workbench.gallery [FOLDER] [--zoo FOLDER]`; presets.toml, and PIECES below.
Out:  for each piece a bundle and a card (title, note, preset, selection) beside it, numbered as listed; and
      what the notes of all presets say, measured on their recordings, in measured.json. Where a note is no
      longer true, it says what the recording shows, and ends with an error.

Run it again when a model of the zoo, a preset or a note has changed:

    python -m glassformer.workbench.gallery              # records, then measures
    python -m glassformer.workbench.gallery --measure    # only measures what is there
"""

import argparse
import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from glassformer import bundle
from glassformer.api.cards import read_card
from glassformer.api.jobs import JobRequest, Preset, Want
from glassformer.api.library import SHIPPED
from glassformer.recording import AttentionMap, Recording, Step
from glassformer.settings import write_toml_value
from glassformer.walk import Arrays
from glassformer.weights.hub import ZOO
from glassformer.workbench.measuring import NOTES, Untrue
from glassformer.workbench.models import ModelCatalog
from glassformer.workbench.presets import MEASURED, name_text, read_presets
from glassformer.workbench.reporter import JobReporter
from glassformer.workbench.requests import check_request, describe_job
from glassformer.workbench.runner import Runner
from glassformer.workbench.settings import WorkbenchSettings

LARGEST = 3_500_000  # bytes of all together
LOOK: tuple[Want, ...] = ("weights", "output", "hidden")
ALL: tuple[Want, ...] = (*LOOK, "queries", "keys", "values", "scores")
FOLLOWED = re.compile(  # of a trace: the first layers; what else a walk shows there follows from these
    r"\w+/embedding/(tokens|positions)|\w+/0/(self|cross)/(queries|keys|values|output|norm)"
    r"|\w+/0/feed_forward/(inner|output)"
)
ALTERNATIVES, NODE_ALTERNATIVES = 8, 3  # words kept for each step, and for each hypothesis of a beam search


@dataclass(frozen=True, slots=True)
class Piece:
    """A preset that ships as a recording, and how much of it is kept."""

    preset: str
    want: tuple[Want, ...] = LOOK


PIECES = (  # the first is what a person sees first
    Piece("red-car", (*ALL, "trace")),  # its walk opens at once, through the first layer of both stacks
    Piece("animal-street"),
    Piece("fox"),
    Piece("i-love-you"),
    Piece("etudiant"),
    Piece("film"),
    Piece("animal-mask"),
    Piece("recurrent"),
)


def main() -> None:
    """Record every piece whose model is there."""
    parser = argparse.ArgumentParser(prog="glassformer.workbench.gallery")
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=SHIPPED,
        help="where bundles and cards go; old ones are removed",
    )
    parser.add_argument("--zoo", type=Path, default=ZOO, help="where the models are")
    parser.add_argument("--measure", action="store_true", help="keep the recordings, and measure their notes")
    arguments = parser.parse_args()
    if not arguments.measure:
        make_gallery(arguments.folder, arguments.zoo, PIECES)
    total = sum(path.stat().st_size for path in arguments.folder.glob("*.bundle"))
    sys.stdout.write(f"{total:,} bytes of {LARGEST:,}\n")
    with TemporaryDirectory() as spare:
        measured, problems = measure_notes(
            lambda preset: find_recording(preset, arguments.folder, Path(spare), arguments.zoo)
        )
    MEASURED.write_text(json.dumps(measured, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    read_presets.cache_clear()
    for preset in read_presets():
        for path in arguments.folder.glob(f"[0-9][0-9]-{preset.id}.toml"):
            path.write_text(write_card(preset, read_card(path).id), encoding="utf-8")
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    sys.exit(total > LARGEST or bool(problems))


def measure_notes(record: Callable[[str], Recording]) -> tuple[dict[str, Any], list[str]]:
    """What the notes say and where they open, by preset; and what is wrong with those that are not true."""
    measured, problems = {}, []
    for id, measure in NOTES.items():
        try:
            found = measure(record(id), record)
        except Untrue as problem:
            problems.append(f"{id}: the note is not true: {problem} Change it, or what it measures.")
            continue
        also = [{"title": title.to_json(), "selection": dict(place)} for title, place in found.also]
        point = name_text(id, "point", **found.parameters).to_json()
        measured[id] = {"point": point, "selection": dict(found.selection), "also": also}
    return measured, problems


def find_recording(preset: str, folder: Path, spare: Path, zoo: Path = ZOO) -> Recording:
    """The recording of a preset: one that ships, or else the preset run now, once."""
    found = [*folder.glob(f"[0-9][0-9]-{preset}.bundle"), *spare.glob(f"{preset}/*.bundle")]
    if not found:
        make_gallery(spare / preset, zoo, [Piece(preset)])
        found = list(spare.glob(f"{preset}/*.bundle"))
    return bundle.open(found[0])


def make_gallery(folder: Path, zoo: Path, pieces: Sequence[Piece]) -> int:
    """Write all recordings; how many bytes they take together."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = {card.preset: card.id for path in folder.glob("*.bundle") if (card := read_card(path)).preset}
    for old in (*folder.glob("*.bundle"), *folder.glob("*.toml")):
        old.unlink()
    catalog, runner = ModelCatalog(zoo, (), offline=True), Runner(1 << 32)
    presets = {preset.id: preset for preset in read_presets()}
    there = {model.name for model in catalog.models()}
    number = total = 0
    for piece in pieces:
        preset = presets[piece.preset]
        if preset.model not in there:
            sys.stdout.write(f"{piece.preset}: {preset.model} is not there\n")
            continue
        number += 1
        path = folder.resolve() / f"{number:02d}-{piece.preset}.bundle"
        _record(piece, preset, catalog, runner, path)
        path.with_suffix(".toml").write_text(write_card(preset, ids.get(preset.id)), encoding="utf-8")
        total += path.stat().st_size
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    return total


def _record(piece: Piece, preset: Preset, catalog: ModelCatalog, runner: Runner, path: Path) -> None:
    """The same recording as running the preset in the page gives."""
    fields: dict[str, Any] = preset.model_dump(include=set(JobRequest.model_fields), exclude_none=True)
    request = JobRequest(kind="record", **fields, want=piece.want)
    model, settings = catalog.find(preset.model), WorkbenchSettings()
    check_request(request, model, settings)
    task = describe_job(request, model, settings, path)
    runner.run(task, JobReporter("gallery", io.BytesIO(), set()))
    bundle.save(slim(bundle.open(path)), path)


def slim(recording: Recording) -> Recording:
    """The same, smaller: nothing twice, of a trace the first layers, of alternatives the likeliest only."""
    maps, generation = tuple(map(share_arrays, recording.maps)), recording.generation
    if generation is not None:
        steps = tuple(keep_likeliest(step, ALTERNATIVES) for step in generation.steps)
        nodes = tuple(keep_likeliest(node, NODE_ALTERNATIVES) for node in generation.nodes)
        generation = replace(generation, steps=steps, nodes=nodes)
    bare = replace(recording, maps=maps, generation=generation, trace={})
    held = Arrays(bare)
    trace = {
        name: array
        for name, array in recording.trace.items()
        if FOLLOWED.fullmatch(name) and held.find(name) is None
    }
    return replace(bare, trace=trace)


def keep_likeliest(step: Step, count: int) -> Step:
    """A step with so many of its alternatives; numbers with as many digits as single precision has."""
    others = tuple(
        replace(each, log_probability=shorten(each.log_probability)) for each in step.alternatives[:count]
    )
    score = None if step.score is None else shorten(step.score)
    return replace(step, log_probability=shorten(step.log_probability), alternatives=others, score=score)


def shorten(number: float) -> float:
    """The same number in single precision, which is what the network computes in."""
    return float(str(np.float32(number)))


def share_arrays(map: AttentionMap) -> AttentionMap:
    """The thumbnail of a short text is its weights, pixel by pixel: what is the same is written once."""
    statistics, weights = map.statistics, map.dense
    same: dict[str, Any] = {
        name: weights
        for name in ("thumbnail_mean", "thumbnail_max")
        if weights is not None and np.array_equal(getattr(statistics, name), weights)
    }
    return replace(map, statistics=replace(statistics, **same))


def write_card(preset: Preset, id: str | None = None) -> str:
    """Title, note, preset and where to open it, as TOML; with its id, links to a recording made anew stay."""
    parts: dict[str, Any] = {} if id is None else {"id": id}
    parts |= {"preset": preset.id, "title": preset.title.to_json(), "note": preset.point.to_json()}
    return "".join(
        f"{name} = {write_toml_value(value)}\n"
        for name, value in (parts | {"selection": preset.selection or {}}).items()
    )


if __name__ == "__main__":
    main()
