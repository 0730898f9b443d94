"""`glassformer classify`: the class of each text, the tags of its words, or its numbers."""

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
    """Name the class of each text, the tags of its words, or its numbers: what the model was trained for."""
    from glassformer.tasks.classification import Classified, classify
    from glassformer.tasks.regression import predict_numbers
    from glassformer.tasks.tagging import TaggedText, tag_texts

    arguments.long = "truncate" if arguments.long == "start" else arguments.long

    def describe(text: str, found: Any) -> dict[str, Any]:
        if isinstance(found, Classified):
            return {"text": text, "label": found.label, "probabilities": found.probabilities}
        if isinstance(found, TaggedText):
            words = {"words": found.words, "tags": found.tags, "probabilities": found.probabilities}
            return {"text": text, **words}
        return {"text": text, "numbers": found}

    def show(found: Any) -> str:
        if isinstance(found, Classified):
            return f"{found.label}\t{found.probability:.4f}" if found.label else ""
        if isinstance(found, TaggedText):
            return " ".join(f"{word}/{tag}" for word, tag in zip(found.words, found.tags, strict=True))
        return "\t".join(f"{number:.6g}" for number in found.values())

    def answer(model: Any, read: Iterable[str], texts: Texts) -> Iterator[Any]:
        if model.can("tags"):
            return tag_texts(model, read)
        if model.can("predicts_numbers"):
            return predict_numbers(model, read, long=texts.long, stream=True)
        return classify(model, read, long=texts.long, stream=True)

    nothing = Classified("", 0.0, {})
    run_answers(arguments, ("classifies", "tags", "predicts_numbers"), answer, show, describe, nothing)
