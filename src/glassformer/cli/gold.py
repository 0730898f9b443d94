"""`score` against annotations: links between the words of two languages, and dependency trees.

In:   the name of a model, and files of gold links or trees.
Out:  tables for people; JSON or CSV for programs. Recordings are scored one by one and not kept.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.inputs import add_language, read_assignments
from glassformer.cli.output import count_columns, has_colour, with_progress
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.place import name_term
from glassformer.render.terminal.text import wrap

if TYPE_CHECKING:
    from glassformer.metrics import Score
    from glassformer.metrics.dependencies import RelationRow
    from glassformer.metrics.gold import AlignedPair
    from glassformer.recording import Recording

RATES = ("alignment_error", "alignment_precision", "alignment_recall")
RELATIONS = ("relation", "count", "stack", "layer", "head", "accuracy", "offset", "baseline")  # of the CSV
LONGEST = 25  # words of a sentence, by default
SHOWN = 20  # relations in a table for people


def add_gold(parser: Parser) -> None:
    """Options of `score` that name gold data."""
    parser.add_argument("--links", metavar=("LINKS", "SOURCE", "TARGET"), nargs=3, type=Path)
    parser.add_argument("--reverse", action="store_true")
    add_language(parser)
    parser.add_argument("--trees", metavar="FILE.conllu", type=Path)
    parser.add_argument("--longest", type=int, metavar="N", default=LONGEST)
    parser.add_argument("--most", type=int, metavar="N")


def run_gold(arguments: Arguments) -> None:
    """Score a model against links or trees."""
    if arguments.links and arguments.trees:
        raise InputError("cli.gold.links_and_trees")
    if arguments.values or arguments.against or arguments.over:
        raise InputError("cli.gold.only_gold")
    for name in ("longest", "most"):
        number = getattr(arguments, name)
        if number is not None and number < 1:
            raise InputError("cli.gold.no_sentence_left", option=f"--{name}", number=number)
    (_run_links if arguments.links else _run_trees)(arguments)


# Word alignment


def _run_links(arguments: Arguments) -> None:
    from glassformer.metrics.gold import read_alignments
    from glassformer.render.summary import summarise_score, to_csv, to_json
    from glassformer.render.terminal.tables import draw_scores, draw_table

    given = read_alignments(*arguments.links)
    pairs = [pair.swapped() if arguments.reverse else pair for pair in given]
    longest = arguments.longest
    chosen = [pair for pair in pairs if pair.sure and max(len(pair.source), len(pair.target)) <= longest]
    chosen = chosen[: arguments.most]
    if not chosen:
        raise InputError("cli.gold.no_pair", count=len(pairs), longest=longest)
    scores, diagonal = _align(arguments, chosen)
    place, head = _find_best(scores[0])
    best = dict(zip(RATES, (float(score.part(place).values[head]) for score in scores), strict=True))
    if arguments.csv:
        print(to_csv(scores))
    elif arguments.json:
        found = {"place": place._asdict(), "head": head, **best}
        summary = {"pairs": len(chosen), "longest": longest, "best": found, "diagonal": diagonal}
        print(to_json(summary | {"scores": [summarise_score(score) for score in scores]}))
    else:
        columns, colour = count_columns(), has_colour()
        print(draw_scores(scores[:1], columns=columns, colour=colour), end="\n\n")
        names = ("cli.gold.error", "cli.gold.precision", "cli.gold.recall")
        rows = [("", *(str(message(name)) for name in names))]
        best_head = message("cli.gold.best_head", layer=place.layer, head=head)
        for label, rates in ((best_head, best), (message("cli.gold.diagonal"), diagonal)):
            rows.append((str(label), *(f"{rate:.3f}" for rate in rates.values())))
        print(draw_table(rows, right={1, 2, 3}, columns=columns, colour=colour))
        summary_text = message("cli.gold.pairs", count=len(chosen), longest=longest, total=len(pairs))
        print(f"\n{wrap(str(summary_text), columns)}")


def _align(arguments: Arguments, pairs: list["AlignedPair"]) -> tuple[list["Score"], dict[str, float]]:
    """The three rates of every head of cross-attention, and those of a diagonal."""
    from glassformer.metrics import pool, score

    parameters = _read_parameters(arguments, ("reading",))
    record = _open(arguments)
    found: dict[str, list[Score]] = {name: [] for name in RATES}
    diagonals: dict[str, list[Score]] = {name: [] for name in RATES}
    for pair in with_progress(pairs, message("cli.gold.counting_pairs"), len(pairs)):
        recording = record(" ".join(pair.source), " ".join(pair.target))
        for name in RATES:
            found[name].append(_of_cross(score(recording, name, gold=pair, **parameters)))
            diagonals[name].append(_of_cross(score(recording, name, gold=pair, by="diagonal")))
    diagonal = {name: pool(scores).roll_up("model").value for name, scores in diagonals.items()}
    return [pool(found[name]) for name in RATES], diagonal


def _of_cross(score: "Score") -> "Score":
    """Only cross-attention links two texts."""
    parts = tuple(part for part in score.parts if part.place is not None and part.place.kind == "cross")
    if not parts:
        raise InputError("cli.gold.no_cross_attention")
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
    from glassformer.render.summary import to_json, write_csv

    parameters = {"direction": "head", **_read_parameters(arguments, ("direction",))}
    if parameters["direction"] not in ("head", "dependent"):
        raise InputError("cli.gold.direction", direction=parameters["direction"])
    longest = arguments.longest
    fitting = (each for each in read_conllu(arguments.trees) if 1 < len(each.words) <= longest)
    sentences = list(islice(fitting, arguments.most))
    if not sentences:
        raise InputError("cli.gold.no_sentence", path=arguments.trees, longest=longest)
    record = _open(arguments)
    counted = with_progress(sentences, message("cli.gold.counting_sentences"), len(sentences))
    recorded = ((record(" ".join(each.forms), None), each) for each in counted)
    rows = table_relations(recorded, parameters["direction"])
    if arguments.json:
        table = [asdict(row) | {"place": row.place._asdict()} for row in rows]
        print(to_json({"sentences": len(sentences), "longest": longest, **parameters, "relations": table}))
    elif arguments.csv:
        print(write_csv(RELATIONS, (asdict(row) | row.place._asdict() for row in rows)))
    else:
        print(_draw_relations(rows))
        summary = message("cli.gold.sentences", count=len(sentences), longest=longest)
        print(f"\n{wrap(str(summary), count_columns())}")


def _draw_relations(rows: Iterable["RelationRow"]) -> str:
    from glassformer.render.terminal.tables import draw_table

    names = ("relation", "words", "best_head", "accuracy", "best_offset", "accuracy")
    table = [tuple(str(message(f"cli.gold.columns.{name}")) for name in names)]
    for row in [row for row in rows if row.relation == "all" or ":" not in row.relation][:SHOWN]:
        stack = name_term(row.place.stack)
        head = message("cli.gold.head", stack=stack, layer=row.place.layer, head=row.head)
        numbers = (f"{row.accuracy:.3f}", f"{row.offset:+d}", f"{row.baseline:.3f}")
        table.append((row.relation, str(row.count), str(head), *numbers))
    return draw_table(table, right={1, 3, 4, 5}, columns=count_columns(), colour=has_colour())


# Both


def _open(arguments: Arguments) -> "Callable[[str, str | None], Recording]":
    """A function that records a text, with its translation if there is one."""
    from glassformer.loaded.opening import load

    model = load(arguments.source, device=arguments.device)

    def record(text: str, target: str | None) -> "Recording":
        try:
            return model.record(text, target, target_language=arguments.target_language, want=("weights",))
        except InputError as error:
            raise InputError("cli.gold.of_text", text=text[:60], error=error.message) from error

    return record


def _read_parameters(arguments: Arguments, known: tuple[str, ...]) -> dict[str, Any]:
    given = read_assignments(arguments.set)
    for name in given:
        if name not in known:
            raise InputError("cli.gold.unknown_setting", known=known, name=name)
    return given
