"""`glassformer fill`: the likeliest words at [MASK]."""

from collections.abc import Iterable, Iterator
from typing import Any

from glassformer.cli.answering import Texts, add_texts, run_answers
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message

POSITION = 150
EXAMPLES = ('glassformer fill "She opened the [MASK] and looked out."',)
BEST = 5  # words that are shown for a gap


def add_arguments(parser: Parser) -> None:
    """Texts, and how many words for each gap."""
    add_texts(parser, "zoo/bert")
    parser.add_argument("--best", type=int, metavar="N", default=BEST)


def run(arguments: Arguments) -> None:
    """Guess the words at [MASK]."""
    from glassformer.tasks.masked_language_modelling import fill, has_gap

    if arguments.best < 1:
        raise InputError("cli.answers.too_few_words", count=arguments.best)

    def describe(text: str, found: Any) -> dict[str, Any]:
        gaps = [[{"word": each.text, "probability": each.probability} for each in gap] for gap in found.gaps]
        return {"text": text, "filled": found.text, "gaps": gaps}

    def show(found: Any) -> str:
        gaps = (
            ", ".join(f"{each.text} {100 * each.probability:.0f} %" for each in gap) for gap in found.gaps
        )
        return "\t".join((found.text, *gaps))

    def answer(model: Any, read: Iterable[str], texts: Texts) -> Iterator[Any]:
        def leave_out(number: int, text: str) -> str:
            """A line without a gap is blank; a text that a person has typed is refused instead."""
            if arguments.texts or not text.strip() or has_gap(model, text):
                return text
            texts.leave_out(number, message("cli.answers.no_gap"))
            return ""

        kept = (leave_out(number, text) for number, text in enumerate(read, 1))
        answered = list(kept) if isinstance(read, list) else kept
        return fill(model, answered, best=arguments.best, long=texts.long, stream=True)

    run_answers(arguments, ("fills",), answer, show, describe)
