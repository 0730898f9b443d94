"""`glassformer classify`: the class of each text."""

from collections.abc import Iterable, Iterator
from typing import Any

from glassformer.cli.answering import Texts, add_texts, run_answers
from glassformer.cli.parser import Arguments, Parser

POSITION = 140
EXAMPLES = (
    'glassformer classify "a quietly moving film"',
    "glassformer classify --input reviews.txt --output labels.tsv --long truncate",
)


def add_arguments(parser: Parser) -> None:
    """Texts, and what to do with long ones; `start` is the old name of `truncate`."""
    add_texts(parser, "zoo/sentiment", ("truncate", "split", "skip", "refuse", "start"))


def run(arguments: Arguments) -> None:
    """Name the class of each text."""
    from glassformer.tasks.classification import classify

    arguments.long = "truncate" if arguments.long == "start" else arguments.long

    def describe(text: str, found: Any) -> dict[str, Any]:
        return {"text": text, "label": found.label, "probabilities": found.probabilities}

    def show(found: Any) -> str:
        return f"{found.label}\t{found.probability:.4f}" if found.label else ""

    def answer(model: Any, read: Iterable[str], texts: Texts) -> Iterator[Any]:
        return classify(model, read, long=texts.long, stream=True)

    run_answers(arguments, "classifies", answer, show, describe)
