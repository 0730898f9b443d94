"""What the verbs share whose model answers texts: translate, generate, classify, fill.

In:   texts: as arguments, line by line from a file (`.gz` and `.xz` too), or from stdin.
Out:  one line for each text, in order; the answer to a single text is streamed. JSON has one object per line.
      A file is written completely or not at all.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from io import TextIOWrapper
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from glassformer.cli.inputs import read_texts, require_text
from glassformer.cli.output import escape_controls, with_progress
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.errors import CheckpointError, InputError
from glassformer.messages import message
from glassformer.render.files import open_whole

if TYPE_CHECKING:
    from glassformer.loaded.model import Capability, LoadedModel
    from glassformer.model.generation_settings import GenerationSettings


def add_texts(parser: Parser, usual: str) -> None:
    """Texts and where they come from; `usual` is the model where none is named."""
    parser.areas += ("answers",)
    parser.set_defaults(usual=usual)
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help=help_text("cli.help.answers.model", usual=usual)
    )
    parser.add_argument("texts", metavar="TEXT", nargs="*")
    parser.add_argument("--input", metavar="FILE", type=Path)
    parser.add_argument("--output", metavar="FILE", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--device")


def add_generation(parser: Parser) -> None:
    """How to decode."""
    parser.areas += ("generation",)
    parser.add_argument("--max-new-tokens", type=int, metavar="N")
    parser.add_argument("--beams", type=int, metavar="N")
    parser.add_argument("--n-best", type=int, metavar="N")
    parser.add_argument("--length-penalty", type=float, metavar="X")
    parser.add_argument("--sample", action="store_true", default=None)
    parser.add_argument("--temperature", type=float, metavar="X")
    parser.add_argument("--top-k", type=int, metavar="N")
    parser.add_argument("--top-p", type=float, metavar="X")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--repetition-penalty", type=float, metavar="X")


def run_answers(
    arguments: Arguments,
    answer: Callable[[Iterable[str]], Iterator[Any]],
    show: Callable[[Any], str],
    describe: Callable[[str, Any], dict[str, Any]],
) -> None:
    """Answer text after text; JSON contains each text beside its answer."""
    _check_request(arguments)
    texts, questions = tee(_read_texts(arguments))
    with _explained(arguments), _open_output(arguments.output) as output:
        answers = answer(texts)
        if output is not sys.stdout or not output.isatty():  # elsewhere the answers show the progress
            answers = with_progress(answers, message("cli.answers.answered"))
        for found, text in zip(answers, questions, strict=True):
            line = json.dumps(describe(text, found), ensure_ascii=False) if arguments.json else show(found)
            output.write(escape_controls(f"{line}\n", output))


def run_generation(arguments: Arguments, capability: "Capability") -> None:
    """Texts answered by texts: streamed where there is one, in batches where there are many."""
    from glassformer.tasks.answers import answer, open_model, stream_answer, write_answer
    from glassformer.text.languages import list_languages

    _check_request(arguments)
    if len(arguments.texts) == 1:
        require_text(arguments.texts[0])
    with _explained(arguments):
        model = open_model(arguments.model, device=arguments.device, capability=capability)
    settings = _choose_settings(arguments, model)
    language = getattr(arguments, "target_language", None)
    known = list_languages(model.require_tokenizer()) if capability == "translates" else []
    if known and language is None:
        raise InputError("cli.answers.needs_language", model=model.name, known=known)
    alone = len(arguments.texts) == 1 and not arguments.json and settings.n_best == 1
    if alone and arguments.output is None:
        for piece in stream_answer(model, arguments.texts[0], settings, language):
            print(escape_controls(piece, sys.stdout), end="", flush=True)
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

    run_answers(arguments, reply, show, describe)


def _choose_settings(arguments: Arguments, model: "LoadedModel") -> "GenerationSettings":
    from glassformer.model.generation_settings import GenerationSettings

    names = {field.name for field in fields(GenerationSettings)}
    chosen = {name: value for name, value in vars(arguments).items() if name in names and value is not None}
    if chosen.get("sample"):
        chosen.setdefault("beams", 1)  # whatever the model's own settings are
    elif chosen.get("beams", 1) > 1:
        chosen["sample"] = False
    settings = replace(model.generation, **chosen)
    _refuse_unused(chosen, settings)
    if settings.beams > (most := model.require_tokenizer().size):
        raise InputError("cli.answers.too_many_beams", beams=settings.beams, most=most)
    return settings


def _refuse_unused(chosen: Mapping[str, object], settings: "GenerationSettings") -> None:
    """Settings without effect are errors."""
    for names, has_effect, code in (
        (("temperature", "top_k", "top_p", "seed"), settings.sample, "cli.answers.needs_sample"),
        (("length_penalty",), settings.beams > 1, "cli.answers.needs_beams"),
    ):
        unused = [f"--{name.replace('_', '-')}" for name in names if name in chosen]
        if unused and not has_effect:
            raise InputError(code, options=unused)


def _read_texts(arguments: Arguments) -> Iterator[str]:
    """The texts, one by one."""
    if arguments.texts:
        yield from arguments.texts
        return
    path = arguments.input or Path("-")
    if str(path) == "-" and sys.stdin is not None and sys.stdin.isatty():
        print(message("cli.answers.type_texts"), file=sys.stderr)
    yield from (line for _, line in read_texts(path))


def _check_request(arguments: Arguments) -> None:
    """Determine the model, and refuse impossible requests before it is opened.

    The first argument is the model, unless it cannot be one: then it is a text for the usual model.
    """
    from glassformer.loaded.opening import check_device
    from glassformer.weights.hub import could_be_model

    name = arguments.model
    if name is None or not could_be_model(name):
        arguments.texts[:0] = [] if name is None else [name]
        arguments.model = arguments.usual
        if sys.stderr.isatty():
            print(message("cli.answers.usual_model", model=arguments.usual), file=sys.stderr)
    if arguments.texts and arguments.input is not None:
        raise InputError("cli.answers.texts_and_input")
    check_device(arguments.device)


@contextmanager
def _explained(arguments: Arguments) -> Iterator[None]:
    """A single argument that is no model may have been meant as the text."""
    try:
        yield
    except CheckpointError as error:
        if arguments.texts or arguments.model == arguments.usual or Path(arguments.model).exists():
            raise
        command = f"glassformer {arguments.verb} {arguments.usual} {arguments.model!r}"
        raise CheckpointError(
            "cli.answers.text_as_model", error=error.message, text=arguments.model, command=command
        ) from error


@contextmanager
def _open_output(path: Path | None) -> Iterator[TextIO]:
    """Stdout; or a file that is written completely or not at all."""
    if path is None:
        yield sys.stdout
        return
    with open_whole(path) as file, TextIOWrapper(file, encoding="utf-8") as text:
        yield text
