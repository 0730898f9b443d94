"""What longer sentences do to three translators: BLEU by length, and a sentence of one's own that grows.

In:   an English sentence; lengths.json beside this file, measured once by benchmarks/lengths.py: translating
      hundreds of sentences takes minutes. Without it the page says that nothing was measured yet.
Out:  what each network here writes of longer and longer starts of the sentence; a curve of BLEU for each.
"""

import json
from pathlib import Path
from typing import Any

from glassformer.lessons.figures import chain, percent, round_number, series
from glassformer.lessons.models import Zoo
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Lines, Table
from glassformer.messages import Message, message
from glassformer.tasks.translation import translate

FILE = Path(__file__).with_name("lengths.json")
NETWORKS = {"recurrent-fixed": "recurrent", "recurrent": "recurrent", "translator": "transformer"}
STARTS = 4  # of the visitor's sentence, the whole of it included
MOST_NEW = 60  # tokens of a translation


def compute(inputs: Inputs) -> Result:
    """Translate the starts of the sentence now; show what was measured."""
    wanted = inputs.text("show")
    own = translate_starts(inputs.text("text"), inputs.models, wanted)
    if not FILE.is_file():
        return Result(message("lessons.lengths.not_measured"), own)
    measured: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    networks = [each for each in measured["networks"] if wanted in ("all", each["family"])]
    buckets = measured["buckets"]
    names = [_name_network(each["model"]) for each in networks]
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
        message("lessons.lengths.fall", network=name, first=first, last=last, lost=percent(1 - last / first))
        for name, each in zip(names, networks, strict=True)
        for first, last in [(each["bleu"][0], each["bleu"][-1])]
    ]
    found = message(
        "lessons.lengths.found", date=measured["date"], falls=chain("lessons.lengths.falls", falls)
    )
    return Result(found, (*own, lines, table))


def translate_starts(text: str, models: Zoo, wanted: str) -> tuple[Table, ...]:
    """What each available network writes in French for longer and longer starts; nothing without one."""
    words = text.split()
    counts = sorted({max(1, len(words) * part // STARTS) for part in range(1, STARTS + 1)})
    starts = [" ".join(words[:count]) for count in counts]
    names, written = [], []
    for name, family in NETWORKS.items():
        model = models.find_named(f"zoo/{name}") if wanted in ("all", family) else None
        if model is not None:
            language = "fr" if family == "transformer" else None  # the others know one direction only
            names.append(_name_network(name))
            decode = {"beams": 1, "max_new_tokens": MOST_NEW}
            answers = translate(model, starts, target_language=language, decode=decode, long="skip")
            written.append([answer or None for answer in answers])
    if not names:
        return ()
    return (
        Table(
            id="own",
            title=message("lessons.lengths.own"),
            note=message("lessons.lengths.own_note"),
            columns=(message("lessons.lengths.words"), message("lessons.lengths.start"), *names),
            rows=tuple(zip(map(float, counts), starts, *written, strict=True)),
        ),
    )


def _name_network(name: str) -> Message:
    return message(f"lessons.lengths.network.{name.replace('-', '_')}", default=name)


def _name(bucket: dict[str, Any]) -> Message | str:
    ends = f"{bucket['shortest']}–{bucket['longest']}"
    return message("lessons.lengths.joined", ends=ends) if bucket["joined"] else ends
