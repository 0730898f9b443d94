"""Verbs whose model answers: translate, go on writing, classify, fill gaps.

In:   texts: as words, line by line from a file (`.gz` and `.xz` too), or from stdin.
Out:  one line for each text, in order; the answer to a single text piece by piece as it grows. JSON has one
      object a line. A file is written completely or not at all.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TextIO

from glassformer.cli.verb import (
    MODEL,
    Arguments,
    Parser,
    add_language,
    for_people,
    read_texts,
    require_text,
    with_progress,
)
from glassformer.errors import CheckpointError, InputError

if TYPE_CHECKING:
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.tasks.answers import Model

BEST = 5  # words that are told for a gap


def add_translate(parser: Parser) -> None:
    """The words of `translate`."""
    _add_texts(parser, "zoo/translator")
    add_language(parser)
    _add_generation(parser)


def add_generate(parser: Parser) -> None:
    """The words of `generate`."""
    _add_texts(parser, "zoo/gpt2")
    _add_generation(parser)


def add_classify(parser: Parser) -> None:
    """The words of `classify`."""
    _add_texts(parser, "zoo/sentiment")
    parser.add_argument(
        "--long",
        choices=("refuse", "start"),
        default="refuse",
        help="what to do with a text that is too long: refuse it, or read its start (refuse)",
    )


def add_fill(parser: Parser) -> None:
    """The words of `fill`."""
    _add_texts(parser, "zoo/bert")
    parser.add_argument("--best", type=int, metavar="N", default=BEST, help=f"words for each gap ({BEST})")


def run_translate(arguments: Arguments) -> None:
    """Translate texts."""
    _run_writing(arguments, "encoder-decoder", "does not translate; choose an encoder-decoder")


def run_generate(arguments: Arguments) -> None:
    """Go on writing."""
    _run_writing(arguments, "decoder", "does not go on writing; choose a decoder, or say `translate`")


def run_classify(arguments: Arguments) -> None:
    """Name the class of each text."""
    from glassformer.tasks.classification import classify

    def describe(text: str, found: Any) -> dict[str, Any]:
        return {"text": text, "label": found.label, "probabilities": found.probabilities}

    def show(found: Any) -> str:
        return f"{found.label}\t{found.probability:.4f}"

    def answer(texts: Iterable[str]) -> Iterator[Any]:
        return classify(arguments.model, texts, long=arguments.long, device=arguments.device)

    _run(arguments, answer, show, describe)


def run_fill(arguments: Arguments) -> None:
    """Guess the words at [MASK]."""
    from glassformer.tasks.masked_language_modelling import fill

    if arguments.best < 1:
        raise InputError(f"--best {arguments.best} words cannot be told; it must be at least 1.")

    def describe(text: str, found: Any) -> dict[str, Any]:
        gaps = [[{"word": each.text, "probability": each.probability} for each in gap] for gap in found.gaps]
        return {"text": text, "filled": found.text, "gaps": gaps}

    def show(found: Any) -> str:
        gaps = (
            ", ".join(f"{each.text} {100 * each.probability:.0f} %" for each in gap) for gap in found.gaps
        )
        return "\t".join((found.text, *gaps))

    def answer(texts: Iterable[str]) -> Iterator[Any]:
        return fill(arguments.model, texts, best=arguments.best, device=arguments.device)

    _run(arguments, answer, show, describe)


# What they share


def _add_texts(parser: Parser, usual: str) -> None:
    """`usual` answers where no model is named."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help=f"{MODEL} ({usual})")
    parser.set_defaults(usual=usual)
    parser.add_argument(
        "texts", metavar="TEXT", nargs="*", help="without any, lines are read from --input or stdin"
    )
    parser.add_argument("--input", metavar="FILE", type=Path, help="one text a line; - is stdin")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write answers here, not to stdout")
    parser.add_argument("--json", action="store_true", help="one JSON object for each text")
    parser.add_argument("--device", help="where to run, as cpu or cuda (cpu)")


def _add_generation(parser: Parser) -> None:
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help="stop here at the latest")
    parser.add_argument("--beams", type=int, metavar="N", help="follow N hypotheses side by side")
    parser.add_argument("--n-best", type=int, metavar="N", help="show the N best of them")
    parser.add_argument("--length-penalty", type=float, metavar="X", help="above 1 favours long answers")
    parser.add_argument(
        "--sample", action="store_true", default=None, help="draw words, not always the likeliest"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="X", help="below 1 draws more carefully, above more wildly"
    )
    parser.add_argument("--top-k", type=int, metavar="N", help="draw from the N likeliest only")
    parser.add_argument(
        "--top-p", type=float, metavar="X", help="draw from the fewest words with this probability"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="draw the same words every time")
    parser.add_argument(
        "--repetition-penalty", type=float, metavar="X", help="above 1 avoids words already there"
    )


