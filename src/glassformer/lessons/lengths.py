"""BLEU by the length of the source: measured once by benchmarks/lengths.py, shown here with date and method.

In:   lengths.json beside this file; without it the page says that nobody has measured yet.
Out:  a curve for each network. Nothing is computed here: translating hundreds of sentences takes minutes.
"""

import json
from pathlib import Path
from typing import Any

from glassformer.lessons.outcome import Models, Outcome, Words, plain, say, series
from glassformer.lessons.schema import Lines, Table
from glassformer.schema import Phrase

FILE = Path(__file__).with_name("lengths.json")


def play(words: Words, models: Models) -> Outcome:  # noqa: ARG001
    """Show what was measured."""
    if not FILE.is_file():
        return Outcome(
            say(
                "This has not been measured yet with the models that ship.",
                "随包发布的模型还没有做过这项测量。",
            ),
            (),
        )
    measured: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    wanted = words.text("show")
    networks = [each for each in measured["networks"] if wanted in ("all", each["family"])]
    buckets = measured["buckets"]
    method = say(measured["method"]["en"], measured["method"]["zh"])
    lines = Lines(
        id="bleu",
        title=say("BLEU by the length of the source sentence", "BLEU 随源句长度的变化"),
        note=method,
        x=tuple((bucket["shortest"] + bucket["longest"]) / 2 for bucket in buckets),
        x_title=say("words of the source", "源句词数"),
        y_title=say("BLEU", "BLEU"),
        series=tuple(series(each["name"]["en"], each["name"]["zh"], each["bleu"]) for each in networks),
    )
    table = Table(
        id="table",
        title=say("The same as numbers", "同样的数字"),
        columns=(
            say("words", "词数"),
            say("sentences", "句子数"),
            *(say(**each["name"]) for each in networks),
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
    found = say(
        f"From the shortest to the longest sentences, measured {measured['date']}: {english}.",
        f"从最短到最长的句子（{measured['date']} 实测）：{chinese}。",
    )
    return Outcome(found, (lines, table))


def _name(bucket: dict[str, Any]) -> Phrase:
    ends = f"{bucket['shortest']}–{bucket['longest']}"
    return say(f"{ends}, joined", f"{ends}（拼接）") if bucket["joined"] else say(ends, ends)
