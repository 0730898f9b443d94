"""`glassformer classify`: the class of each text."""

from collections.abc import Iterable, Iterator
from typing import Any

from glassformer.cli.answering import add_texts, run_answers
from glassformer.cli.parser import Arguments, Parser

POSITION = 140
EXAMPLES = ('glassformer classify "a quietly moving film"',)


def add_arguments(parser: Parser) -> None:
    """Texts, and what to do with long ones."""
    add_texts(parser, "zoo/sentiment")
    parser.add_argument("--long", choices=("refuse", "start"), default="refuse")


def run(arguments: Arguments) -> None:
    """Name the class of each text."""
    from glassformer.tasks.classification import classify

    def describe(text: str, found: Any) -> dict[str, Any]:
        return {"text": text, "label": found.label, "probabilities": found.probabilities}

    def show(found: Any) -> str:
        return f"{found.label}\t{found.probability:.4f}"

    def answer(texts: Iterable[str]) -> Iterator[Any]:
        return classify(arguments.model, texts, long=arguments.long, device=arguments.device, stream=True)

    run_answers(arguments, answer, show, describe)
