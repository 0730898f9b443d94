"""The command line: one screen of verbs, each a thin function over a room.

In:   words from a terminal.
Out:  text on stdout, one sentence on stderr when something is wrong, an exit code.

Nothing heavy is imported before a verb needs it: `--help` answers at once. One file here for each group of
verbs.
"""

import io
import os
import sys
from collections.abc import Sequence

from glassformer import __version__
from glassformer.cli.answering import (
    add_classify,
    add_fill,
    add_generate,
    add_translate,
    run_classify,
    run_fill,
    run_generate,
    run_translate,
)
from glassformer.cli.completion import add_completion, complete
from glassformer.cli.doctor import add_doctor, run_doctor
from glassformer.cli.examples import tell_examples
from glassformer.cli.models import add_convert, add_models, run_convert, run_models
from glassformer.cli.recording import add_long, add_record, run_demo, run_long, run_record
from glassformer.cli.scoring import add_metrics, add_score, run_metrics, run_score
from glassformer.cli.serving import add_serve, run_serve, serve_at_once
from glassformer.cli.showing import add_export, add_figure, add_show, run_export, run_figure, run_show
from glassformer.cli.training import add_runs, add_train, run_runs, run_train
from glassformer.cli.verb import Arguments, Parser, Verb, add_nothing, refuse
from glassformer.errors import GlassformerError

__all__ = ["VERBS", "Arguments", "Parser", "Verb", "build_parser", "main"]

VERBS = (
    Verb("serve", "open the page in a browser (what happens without a verb)", add_serve, run_serve),
    Verb("demo", "watch a tiny network at work, in the terminal", add_nothing, run_demo),
    Verb("record", "record a model on a text and draw where it looks", add_record, run_record),
    Verb("show", "draw a recording in the terminal", add_show, run_show),
    Verb("export", "write a recording as one HTML file that needs no server", add_export, run_export),
    Verb("figure", "draw a recording or a training run for a paper", add_figure, run_figure),
    Verb("score", "measure the heads of a recording", add_score, run_score),
    Verb("metrics", "list what can be measured", add_metrics, run_metrics),
    Verb("long", "make a recording of 100,000 tokens", add_long, run_long),
    Verb("train", "train what a recipe describes", add_train, run_train),
    Verb("runs", "list training runs, draw their curves and alarms", add_runs, run_runs),
    Verb("translate", "translate texts", add_translate, run_translate),
    Verb("generate", "go on writing, word by word", add_generate, run_generate),
    Verb("classify", "name the class of texts", add_classify, run_classify),
    Verb("fill", "guess the words at [MASK]", add_fill, run_fill),
    Verb("convert", "write a model as a folder that transformers opens, too", add_convert, run_convert),
    Verb("models", "list what can be opened", add_models, run_models),
    Verb("doctor", "look at this machine: what is installed, what is missing", add_doctor, run_doctor),
    Verb(
        "completion", "teach a shell these words", add_completion, lambda words: complete(words, build_parser)
    ),
)


def build_parser() -> Parser:
    """The parser of every verb in VERBS; no verb at all means `serve`."""
    parser = Parser(prog="glassformer", description="A Transformer you can see through.")
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    parser.set_defaults(run=serve_at_once)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for verb in VERBS:
        verb_parser = verbs.add_parser(
            verb.name,
            help=verb.summary,
            description=f"{verb.summary[0].upper()}{verb.summary[1:]}.",
            epilog=tell_examples(verb.name),
        )
        verb.add_arguments(verb_parser)
        verb_parser.set_defaults(run=verb.run, verb=verb.name)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 done, 2 a person can mend it, 130 interrupted, 141 nobody reads on."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, io.StringIO())
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ░ or 中 shows ? instead of failing
    try:
        arguments = build_parser().parse_args(words)
        arguments.run(arguments)
        sys.stdout.flush()
    except GlassformerError as error:
        return refuse(str(error))
    except KeyboardInterrupt:
        return 130
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        return refuse(
            "There is too little memory here; take fewer beams, fewer new tokens, "
            "a shorter text or a smaller model."
        )
    except BrokenPipeError:
        # Python flushes stdout once more on its way out: give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return refuse(
            f"{place}{error.strerror or error}. Check the path, its permissions and the space left."
        )
    return 0
