"""Verbs that record: the demonstration, one text through one model, a very long text.

In:   the name of a model, and a text.
Out:  a picture and numbers in the terminal, or JSON; a bundle.
"""

import os
import shutil
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.bulk import record_all
from glassformer.cli.edits import read_decoding, read_edit
from glassformer.cli.verb import (
    Arguments,
    Parser,
    add_language,
    add_model,
    count_columns,
    for_people,
    read_text,
    require_model,
    require_text,
)
from glassformer.errors import InputError

if TYPE_CHECKING:
    from glassformer.recorders.store import Keep
    from glassformer.recording import Recording

WANTED = "weights,output"


def run_demo(_: Arguments) -> None:
    """Train a tiny translator and draw where it looks."""
    from glassformer.recorders.demo import SENTENCE, STEPS, teach_translator
    from glassformer.recorders.record import load

    def report(step: int, loss: float) -> None:
        if sys.stdout.isatty() or step + 1 == STEPS:
            start = "\r" if sys.stdout.isatty() else ""
            print(f"{start}  step {step + 1} of {STEPS}, loss {loss:.3f}", end="", flush=True)

    print("A tiny Transformer learns to translate, from sentences made up as it goes:")
    recording = load(*teach_translator(report), name="demo").record(SENTENCE)
    assert recording.target is not None
    print(f"\n\n  {SENTENCE}\n  {recording.target.text}\n")
    print(_draw(recording))
    print("\nEach row is a word it has read → the word it writes next. French puts the colour")
    print("last: for `chat` it looks past `white` at `cat`, and for `blanc` back again.")
    print(f'\nYour turn:\n  {_own_name()} record zoo/gpt2 "The animal was too tired to cross the street"')


def add_record(parser: Parser) -> None:
    """The words of `record`."""
    add_model(parser)
    add_text(parser)
    add_device(parser)
    parser.add_argument(
        "--target", metavar="TEXT", help="a translation to read along; without it, the model's own"
    )
    parser.add_argument("--second", metavar="TEXT", help="a second text, for models that read pairs")
    add_language(parser)
    parser.add_argument(
        "--want",
        metavar="WORDS",
        default=WANTED,
        help="what to keep beside statistics: weights,scores,queries,keys,values,hidden,output,trace,"
        f"parameters ({WANTED})",
    )
    parser.add_argument(
        "--edit",
        metavar="EDIT",
        action="append",
        default=[],
        help='change the model first: "zero encoder self 2 5" (stack, kind, layer, head), "mean …", '
        '"cut decoder self 2 5 7 3" (… query, key; layer and head may be all), "scale 2 decoder", "first 4"',
    )
    parser.add_argument(
        "--decode",
        metavar="WORD",
        nargs="+",
        help="let the model write first: greedy, beam N or sample [SEED]",
    )
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help="write at most so many")
    parser.add_argument(
        "--kernel", choices=("exact", "fast"), help="form the matrices, or never; else as the length asks for"
    )
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help="draw a head of this part")
    parser.add_argument("--layer", type=int, metavar="N", help="draw a head of this layer, from 0")
    parser.add_argument(
        "--head", type=int, metavar="N", help="draw this head, from 0; otherwise the most focused"
    )
    parser.add_argument(
        "--texts",
        metavar="FILE",
        type=Path,
        help="many texts, one a line, each a bundle in the folder --output",
    )
    parser.add_argument("--output", metavar="FILE.bundle", type=Path, help="keep the recording")
    parser.add_argument("--json", action="store_true", help="a summary for programs, not for people")


def add_text(parser: Parser) -> None:
    """A text, in words or in a file."""
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what the model reads")
    parser.add_argument("--file", metavar="FILE", type=Path, help="read the text from a file; - is stdin")


def add_device(parser: Parser) -> None:
    """Where the model runs."""
    parser.add_argument("--device", help="where to run, as cpu or cuda (cpu)")


def run_record(arguments: Arguments) -> None:
    """Record a model on a text, draw it, keep it."""
    from glassformer.recorders.checks import check_want
    from glassformer.recorders.destination import heading_for
    from glassformer.recorders.record import load
    from glassformer.render.summary import summarise, to_json

    require_model(arguments.model)
    text = None if arguments.texts else _find_text(arguments)
    target = None if arguments.target is None else require_text(arguments.target)
    want = check_want([word.strip() for word in arguments.want.split(",") if word.strip()], ours=True)
    edits = [read_edit(edit) for edit in arguments.edit]
    _check_texts(arguments)
    subject: Any = load(arguments.model, device=arguments.device)
    subject.kernel = arguments.kernel
    decode = _find_decoding(arguments, subject)

    def record(text: str) -> "Recording":
        made: Recording = subject.record(
            text,
            target,
            target_language=arguments.target_language,
            second_text=arguments.second,
            decode=decode,
            want=want,
            edits=edits,
        )
        return made

    if text is None:
        record_all(subject, arguments.texts, arguments.output, record)
        return
    kept = heading_for(arguments.output, subject) if arguments.output else nullcontext()
    with kept as destination:
        recording = record(text)
        printed = to_json(summarise(recording)) if arguments.json else _tell(recording, arguments)
        if destination is not None:
            destination.finish(recording)
    print(printed)
    if arguments.output and not arguments.json:
        print(f"\nKept in {arguments.output}.")


