"""What the verbs share whose model answers texts: translate, generate, classify, fill.

In:   texts: as arguments, line by line from a file (`.gz` and `.xz` too), or from stdin. Where a model looks
      or listens, each is the path of a picture or a sound.
Out:  one line for each text, in order, written as soon as it is known: what a stopped command has finished is
      kept. The answer to a single text is streamed. JSON has one object per line.

A line that is blank or cannot be answered is an empty line of the output, so that both files stay aligned.
Texts that are too long (`--long`) are counted and reported on stderr. Lines that are not text, or in which
there is nothing to answer, are reported at the end with exit code 2, after all others are answered.
"""

import json
import os
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.inputs import open_stdin, require_text
from glassformer.cli.output import escape_controls, with_progress
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.errors import CheckpointError, InputError
from glassformer.messages import Message, message

if TYPE_CHECKING:
    from glassformer.loaded.model import Capability, LoadedModel
    from glassformer.loaded.opening import Precision
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.tasks.answers import Answer
    from glassformer.tasks.long import LongTexts
    from glassformer.text.files import OnError, Problems

WAYS = ("split", "truncate", "skip", "refuse")


def add_texts(parser: Parser, usual: str, long: Sequence[str] = WAYS) -> None:
    """Texts and where they come from; `usual` is the model where none is named, `long[0]` the usual way."""
    parser.areas += ("answers",)
    parser.set_defaults(usual=usual)
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help=help_text("cli.help.answers.model", usual=usual)
    )
    parser.add_argument("texts", metavar="TEXT", nargs="*")
    parser.add_argument("--input", metavar="FILE", type=Path)
    parser.add_argument("--output", metavar="FILE", type=Path)
    parser.add_argument("--long", choices=long, default=long[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--device")


def add_generation(parser: Parser) -> None:
    """How to decode."""
    parser.areas += ("generation",)
    parser.add_argument("--int8", action="store_true")
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


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a command, one by one, and what was wrong with some of them."""

    arguments: Arguments
    problems: "Problems"
    long: "LongTexts"

    def read(self) -> Iterable[str]:
        """The texts; a line that is not text is blank, and reported. All are read at once to refuse one."""
        texts = self._read()
        return list(texts) if self.long.how == "refuse" else texts

    def _read(self) -> Iterator[str]:
        from glassformer.text.files import decode_lines, read_all_lines

        if self.arguments.texts:
            yield from self.arguments.texts
            return
        path = self.path
        if str(path) != "-":
            lines = read_all_lines(path, self.problems)
        else:
            if sys.stdin is not None and sys.stdin.isatty():
                print(message("cli.answers.type_texts"), file=sys.stderr)
            lines = decode_lines(open_stdin(), Path("stdin"), self.problems)
        yield from ("" if line is None else line for _, line in lines)

    @property
    def path(self) -> Path:
        """The file of the texts, `-` for stdin."""
        return self.arguments.input or Path("-")

    def leave_out(self, number: int, reason: Message) -> None:
        """Report a line that has no answer; of a file that a person has named, its path."""
        if self.arguments.texts:
            self.problems.report(Path(self.arguments.texts[number - 1]), 0, reason)
        else:
            self.problems.report(self.path, number, reason)

    def report(self, limit: int | None) -> None:
        """Print what happened to long texts; an error, if some texts have no answer."""
        if (found := self.long.report(limit)) is not None:
            print(message("cli.answers.note", note=found), file=sys.stderr)
        if self.problems.count:
            more = self.problems.count - len(self.problems.first)
            code = "cli.answers.left_out_more" if more else "cli.answers.left_out"
            raise InputError(code, count=self.problems.count, problems=self.problems.first, more=more)


def open_texts(arguments: Arguments) -> Texts:
    """The texts of a command."""
    from glassformer.tasks.long import LongTexts
    from glassformer.text.files import Problems

    long = LongTexts(arguments.long)
    on_error: OnError = "refuse" if long.how == "refuse" else "skip"
    return Texts(arguments, Problems(on_error, str(message("cli.errors.convert_file"))), long)


def run_answers(
    arguments: Arguments,
    capabilities: "Sequence[Capability]",
    answer: Callable[["LoadedModel", Iterable[Any], Texts], Iterator[Any]],
    show: Callable[[Any], str],
    describe: Callable[[str, Any], dict[str, Any]],
    nothing: Any = None,
) -> None:
    """Answer text after text by a model with one of these capabilities; JSON contains each text, too.

    `nothing` is the answer to a picture or a sound that cannot be read.
    """
    from glassformer.tasks.answers import open_model

    _check_request(arguments)
    for number, text in enumerate(arguments.texts, 1):
        if not text.strip():
            raise InputError("tasks.empty_text", number=number)
    with _explained(arguments):
        model = open_model(arguments.model, device=arguments.device)
        if not any(map(model.can, capabilities)):
            model.require(capabilities[0])
    _write_answers(model, arguments, answer, show, describe, nothing)


def _write_answers(
    model: "LoadedModel",
    arguments: Arguments,
    answer: Callable[["LoadedModel", Iterable[Any], Texts], Iterator[Any]],
    show: Callable[[Any], str],
    describe: Callable[[str, Any], dict[str, Any]],
    nothing: Any,
) -> None:
    texts = open_texts(arguments)
    read = texts.read()
    asked, questions = (read, read) if isinstance(read, list) else tee(read)
    with _open_output(arguments.output, arguments.input) as output:
        if model.reads == "text":
            answers = answer(model, asked, texts)
        else:
            asked, counted = tee(asked)
            perceived = Perceived(model, texts, counted)
            answers = perceived.fill_in(answer(model, perceived, texts), asked, nothing)
        if arguments.output is not None or not sys.stdout.isatty():  # elsewhere the answers show the progress
            answers = with_progress(answers, message("cli.answers.answered"))
        for found, text in zip(answers, questions, strict=True):
            line = json.dumps(describe(text, found), ensure_ascii=False) if arguments.json else show(found)
            output(f"{line}\n")
    texts.report(model.limit)


class Perceived:
    """The pictures or sounds at some paths; what cannot be read is reported, and the others are answered."""

    def __init__(self, model: "LoadedModel", texts: Texts, paths: Iterable[str]) -> None:
        self.model = model
        self.texts = texts
        self.paths = paths
        self.numbers: deque[int] = deque()  # of those that are read and not yet answered, from 1

    def __iter__(self) -> Iterator[Any]:
        alone = len(self.texts.arguments.texts) == 1 or self.texts.long.how == "refuse"
        for number, path in enumerate(self.paths, 1):
            if not path.strip():
                continue
            try:
                percept = self.model.perceive(Path(path))
            except InputError as error:
                if alone:
                    raise
                self.texts.leave_out(number, error.message)
                continue
            self.numbers.append(number)
            yield percept

    def fill_in(self, answers: Iterator[Any], paths: Iterable[str], nothing: Any) -> Iterator[Any]:
        """An answer to each path; `nothing` is that of those without one."""
        waiting, first = next(answers, None), 0
        for number, _ in enumerate(paths, 1):
            first = first or (self.numbers.popleft() if self.numbers else 0)
            if number != first:
                yield nothing
                continue
            yield waiting
            waiting, first = next(answers, None), 0


def run_generation(arguments: Arguments, capability: "Capability") -> None:
    """Texts answered by texts: streamed where there is one, in batches where there are many."""
    from glassformer.tasks.answers import answer, open_model, stream_answer
    from glassformer.text.languages import list_languages

    _check_request(arguments)
    if len(arguments.texts) == 1:
        require_text(arguments.texts[0])
    with _explained(arguments):
        weights: Precision = "int8" if arguments.int8 else "float32"
        model = open_model(arguments.model, device=arguments.device, capability=capability, weights=weights)
    settings = _choose_settings(arguments, model)
    language = getattr(arguments, "target_language", None)
    known = list_languages(model.require_tokenizer()) if capability == "translates" else []
    if known and language is None:
        raise InputError("cli.answers.needs_language", model=model.name, known=known)
    alone = len(arguments.texts) == 1 and not arguments.json and settings.n_best == 1
    alone = alone and model.reads == "text"
    if alone and arguments.output is None and _fits(model, arguments.texts[0], language):
        for piece in stream_answer(model, arguments.texts[0], settings, language):
            print(escape_controls(piece, sys.stdout), end="", flush=True)
        print()
        return

    def reply(model: "LoadedModel", read: Iterable[str], texts: Texts) -> Iterator[list["Answer"]]:
        return answer(model, read, settings, language, texts.long, soon=not _writes_file(arguments.output))

    def show(found: list["Answer"]) -> str:
        texts = [text.replace("\n", "\\n") for text, _ in found]  # one line each
        if settings.n_best == 1:
            return texts[0] if texts else ""
        return "\n".join(f"{text}  ({score:.3f})" for text, (_, score) in zip(texts, found, strict=True))

    def describe(text: str, found: list["Answer"]) -> dict[str, Any]:
        return {"text": text, "answers": [{"text": each, "score": score} for each, score in found]}

    _write_answers(model, arguments, reply, show, describe, [])


def _writes_file(output: Path | None) -> bool:
    """Whether answers go to a file, where nobody waits for the first of them."""
    if output is not None:
        return output.is_file() or not output.exists()
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # a stream of Python alone, or a closed one
        return False


def _fits(model: "LoadedModel", text: str, language: str | None) -> bool:
    """Whether a text can be streamed: it is not too long."""
    room = None if model.limit is None else model.limit - (model.shape == "decoder")
    return room is None or len(model.read_prompt(text, language)) <= room


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
def _open_output(path: Path | None, source: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that writes lines at once, to stdout or a file; the first line replaces an old file."""
    if path is None:
        stdout = sys.stdout  # a progress bar puts something else in its place

        def show(line: str) -> None:
            stdout.write(escape_controls(line, stdout))
            stdout.flush()

        yield show
        return
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise InputError("cli.answers.same_file", path=path)
    if path.exists() and not path.is_file():
        raise InputError("render.not_a_file", path=path)
    existed = path.exists()
    try:
        file = path.open("a", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError("render.not_writable", path=path, error=error.strerror) from error
    started = False

    def write(line: str) -> None:
        nonlocal started
        if not started:
            file.truncate(0)
            started = True
        file.write(line)
        file.flush()

    try:
        with file:
            yield write
    finally:
        if not started and not existed:  # nothing was answered
            with suppress(OSError):
                path.unlink()
