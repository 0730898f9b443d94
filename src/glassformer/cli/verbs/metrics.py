"""`glassformer metrics`: what can be measured."""

from glassformer.cli.output import count_columns
from glassformer.cli.parser import Arguments, Parser

POSITION = 80
EXAMPLES = ("glassformer metrics entropy",)


def add_arguments(parser: Parser) -> None:
    """Names of metrics."""
    parser.add_argument("names", metavar="METRIC", nargs="*")


def run(arguments: Arguments) -> None:
    """List what can be measured."""
    from glassformer.metrics import METRICS, PANEL
    from glassformer.render.terminal.tables import draw_metrics

    every = dict.fromkeys((*PANEL, *METRICS))  # the panel first
    chosen = [METRICS[name] for name in arguments.names or every]
    print(draw_metrics(chosen, columns=count_columns()))
