"""BLEU by the length of the source: measured once by benchmarks/lengths.py, shown here with date and method.

In:   lengths.json beside this file; without it the page says that nobody has measured yet.
Out:  a curve for each network. Nothing is computed here: translating hundreds of sentences takes minutes.
"""

import json
from pathlib import Path
from typing import Any

from glassformer.lessons.outcome import Models, Outcome, Words, bilingual, plain, say, series
from glassformer.lessons.schema import Lines, Table
from glassformer.schema import Phrase

FILE = Path(__file__).with_name("lengths.json")


def play(words: Words, models: Models) -> Outcome:  # noqa: ARG001
    """Show what was measured."""
    if not FILE.is_file():
        return Outcome(
            say("lessons.lengths.this_has_not_been"),
            (),
        )
    measured: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    wanted = words.text("show")
    networks = [each for each in measured["networks"] if wanted in ("all", each["family"])]
    buckets = measured["buckets"]
    method = bilingual(measured["method"]["en"], measured["method"]["zh"])
    lines = Lines(
        id="bleu",
        title=say("lessons.lengths.bleu_length_source_sentence"),
        note=method,
        x=tuple((bucket["shortest"] + bucket["longest"]) / 2 for bucket in buckets),
        x_title=say("lessons.lengths.words_source"),
        y_title=say("lessons.lengths.bleu"),
        series=tuple(
            series(bilingual(each["name"]["en"], each["name"]["zh"]), each["bleu"]) for each in networks
        ),
    )
    table = Table(
        id="table",
        title=say("lessons.lengths.same_numbers"),
        columns=(
            say("lessons.lengths.words"),
            say("lessons.lengths.sentences"),
            *(bilingual(**each["name"]) for each in networks),
        ),
        rows=tuple(
            (
                _name(bucket),
                float(bucket["sentences"]),
                *(plain(each["bleu"][place]) for each in networks),
            )
            for place, bucket in enumerate(buckets)
        ),
    )
    falls = [(each["name"], each["bleu"][0], each["bleu"][-1]) for each in networks]
    english = "; ".join(f"{name['en']}: {first:.0f} → {last:.0f}" for name, first, last in falls)
    chinese = "；".join(f"{name['zh']}：{first:.0f} → {last:.0f}" for name, first, last in falls)
    found = bilingual(
        f"From the shortest to the longest sentences, measured {measured['date']}: {english}.",
        f"从最短到最长的句子（{measured['date']} 实测）：{chinese}。",
    )
    return Outcome(found, (lines, table))


def _name(bucket: dict[str, Any]) -> Phrase:
    ends = f"{bucket['shortest']}–{bucket['longest']}"
    return say("lessons.lengths.joined", ends=ends) if bucket["joined"] else bilingual(ends, ends)
