"""`glassformer record`: one text, or many, through one model.

In:   the name of a model, and a text.
Out:  a picture and numbers in the terminal, or JSON; a bundle.
"""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.bulk import record_all
from glassformer.cli.edits import list_forms, read_decoding, read_edit
from glassformer.cli.inputs import add_language, add_place, read_place, read_text, require_model, require_text
from glassformer.cli.output import count_columns, draw_recording, escape_controls
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.render.terminal.text import wrap

if TYPE_CHECKING:
    from glassformer.loaded.model import LoadedModel
    from glassformer.recorders.store import ArrayStore
    from glassformer.recording import Recording

POSITION = 30
EXAMPLES = (
    'glassformer record zoo/gpt2 "The quick brown fox" --layer 3',
    'glassformer record zoo/translator "Where is Tom?" --to zh --output tom.bundle',
    'glassformer record zoo/gpt2 "The quick" --decode beam 4 --max-new-tokens 8',
    'glassformer record zoo/bert "It rained." --edit "zero encoder self 2 1"',
    "glassformer record zoo/gpt2 --texts sentences.txt --output folder",
)
WANTED = "weights,output"
ENDS = (".", "!", "?", "。", "！", "？")


def add_arguments(parser: Parser) -> None:
    """A model, a text, what to keep, what to draw."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("text", metavar="TEXT", nargs="?")
    parser.add_argument("--file", metavar="FILE", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--target", metavar="TEXT")
    parser.add_argument("--second", metavar="TEXT")
    add_language(parser)
    parser.add_argument("--want", metavar="NAMES", default=WANTED)
    help = help_text("cli.help.record.edit", forms=[f'"{form}"' for form in list_forms().values()])
    parser.add_argument("--edit", metavar="EDIT", action="append", default=[], help=help)
    parser.add_argument("--decode", metavar="METHOD", nargs="+")
    parser.add_argument("--max-new-tokens", type=int, metavar="N")
    parser.add_argument("--kernel", choices=("exact", "fast"))
    add_place(parser)
    parser.add_argument("--texts", metavar="FILE", type=Path)
    parser.add_argument("--output", metavar="FILE.bundle", type=Path)
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """Record a model on a text, draw it, keep it."""
    from glassformer.loaded.opening import load
    from glassformer.recorders.request import check_want
    from glassformer.recorders.store import writing_to
    from glassformer.render.summary import summarise, to_json

    require_model(arguments.model)
    if arguments.texts is None:
        _check_text(arguments)
    target = None if arguments.target is None else require_text(arguments.target)
    want = check_want([name.strip() for name in arguments.want.split(",") if name.strip()])
    edits = [read_edit(edit) for edit in arguments.edit]
    place = read_place(arguments)
    _check_texts(arguments)
    model = load(arguments.model, device=arguments.device)
    decode = _find_decoding(arguments, model)
    text = None if arguments.texts else _find_text(arguments, model)

    def record(text: "str | Path", keep: "ArrayStore | None" = None) -> "Recording":
        return model.record(
            text if model.reads == "text" else Path(text),
            target,
            target_language=arguments.target_language,
            second_text=arguments.second,
            decode=decode,
            want=want,
            edits=edits,
            kernel=arguments.kernel,
            keep=keep,
        )

    if text is None:
        record_all(arguments.texts, arguments.output, record)
        return
    kept = writing_to(arguments.output) if arguments.output else nullcontext()
    with kept as destination:
        recording = record(text, None if destination is None else destination.store)
        printed = to_json(summarise(recording)) if arguments.json else _describe(recording, place)
        if destination is not None:
            destination.finish(recording)
    print(printed)
    if arguments.output and not arguments.json:
        print(f"\n{message('cli.record.kept', path=arguments.output)}")


def _check_texts(arguments: Arguments) -> None:
    if arguments.texts is None:
        return
    if arguments.text is not None or arguments.file is not None:
        raise InputError("cli.record.text_and_texts")
    if arguments.output is None:
        raise InputError("cli.record.no_folder")
    if arguments.output.is_file():
        raise InputError("cli.record.not_a_folder", path=arguments.output)
    if arguments.target is not None or arguments.second is not None or arguments.json:
        raise InputError("cli.record.only_one_text")


def _check_text(arguments: Arguments) -> None:
    if arguments.text is None and arguments.file is None:
        raise InputError("cli.record.no_text")
    if arguments.text is not None and arguments.file is not None:
        raise InputError("cli.record.text_and_file")
    if arguments.file is None:
        require_text(arguments.text)


def _find_text(arguments: Arguments, model: "LoadedModel") -> str | Path:
    """The text; or the file of a picture or a sound, where the model looks or listens."""
    if model.reads != "text":
        return arguments.file or Path(arguments.text)
    return require_text(arguments.text if arguments.file is None else read_text(arguments.file))


def _find_decoding(arguments: Arguments, model: "LoadedModel") -> Any:
    settings = model.generation
    if arguments.max_new_tokens is not None:
        settings = replace(settings, max_new_tokens=arguments.max_new_tokens)
        if arguments.decode is None and not model.can("translates"):
            raise InputError("cli.record.no_decoding")
    if arguments.decode is not None:
        return read_decoding(arguments.decode, settings)
    return None if arguments.max_new_tokens is None else settings


def _end(note: str) -> str:
    """A note as a sentence: some are sentences already."""
    return note if note.endswith(ENDS) else str(message("cli.record.sentence", note=note))


def _describe(recording: "Recording", place: dict[str, Any]) -> str:
    """What the model wrote, if it did; the picture; the notes about the numbers."""
    label = message("cli.record.note_label")
    hanging = len(f"{label}  ")
    notes = [
        wrap(f"{label}  {_end(str(note))}", count_columns(), hanging=hanging)
        for note in recording.evidence.notes
    ]
    picture = draw_recording(recording, place)
    return "\n\n".join(filter(None, (_describe_generation(recording), picture, "\n".join(notes))))


def _describe_generation(recording: "Recording") -> str:
    generation = recording.generation
    if generation is None:
        return ""
    text = (recording.target or recording.source).text or generation.text
    written = message("cli.record.written", text=escape_controls(text, sys.stdout))
    code = "cli.record.written_by_search" if generation.nodes else "cli.record.written_by"
    method = message(
        code,
        method=message(f"cli.record.methods.{generation.method}", generation.method),
        steps=len(generation.steps),
        hypotheses=len(generation.nodes),
        log_probability=sum(step.log_probability for step in generation.steps),
    )
    return f"{written}\n          {method}"
