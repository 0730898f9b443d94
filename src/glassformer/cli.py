"""The command line: one screen of verbs, each a thin function over a room.

In:   words from a terminal.
Out:  text on stdout, one sentence on stderr when something is wrong, an exit code.

Nothing heavy is imported before a verb needs it: `--help` answers at once.
"""

import argparse
import io
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from glassformer import __version__
from glassformer.errors import GlassformerError, InputError

if TYPE_CHECKING:
    from glassformer.model.choosing import GenerationSettings
    from glassformer.weights.checkpoint import Checkpoint

Arguments = argparse.Namespace


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence, as all others here."""

    def error(self, message: str) -> NoReturn:
        self.exit(_refuse(f"{message}. `{self.prog} --help` says what there is."))


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the table below: a word, what it does, its arguments and its function."""

    name: str
    summary: str
    add_arguments: Callable[[Parser], None]
    run: Callable[[Arguments], None]


def _run_demo(_: Arguments) -> None:
    from glassformer.recorders.demo import SENTENCE, STEPS, teach_translator
    from glassformer.recorders.recorder import load
    from glassformer.show.colours import wants_colour
    from glassformer.show.terminal import draw_recording

    def report(step: int, loss: float) -> None:
        if sys.stdout.isatty() or step + 1 == STEPS:
            start = "\r" if sys.stdout.isatty() else ""
            print(f"{start}  step {step + 1} of {STEPS}, loss {loss:.3f}", end="", flush=True)

    print("A tiny Transformer learns to translate, from sentences made up as it goes:")
    recording = load(*teach_translator(report), name="demo").record(SENTENCE)
    assert recording.target is not None
    print(f"\n\n  {SENTENCE}\n  {recording.target.text}\n")
    print(draw_recording(recording, columns=_columns(), colour=wants_colour(sys.stdout, os.environ)))
    print("\nEach row is a word it has read → the word it writes next. French puts the colour")
    print("last: for `chat` it looks past `white` at `cat`, and for `blanc` back again.")
    print(f'\nYour turn:\n  {_own_name()} record gpt2 "The animal was too tired to cross the street"')


def _own_name() -> str:
    """What a person types to get here again."""
    beside = Path(sys.executable).with_name("glassformer")
    if shutil.which("glassformer"):
        return "glassformer"
    return os.path.relpath(beside) if beside.exists() else f"{os.path.relpath(sys.executable)} -m glassformer"


def _add_record(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL)
    parser.add_argument("text", metavar="TEXT", help="what the model reads")
    parser.add_argument(
        "--target", metavar="TEXT", help="a translation to read along; without it, the model's own"
    )
    parser.add_argument("--output", metavar="FILE.bundle", type=Path, help="keep the recording")
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help="draw a head of this part")
    parser.add_argument("--layer", type=int, metavar="N", help="draw a head of this layer, from 0")
    parser.add_argument(
        "--head", type=int, metavar="N", help="draw this head, from 0; otherwise the most focused"
    )


def _run_record(arguments: Arguments) -> None:
    from glassformer import bundle
    from glassformer.recorders.recorder import load
    from glassformer.show.colours import wants_colour
    from glassformer.show.terminal import draw_recording

    text = _require_text(arguments.text)
    target = None if arguments.target is None else _require_text(arguments.target)
    recording = load(arguments.model).record(text, target)
    chosen = {"part": arguments.part, "layer": arguments.layer, "head": arguments.head}
    colour = wants_colour(sys.stdout, os.environ)
    picture = draw_recording(recording, **chosen, columns=_columns(), colour=colour)
    if arguments.output:
        bundle.save(recording, arguments.output)
    print(picture)
    if arguments.output:
        print(f"\nKept in {arguments.output}.")


def _add_generate(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL)
    parser.add_argument("text", metavar="TEXT", help="what to continue, or to translate")
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


def _run_generate(arguments: Arguments) -> None:
    from glassformer.model.choosing import GenerationSettings
    from glassformer.weights.checkpoint import open_checkpoint
    from glassformer.weights.hub import find_folder

    words = {field.name for field in fields(GenerationSettings)}
    asked = {name: value for name, value in vars(arguments).items() if name in words and value is not None}
    if asked.get("sample"):
        asked.setdefault("beams", 1)  # whatever the model's own habit is
    elif asked.get("beams", 1) > 1:
        asked["sample"] = False
    text = _require_text(arguments.text)
    checkpoint = open_checkpoint(find_folder(arguments.model))
    settings = replace(checkpoint.generation, **asked)
    if idle := _find_idle(asked, settings):
        raise InputError(idle)
    for piece in _generate(checkpoint, text, settings):
        print(piece, end="", flush=True)


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


