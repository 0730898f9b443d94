"""The command line: one screen of verbs, each a thin function over a room.

In:   words from a terminal.
Out:  text on stdout, one sentence on stderr when something is wrong, an exit code.

Nothing heavy is imported before a verb needs it: `--help` answers at once.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from glassformer import __version__
from glassformer.errors import GlassformerError

Arguments = argparse.Namespace
Parser = argparse.ArgumentParser


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the table below: a word, what it does, its arguments and its function."""

    name: str
    summary: str
    add_arguments: Callable[[Parser], None]
    run: Callable[[Arguments], None]


def _demo(_: Arguments) -> None:
    print("The demonstration is being built.")


def _add_nothing(_: Parser) -> None:
    """For a verb without arguments."""


VERBS = (
    Verb("demo", "record a tiny network on a preset sentence and draw what it saw", _add_nothing, _demo),
)


def build_parser() -> Parser:
    """The parser of every verb in VERBS; no verb at all means `demo`."""
    parser = Parser(prog="glassformer", description="A Transformer you can see through.")
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    parser.set_defaults(run=_demo)
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
