"""`glassformer translate`: texts of one language, in another."""

from glassformer.cli.answering import add_generation, add_texts, run_generation
from glassformer.cli.inputs import add_language
from glassformer.cli.parser import Arguments, Parser

POSITION = 120
EXAMPLES = (
    'glassformer translate "I love you." --to fr',
    "glassformer translate zoo/translator --input english.txt --output german.txt --to de",
)


def add_arguments(parser: Parser) -> None:
    """Texts, the language, how to decode."""
    add_texts(parser, "zoo/translator")
    add_language(parser)
    add_generation(parser)


def run(arguments: Arguments) -> None:
    """Translate texts."""
    run_generation(arguments, "translates")