def _generate(checkpoint: "Checkpoint", text: str, settings: "GenerationSettings") -> Iterator[str]:
    """The answer piece by piece as it grows; a beam search only knows its answers at the end."""
    import torch

    from glassformer.model.generate import generate, stream
    from glassformer.text.tokenizer import open_tokenizer

    if checkpoint.tokenizer is None:
        raise InputError("The model folder has no tokenizer, so text cannot be read; add its tokenizer.json.")
    tokenizer = open_tokenizer(checkpoint.tokenizer)
    continues = getattr(checkpoint.config, "shape", None) == "decoder"
    prompt = list(tokenizer.encode(text).ids)
    if continues and len(prompt) > 1 and prompt[-1] == tokenizer.roles.get("end"):
        prompt.pop()  # the end of the prompt is not the end of the text; alone, GPT-2 starts a text with it
    ids = torch.tensor([prompt])
    if settings.beams > 1:
        for answer in generate(checkpoint.network, ids, None, settings)[0].n_best:
            yield tokenizer.decode([*prompt, *answer.words] if continues else answer.words)
            yield f"  ({answer.score:.3f})\n" if settings.n_best > 1 else "\n"
        return
    known, shown = list(prompt) if continues else [], ""
    for nodes in itertools.chain([[]], stream(checkpoint.network, ids, None, settings)):
        known += [node.token for node in nodes]
        whole = tokenizer.decode(known).rstrip("\ufffd")  # half a character waits for its other half
        yield whole[len(shown) :]
        shown = whole
    yield "\n"


def _add_convert(parser: Parser) -> None:
    parser.add_argument("source", metavar="MODEL", help=MODEL)
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="where to write config.json and model.safetensors"
    )
    parser.add_argument(
        "--dtype", choices=("float32", "float16", "bfloat16"), help="the precision of the file"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the model that is already in FOLDER"
    )


def _run_convert(arguments: Arguments) -> None:
    import torch

    from glassformer.text.tokenizer import open_tokenizer
    from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
    from glassformer.weights.hub import find_folder

    if (arguments.folder / "config.json").exists() and not arguments.overwrite:
        raise InputError(
            f"There is a model in {arguments.folder} already; choose another folder or add --overwrite."
        )
    checkpoint = open_checkpoint(find_folder(arguments.source))
    kind = save_checkpoint(
        checkpoint.network,
        arguments.folder,
        None if checkpoint.tokenizer is None else open_tokenizer(checkpoint.tokenizer),
        getattr(torch, arguments.dtype) if arguments.dtype else None,
        generation=checkpoint.generation,
        labels=checkpoint.labels,
    )
    print(f"Wrote {arguments.folder}, a model of the kind {kind}.")


def _run_models(_: Arguments) -> None:
    from glassformer.weights.presets import PRESETS

    print("MODEL is a folder, or the name of a GPT-2, BERT, ALBERT or Marian on the Hugging Face hub.")
    print("Published sizes; encoder-decoders have other names there, such as Helsinki-NLP/opus-mt-en-de:\n")
    print(f"{'':20} {'shape':16} {'layers':>6} {'width':>6} {'heads':>6} {'words':>6}")
    for name, config in PRESETS.items():
        shown = f"({name})" if config.shape == "encoder-decoder" else name
        numbers = (config.layers, config.width, config.heads, config.vocabulary_size)
        print(f"{shown:20} {config.shape:16} " + " ".join(f"{number:6d}" for number in numbers))


def _columns() -> int:
    return min(shutil.get_terminal_size().columns, 160)


def _add_nothing(_: Parser) -> None:
    """For a verb without arguments."""


def _require_text(text: str) -> str:
    if not text.strip():
        raise InputError("The text is empty; give a sentence, in quotation marks.")
    return text


MODEL = "a folder, or a name on the Hugging Face hub; `glassformer models` lists some"

VERBS = (
    Verb("demo", "watch a tiny network at work (what happens without a verb)", _add_nothing, _run_demo),
    Verb("record", "record a model on a text and draw where it looks", _add_record, _run_record),
    Verb("generate", "continue or translate a text, word by word", _add_generate, _run_generate),
    Verb("convert", "write a model as a folder that transformers opens, too", _add_convert, _run_convert),
    Verb("models", "list what can be opened", _add_nothing, _run_models),
)


def build_parser() -> Parser:
    """The parser of every verb in VERBS; no verb at all means `demo`."""
    parser = Parser(prog="glassformer", description="A Transformer you can see through.")
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    parser.set_defaults(run=_run_demo)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for verb in VERBS:
        verb_parser = verbs.add_parser(
            verb.name, help=verb.summary, description=f"{verb.summary.capitalize()}."
        )
        verb.add_arguments(verb_parser)
        verb_parser.set_defaults(run=verb.run)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 done, 2 a person can mend it, 130 interrupted, 141 nobody reads on."""
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = io.StringIO()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ░ or 中 shows ? instead of failing
    arguments = build_parser().parse_args(words)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except GlassformerError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        return _refuse(
            "There is too little memory here; take fewer beams, a shorter text or a smaller model."
        )
    except BrokenPipeError:
        # Python flushes stdout once more on its way out: give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _refuse(
            f"{place}{error.strerror or error}. Check the path, its permissions and the space left."
        )
    return 0


def _refuse(message: str) -> int:
    print(f"glassformer: {message}", file=sys.stderr)
    return 2
