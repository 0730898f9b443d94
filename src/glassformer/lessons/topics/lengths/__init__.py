"""BLEU by the length of the source: measured once by benchmarks/lengths.py, shown here with date and method.

In:   lengths.json beside this file; without it the page says that nothing was measured yet.
Out:  a curve for each network. Nothing is computed here: translating hundreds of sentences takes minutes.
"""

import json
from pathlib import Path
from typing import Any

from glassformer.lessons.figures import chain, round_number, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Lines, Table
from glassformer.messages import Message, message

FILE = Path(__file__).with_name("lengths.json")


def compute(inputs: Inputs) -> Result:
    """Show what was measured."""
    if not FILE.is_file():
        return Result(message("lessons.lengths.not_measured"), ())
    measured: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    wanted = inputs.text("show")
    networks = [each for each in measured["networks"] if wanted in ("all", each["family"])]
    buckets = measured["buckets"]
    names = [
        message(f"lessons.lengths.network.{each['model'].replace('-', '_')}", default=each["model"])
        for each in networks
    ]
    known = any(each["model"] == "recurrent-fixed" for each in measured["networks"])
    fixed = message("lessons.lengths.fixed_measured" if known else "lessons.lengths.fixed_missing")
    lines = Lines(
        id="bleu",
        title=message("lessons.lengths.bleu_by_length"),
        note=message("lessons.lengths.method", sentences=measured["sentences"], fixed=fixed),
        x=tuple((bucket["shortest"] + bucket["longest"]) / 2 for bucket in buckets),
        x_title=message("lessons.lengths.source_words"),
        y_title=message("lessons.lengths.bleu"),
        series=tuple(series(name, each["bleu"]) for name, each in zip(names, networks, strict=True)),
    )
    table = Table(
        id="table",
        title=message("lessons.lengths.same_numbers"),
        columns=(message("lessons.lengths.words"), message("lessons.lengths.sentences"), *names),
        rows=tuple(
            (
                _name(bucket),
                float(bucket["sentences"]),
                *(round_number(each["bleu"][place]) for each in networks),
            )
            for place, bucket in enumerate(buckets)
        ),
    )
    falls = [
        message("lessons.lengths.fall", network=name, first=each["bleu"][0], last=each["bleu"][-1])
        for name, each in zip(names, networks, strict=True)
    ]
    found = message(
        "lessons.lengths.found", date=measured["date"], falls=chain("lessons.lengths.falls", falls)
    )
    return Result(found, (lines, table))


def _name(bucket: dict[str, Any]) -> Message | str:
    ends = f"{bucket['shortest']}–{bucket['longest']}"
    return message("lessons.lengths.joined", ends=ends) if bucket["joined"] else ends
