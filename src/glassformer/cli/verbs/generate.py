"""`glassformer generate`: text that continues a text."""

from glassformer.cli.answering import add_generation, add_texts, run_generation
from glassformer.cli.parser import Arguments, Parser

POSITION = 130
EXAMPLES = ('glassformer generate "It was a dark night" --sample --seed 1',)


def add_arguments(parser: Parser) -> None:
    """Texts, and how to decode."""
    add_texts(parser, "zoo/gpt2", ("truncate", "skip", "refuse"))
    add_generation(parser)


def run(arguments: Arguments) -> None:
    """Continue texts."""
    run_generation(arguments, "generates")
