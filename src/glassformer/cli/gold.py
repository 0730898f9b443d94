"""`score` against what people annotated: links between the words of two languages, and dependency trees.

In:   the name of a model, and files of gold links or trees.
Out:  tables for people; JSON or CSV for programs. Each sentence is recorded, scored and forgotten.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.verb import (
    Arguments,
    Parser,
    add_language,
    count_columns,
    read_assignments,
    with_progress,
)
from glassformer.errors import InputError

if TYPE_CHECKING:
    from glassformer.metrics import Score
    from glassformer.metrics.dependencies import RelationRow
    from glassformer.metrics.gold import AlignedPair, Sentence
    from glassformer.recording import Recording

RATES = ("alignment_error", "alignment_precision", "alignment_recall")
LONGEST = 25  # words of a sentence, where nothing is said
SHOWN = 20  # relations in a table for people


def add_gold(parser: Parser) -> None:
    """The words of `score` that name gold data."""
    parser.add_argument(
        "--links",
        metavar=("LINKS", "SOURCE", "TARGET"),
        nargs=3,
        type=Path,
        help="word alignment of a translator, against links and the sentences that they join",
    )
    parser.add_argument(
        "--reverse", action="store_true", help="the MODEL translates from TARGET to SOURCE of --links"
    )
    add_language(parser)
    parser.add_argument(
        "--trees", metavar="FILE.conllu", type=Path, help="dependency relations, against trees (.gz, too)"
    )
    parser.add_argument(
        "--longest", type=int, metavar="N", help=f"leave out longer gold sentences, in words ({LONGEST})"
    )
    parser.add_argument("--most", type=int, metavar="N", help="the first so many gold sentences only")


def run_gold(arguments: Arguments) -> None:
    """Score a model against links or trees."""
    if arguments.links and arguments.trees:
        raise InputError("There are links and trees; give one of --links and --trees.")
    if arguments.words or arguments.against or arguments.over:
        raise InputError("Gold data bring their sentences and metrics; leave texts, names and --over out.")
    for name in ("longest", "most"):
        number = getattr(arguments, name)
        if number is not None and number < 1:
            raise InputError(f"--{name} {number} leaves no sentence; it must be at least 1.")
    (_run_links if arguments.links else _run_trees)(arguments)


# Word alignment


def _run_links(arguments: Arguments) -> None:
    from glassformer.metrics.gold import read_alignments
    from glassformer.render.summary import summarise_score, to_csv, to_json
    from glassformer.render.terminal.tables import draw_scores

    given = read_alignments(*arguments.links)
    pairs = [pair.swapped() if arguments.reverse else pair for pair in given]
    longest = arguments.longest or LONGEST
    chosen = [pair for pair in pairs if pair.sure and max(len(pair.source), len(pair.target)) <= longest]
    chosen = chosen[: arguments.most]
    if not chosen:
        raise InputError(f"No pair of {len(pairs)} has sure links and at most {longest} words on both sides.")
    scores, diagonal = _align(arguments, chosen)
    place, head = _find_best(scores[0])
    best = dict(
        zip(
            RATES,
            (
                float(score.part(place.stack, place.layer, place.kind, place.step).values[head])
                for score in scores
            ),
            strict=True,
        )
    )
    if arguments.csv:
        print(to_csv(scores))
    elif arguments.json:
        found = {"place": place._asdict(), "head": head, **best}
        summary = {"pairs": len(chosen), "longest": longest, "best": found, "diagonal": diagonal}
        print(to_json(summary | {"scores": [summarise_score(score) for score in scores]}))
    else:
        print(draw_scores(scores[:1], columns=count_columns()))
        print(f"\n{'':28}{'error':>9}{'precision':>11}{'recall':>8}")
        for name, rates in ((f"best: layer {place.layer}, head {head}", best), ("the diagonal", diagonal)):
            error, precision, recall = rates.values()
            print(f"{name:28}{error:9.3f}{precision:11.3f}{recall:8.3f}")
        print(
            f"\n{len(chosen)} pairs of at most {longest} words, of {len(pairs)}. The best head is chosen on"
        )
        print("the pairs that it is scored on.")


def _align(arguments: Arguments, pairs: list["AlignedPair"]) -> tuple[list["Score"], dict[str, float]]:
    """The three rates of every head of cross-attention, and those of a diagonal."""
    from glassformer.metrics import pool, score

    parameters = _read_parameters(arguments, ("reading",))
    record = _open(arguments)
    found: dict[str, list[Score]] = {name: [] for name in RATES}
    straight: dict[str, list[Score]] = {name: [] for name in RATES}
    for pair in with_progress(pairs, "pairs"):
        recording = record(" ".join(pair.source), " ".join(pair.target))
        for name in RATES:
            found[name].append(_of_cross(score(recording, name, gold=pair, **parameters)))
            straight[name].append(_of_cross(score(recording, name, gold=pair, by="diagonal")))
    diagonal = {name: pool(scores).roll_up("model").value for name, scores in straight.items()}
    return [pool(found[name]) for name in RATES], diagonal


def _of_cross(score: "Score") -> "Score":
    """What is not of cross-attention is never aligned."""
    parts = tuple(part for part in score.parts if part.place is not None and part.place.kind == "cross")
    if not parts:
        raise InputError("The model has no cross-attention, which links two texts; give a translator.")
    return replace(score, parts=parts)


def _find_best(score: "Score") -> tuple[Any, int]:
    """The place and the head of the lowest error."""
    import numpy as np

    part = min(score.parts, key=lambda each: float(np.nanmin(each.values)))
    return part.place, int(np.nanargmin(part.values))


# Dependencies


def _run_trees(arguments: Arguments) -> None:
    from glassformer.metrics.dependencies import table_relations
    from glassformer.metrics.gold import read_conllu
    from glassformer.render.summary import to_json

    parameters = {"direction": "head", **_read_parameters(arguments, ("direction",))}
    if parameters["direction"] not in ("head", "dependent"):
        raise InputError(f"direction={parameters['direction']} is neither head nor dependent.")
    longest = arguments.longest or LONGEST
    fitting = (each for each in read_conllu(arguments.trees) if 1 < len(each.words) <= longest)
    sentences = list(islice(fitting, arguments.most))
    if not sentences:
        raise InputError(f"{arguments.trees} has no sentence of 2 to {longest} words.")
    rows = table_relations(_record_trees(arguments, sentences), parameters["direction"])
    if arguments.json:
        table = [asdict(row) | {"place": row.place._asdict()} for row in rows]
        print(to_json({"sentences": len(sentences), "longest": longest, **parameters, "relations": table}))
    elif arguments.csv:
        print(_write_relations(rows))
    else:
        print(_draw_relations(rows))
        print(f"\n{len(sentences)} sentences of at most {longest} words. Heads and offsets are the best on")
        print("the sentences that they are scored on.")


def _record_trees(
    arguments: Arguments, sentences: list["Sentence"]
) -> Iterator[tuple["Recording", "Sentence"]]:
    record = _open(arguments)
    for sentence in with_progress(sentences, "sentences"):
        yield record(" ".join(sentence.forms), None), sentence


def _draw_relations(rows: Iterable["RelationRow"]) -> str:
    shown = [row for row in rows if row.relation == "all" or ":" not in row.relation][:SHOWN]
    lines = [
        f"{'relation':12}{'words':>7}  {'best head':28}{'accuracy':>9}{'best offset':>13}{'accuracy':>10}"
    ]
    for row in shown:
        head = f"{row.place.stack} layer {row.place.layer}, head {row.head}"
        offset = f"{row.offset:+d}"
        lines.append(
            f"{row.relation:12}{row.count:7d}  {head:28}{row.accuracy:9.3f}{offset:>13}{row.baseline:10.3f}"
        )
    return "\n".join(lines)


def _write_relations(rows: Iterable["RelationRow"]) -> str:
    text = io.StringIO()
    names = ("relation", "count", "stack", "layer", "head", "accuracy", "offset", "baseline")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        place = (row.place.stack, row.place.layer, row.head)
        writer.writerow((row.relation, row.count, *place, row.accuracy, row.offset, row.baseline))
    return text.getvalue().rstrip("\n")


# Both


def _open(arguments: Arguments) -> Any:
    """A function that records a text, with its translation if there is one."""
    from glassformer.recorders.record import load

    subject = load(arguments.source, device=arguments.device)

    def record(text: str, target: str | None) -> "Recording":
        try:
            return subject.record(text, target, target_language=arguments.target_language, want=("weights",))
        except InputError as error:
            raise InputError(f"{text[:60]!r}: {error}") from error

    return record


def _read_parameters(arguments: Arguments, known: tuple[str, ...]) -> dict[str, Any]:
    given = read_assignments(arguments.set)
    for name in given:
        if name not in known:
            raise InputError(f"Only {' and '.join(known)} can be set here, not {name!r}.")
    return given
