"""`glassformer score`: metrics of a recording.

In:   a bundle, or a model and a text; names of metrics. Or a model and gold data (see cli/gold.py).
Out:  tables for people; JSON or CSV for programs. A bundle is scored without torch.
"""

from functools import partial
from pathlib import Path
from typing import Any

from glassformer.cli.gold import add_gold, run_gold
from glassformer.cli.inputs import read_assignments, require_model, require_text
from glassformer.cli.output import count_columns, has_colour
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.registry import suggestion

POSITION = 70
EXAMPLES = (
    "glassformer score tom.bundle",
    "glassformer score tom.bundle entropy --over layer",
    'glassformer score zoo/gpt2 "a b c a b c" induction --json',
)


def add_arguments(parser: Parser) -> None:
    """A recording, or a model and a text; metrics."""
    parser.add_argument("source", metavar="FILE.bundle | MODEL")
    parser.add_argument("values", metavar="TEXT | METRIC", nargs="*")
    parser.add_argument("--over", choices=("head", "layer", "model"))
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--against", metavar="OTHER.bundle", type=Path)
    parser.add_argument("--device")
    add_gold(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--csv", action="store_true")


def run(arguments: Arguments) -> None:
    """Measure a recording; without names, the interpretability panel."""
    from glassformer import bundle
    from glassformer.metrics import METRICS, PANEL, difference, score
    from glassformer.render.summary import summarise_score, to_csv, to_json
    from glassformer.render.terminal.tables import draw_scores

    if arguments.links or arguments.trees:
        run_gold(arguments)
        return
    source, values = arguments.source, list(arguments.values)
    text = None if _is_bundle(source) else _take_text(source, values)
    names = tuple(values) or PANEL
    _refuse_gold(names)
    parameters = _share(read_assignments(arguments.set), names)
    other = None if arguments.against is None else bundle.open(arguments.against)
    if text is None:
        recording = bundle.open(source)
    else:
        from glassformer.recorders.record import record  # only here, since it imports torch

        recording = record(source, text, device=arguments.device)
    measure = partial(score, recording) if other is None else partial(difference, recording, other)
    over = arguments.over or ("head" if len(names) == 1 else "model")
    scores = []
    for name in names:
        fixed = METRICS[name].rule == "none"  # it has one level only
        if fixed and arguments.over is not None and arguments.over != METRICS[name].over:
            raise InputError("cli.score.one_level", metric=name, level=METRICS[name].over)
        scores.append(measure(name, over=None if fixed else over, **parameters[name]))
    if arguments.json:
        print(to_json([summarise_score(each) for each in scores]))
    else:
        table = to_csv(scores) if arguments.csv else None
        if other is not None and not arguments.csv:
            print(message("cli.score.first_minus_second", first=source, second=str(arguments.against)))
        print(table or draw_scores(scores, columns=count_columns(), colour=has_colour()))


def _is_bundle(source: str) -> bool:
    return source.endswith(".bundle") or Path(source).is_file()


def _take_text(model: str, values: list[str]) -> str:
    require_model(model)
    if not values:
        raise InputError("cli.score.no_text", model=model)
    return require_text(values.pop(0))


def _refuse_gold(names: tuple[str, ...]) -> None:
    """Metrics that compare with annotations cannot be computed from one text."""
    from glassformer.metrics import METRICS

    for name in names:
        if any(each.required for each in METRICS[name].parameters):
            option = (
                "--trees TREES.conllu" if name.startswith("dependency") else "--links LINKS SOURCE TARGET"
            )
            raise InputError("cli.score.needs_gold", metric=name, option=option)


def _share(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Each metric's part of the parameters; one that none of them has is an error."""
    from glassformer.metrics import METRICS

    declared = {name: {each.name for each in METRICS[name].parameters} for name in names}
    known = set().union(*declared.values())
    for name in given:
        if name not in known:
            raise InputError("cli.score.unknown_parameter", name=name, suggestion=suggestion(name, known))
    return {name: {each: given[each] for each in given if each in declared[name]} for name in names}
