"""Verbs that measure: scores of a recording, and what can be measured at all.

In:   a bundle, or a model and a text; names of metrics. Or a model and gold data (see gold.py).
Out:  tables for people; JSON or CSV for programs. A bundle is scored without torch.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.gold import add_gold, run_gold
from glassformer.cli.verb import (
    MODEL,
    Arguments,
    Parser,
    count_columns,
    read_assignments,
    require_model,
    require_text,
)
from glassformer.errors import InputError

if TYPE_CHECKING:
    from glassformer.metrics import Score
    from glassformer.recording import Recording


def add_score(parser: Parser) -> None:
    """The words of `score`."""
    parser.add_argument("source", metavar="FILE.bundle | MODEL", help=f"a recording, or {MODEL}")
    parser.add_argument(
        "words", metavar="WORD", nargs="*", help="for a MODEL first the TEXT; then names of metrics"
    )
    parser.add_argument(
        "--over", choices=("head", "layer", "model"), help="how far to average (one metric: head; else model)"
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the metrics, as threshold=0.02",
    )
    parser.add_argument(
        "--against", metavar="OTHER.bundle", type=Path, help="subtract the scores of this recording"
    )
    parser.add_argument("--device", help="where a MODEL runs, as cpu or cuda (cpu)")
    add_gold(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="all values for programs")
    form.add_argument("--csv", action="store_true", help="all values, one a line")


def run_score(arguments: Arguments) -> None:
    """Measure a recording; without names, the interpretability panel."""
    from glassformer import bundle
    from glassformer.metrics import METRICS, PANEL
    from glassformer.render.summary import summarise_score, to_csv, to_json
    from glassformer.render.terminal.tables import draw_scores

    if arguments.links or arguments.trees:
        run_gold(arguments)
        return
    words = list(arguments.words)
    text = None if _is_bundle(arguments.source) else _take_text(arguments.source, words)
    names = tuple(words) or PANEL
    _refuse_gold(names)
    parameters = _share(read_assignments(arguments.set), names)
    other = None if arguments.against is None else bundle.open(arguments.against)
    recording = bundle.open(arguments.source) if text is None else _record(arguments, text)
    over = arguments.over or ("head" if len(names) == 1 else "model")
    scores = []
    for name in names:
        fixed = METRICS[name].rule == "none"  # it has one level only
        if fixed and arguments.over is not None and arguments.over != METRICS[name].over:
            raise InputError(f"{name} is over {METRICS[name].over} and nothing else; leave --over out.")
        scores.append(_measure(recording, other, name, None if fixed else over, parameters[name]))
    if arguments.json:
        print(to_json([summarise_score(each) for each in scores]))
    else:
        print(to_csv(scores) if arguments.csv else draw_scores(scores, columns=count_columns()))


def add_metrics(parser: Parser) -> None:
    """The words of `metrics`."""
    parser.add_argument("names", metavar="METRIC", nargs="*", help="only these")


def run_metrics(arguments: Arguments) -> None:
    """List what can be measured."""
    from glassformer.metrics import METRICS, PANEL
    from glassformer.render.terminal.tables import draw_metrics

    every = dict.fromkeys((*PANEL, *METRICS))  # the panel first
    chosen = [METRICS[name] for name in arguments.names or every]
    print(draw_metrics(chosen, columns=count_columns()))


def _is_bundle(source: str) -> bool:
    return source.endswith(".bundle") or Path(source).is_file()


def _take_text(model: str, words: list[str]) -> str:
    require_model(model)
    if not words:
        raise InputError(f"{model} is no bundle, so it is taken as a model; give a TEXT behind it.")
    return require_text(words.pop(0))


def _record(arguments: Arguments, text: str) -> "Recording":
    from glassformer.recorders.record import record

    return record(arguments.source, text, device=arguments.device)


def _refuse_gold(names: tuple[str, ...]) -> None:
    """Metrics that compare with what people marked are not had from one text."""
    from glassformer.metrics import METRICS

    for name in names:
        if any(each.required for each in METRICS[name].parameters):
            option = (
                "--trees TREES.conllu" if name.startswith("dependency") else "--links LINKS SOURCE TARGET"
            )
            raise InputError(
                f"{name} compares heads with what people marked; give a MODEL and {option}, without names."
            )


def _share(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Each metric's part of the parameters; one that none of them has is an error."""
    from glassformer.metrics import METRICS
    from glassformer.registry import suggest

    declared = {name: {each.name for each in METRICS[name].parameters} for name in names}
    known = set().union(*declared.values())
    for word in given:
        if word not in known:
            hint = suggest(word, known) if known else " They have none."
            raise InputError(f"No metric here has a parameter called {word!r}.{hint}")
    return {name: {word: value for word, value in given.items() if word in declared[name]} for name in names}


def _measure(
    recording: "Recording", other: "Recording | None", name: str, over: Any, parameters: dict[str, Any]
) -> "Score":
    from glassformer.metrics import difference, score

    if other is None:
        return score(recording, name, over=over, **parameters)
    return difference(recording, other, name, over=over, **parameters)