def _run(
    arguments: Arguments,
    answer: Callable[[Iterable[str]], Iterator[Any]],
    show: Callable[[Any], str],
    describe: Callable[[str, Any], dict[str, Any]],
) -> None:
    """Answer text after text; each is remembered until its answer comes, for JSON tells both."""
    _check_request(arguments)
    waiting: list[str] = []

    def remember(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            if arguments.json:
                waiting.append(text)
            yield text

    answers = answer(remember(_read_texts(arguments)))
    if arguments.output is not None or not sys.stdout.isatty():  # where answers can be seen, they are counted
        answers = with_progress(answers, "answered")
    with _explained(arguments), _open_output(arguments.output) as output:
        for found in answers:
            line = (
                json.dumps(describe(waiting.pop(0), found), ensure_ascii=False)
                if arguments.json
                else show(found)
            )
            output.write(for_people(f"{line}\n", output))


def _run_writing(arguments: Arguments, shape: str, refusal: str) -> None:
    """Texts answered by texts: streamed where there is one, in batches where there are many."""
    from glassformer.tasks.answers import answer, open_model, stream_answer, write_answer

    _check_request(arguments)
    if len(arguments.texts) == 1:
        require_text(arguments.texts[0])
    with _explained(arguments):
        model = open_model(arguments.model, device=arguments.device)
    if model.shape != shape:
        raise InputError(f"A model with the shape {model.shape!r} {refusal}.")
    settings = _choose_settings(arguments, model)
    language = getattr(arguments, "target_language", None)
    alone = len(arguments.texts) == 1 and not arguments.json and settings.n_best == 1
    if alone and arguments.output is None:
        for piece in stream_answer(model, arguments.texts[0], settings, language):
            print(for_people(piece, sys.stdout), end="", flush=True)
        print()
        return

    def reply(texts: Iterable[str]) -> Iterator[list[tuple[str, float]]]:
        for prompt, best in answer(model, texts, settings, language):
            yield [(write_answer(model, prompt, each), each.score) for each in best]

    def show(found: list[tuple[str, float]]) -> str:
        texts = [text.replace("\n", "\\n") for text, _ in found]  # one line each
        if settings.n_best == 1:
            return texts[0] if texts else ""
        return "\n".join(f"{text}  ({score:.3f})" for text, (_, score) in zip(texts, found, strict=True))

    def describe(text: str, found: list[tuple[str, float]]) -> dict[str, Any]:
        return {"text": text, "answers": [{"text": each, "score": score} for each, score in found]}

    _run(arguments, reply, show, describe)


def _choose_settings(arguments: Arguments, model: "Model") -> "GenerationSettings":
    from glassformer.model.generation_settings import GenerationSettings

    words = {field.name for field in fields(GenerationSettings)}
    asked = {name: value for name, value in vars(arguments).items() if name in words and value is not None}
    if asked.get("sample"):
        asked.setdefault("beams", 1)  # whatever the model's own habit is
    elif asked.get("beams", 1) > 1:
        asked["sample"] = False
    settings = replace(model.generation, **asked)
    if idle := _find_idle(asked, settings):
        raise InputError(idle)
    if settings.beams > (most := model.tokenizer.size):
        raise InputError(f"--beams {settings.beams} is more than the vocabulary has tokens, {most}; try 5.")
    return settings


def _find_idle(asked: Mapping[str, object], settings: "GenerationSettings") -> str:
    """Why something that was asked for would do nothing; empty where all of it counts."""
    for names, counts, remedy in (
        (("temperature", "top_k", "top_p", "seed"), settings.sample, "words are drawn; add --sample"),
        (("length_penalty",), settings.beams > 1, "there is a beam search; add --beams 4"),
    ):
        idle = [f"--{name.replace('_', '-')}" for name in names if name in asked]
        if idle and not counts:
            return f"{' and '.join(idle)} would do nothing: it counts only where {remedy}, or leave it out."
    return ""


def _read_texts(arguments: Arguments) -> Iterator[str]:
    """The texts, one by one."""
    if arguments.texts:
        yield from arguments.texts
        return
    path = arguments.input or Path("-")
    if str(path) == "-" and sys.stdin is not None and sys.stdin.isatty():
        print("One text a line; Ctrl-D after the last.", file=sys.stderr)
    yield from (line for _, line in read_texts(path))


def _check_request(arguments: Arguments) -> None:
    """Settle which model it is, and refuse what cannot be before it is opened."""
    from glassformer.recorders.checks import check_device

    _settle_model(arguments)
    if arguments.texts and arguments.input is not None:
        raise InputError("There are texts and an --input; give one of the two.")
    check_device(arguments.device)


def _settle_model(arguments: Arguments) -> None:
    """The first word is the model, unless it cannot be: then it is a text, and the usual model answers it."""
    from glassformer.weights.hub import could_be_model

    word = arguments.model
    if word is None or not could_be_model(word):
        arguments.texts[:0] = [] if word is None else [word]
        arguments.model = arguments.usual
        if sys.stderr.isatty():
            print(f"{arguments.usual} answers; put another MODEL first to ask that one.", file=sys.stderr)


@contextmanager
def _explained(arguments: Arguments) -> Iterator[None]:
    """A single word that is no model may have been meant as the text."""
    try:
        yield
    except CheckpointError as error:
        if arguments.texts or arguments.model == arguments.usual or Path(arguments.model).exists():
            raise
        verb = f"glassformer {arguments.verb} {arguments.usual}"
        raise CheckpointError(
            f"{error} If {arguments.model!r} is the text, write `{verb} {arguments.model!r}`."
        ) from error


@contextmanager
def _open_output(path: Path | None) -> Iterator[TextIO]:
    """Stdout; or a file that takes its name when all is written."""
    if path is None:
        yield sys.stdout
        return
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file and cannot be replaced by one; give the name of a file.")
    part = path.with_name(f".{path.name}.{token_hex(8)}.part")
    try:
        file = part.open("x", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}. Choose another place.") from error
    try:
        with file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