def _check_texts(arguments: Arguments) -> None:
    if arguments.texts is None:
        return
    if arguments.text is not None or arguments.file is not None:
        raise InputError("There is a text beside --texts; leave one of them out.")
    if arguments.output is None:
        raise InputError("--texts writes one bundle for each line; say where: --output FOLDER.")
    if arguments.output.is_file():
        raise InputError(f"{arguments.output} is a file; --texts needs a folder to write into.")
    if arguments.target is not None or arguments.second is not None or arguments.json:
        raise InputError("--target, --second and --json are for one text; leave them out with --texts.")


def add_long(parser: Parser) -> None:
    """The words of `long`."""
    parser.add_argument(
        "--tokens", type=int, metavar="N", default=100_000, help="the length of the text (100000)"
    )
    parser.add_argument(
        "--output", metavar="FILE.bundle", type=Path, default=Path("long.bundle"), help="(long.bundle)"
    )
    add_device(parser)


def run_long(arguments: Arguments) -> None:
    """Record a small rotary model on a text of any length."""
    from glassformer.recorders.checks import check_device
    from glassformer.recorders.destination import heading_for
    from glassformer.recorders.long import invent_text, open_rotary

    check_device(arguments.device)
    subject = open_rotary()
    if arguments.device is not None:
        subject.network.to(arguments.device)
    text = invent_text(subject, arguments.tokens)
    print(f"{subject.name} reads {arguments.tokens:,} tokens. (100,000 take minutes on a CPU.)", flush=True)
    begun = time.monotonic()
    with heading_for(arguments.output, subject) as destination:
        subject.keep = _telling(destination.keep)
        recording = subject.record(text)
        picture = _draw(recording)
        destination.finish(recording)
    size = arguments.output.stat().st_size
    print(f"\n{picture}\n")
    print(f"Kept in {arguments.output}: {size / 2**20:.0f} MiB, {time.monotonic() - begun:.0f} seconds.")


def _telling(keep: "Keep") -> "Keep":
    """The same, and a word for whoever waits in front of a terminal: a layer is done."""

    def keep_and_tell(name: str, tensor: Any) -> Any:
        if name.endswith("/keys") and sys.stderr.isatty():
            _, stack, _, layer, _ = name.split("/")
            print(f"{stack} layer {layer} measured", file=sys.stderr)
        return keep(name, tensor)

    return keep_and_tell


def _find_text(arguments: Arguments) -> str:
    if (arguments.text is None) == (arguments.file is None):
        which = "no text" if arguments.text is None else "a text and a --file"
        raise InputError(f"There is {which}; give one TEXT in quotation marks, or --file FILE.")
    return require_text(arguments.text if arguments.file is None else read_text(arguments.file))


def _find_decoding(arguments: Arguments, subject: Any) -> Any:
    from glassformer.model.generate import GREEDY

    habit = getattr(subject, "generation", GREEDY)
    if arguments.max_new_tokens is not None:
        habit = replace(habit, max_new_tokens=arguments.max_new_tokens)
        shape = getattr(subject, "shape", None)  # a model of transformers has none and decides for itself
        if arguments.decode is None and shape not in (None, "encoder-decoder"):
            raise InputError("--max-new-tokens would do nothing: nothing is written without --decode.")
    if arguments.decode is not None:
        return read_decoding(arguments.decode, habit)
    return None if arguments.max_new_tokens is None else habit


def _tell(recording: "Recording", arguments: Arguments) -> str:
    """What the model wrote, if it did; the picture; what else has to be said of the numbers."""
    from glassformer.render.terminal.heatmap import wrap

    notes = [wrap(f"Note:  {note}.", count_columns(), hanging=7) for note in recording.evidence.notes]
    lines = [_tell_written(recording), _draw(recording, arguments), "\n".join(notes)]
    return "\n\n".join(filter(None, lines))


def _tell_written(recording: "Recording") -> str:
    generation = recording.generation
    if generation is None:
        return ""
    text = (recording.target or recording.source).text or generation.text
    tree = f", {len(generation.nodes)} hypotheses on the way" if generation.nodes else ""
    likely = sum(step.log_probability for step in generation.steps)
    text = for_people(text, sys.stdout)
    return f"Written:  {text}\n          ({generation.method}, {len(generation.steps)} steps{tree}; " + (
        f"log-probability {likely:.2f})"
    )


def _draw(recording: "Recording", arguments: Arguments | None = None) -> str:
    from glassformer.render.terminal.colours import wants_colour
    from glassformer.render.terminal.heatmap import draw_recording

    names = ("part", "layer", "head")
    chosen = {} if arguments is None else {name: getattr(arguments, name) for name in names}
    colour = wants_colour(sys.stdout, os.environ)
    return draw_recording(recording, **chosen, columns=count_columns(), colour=colour)


def _own_name() -> str:
    """What a person types to get here again."""
    beside = Path(sys.executable).with_name("glassformer")
    if shutil.which("glassformer"):
        return "glassformer"
    return os.path.relpath(beside) if beside.exists() else f"{os.path.relpath(sys.executable)} -m glassformer"
