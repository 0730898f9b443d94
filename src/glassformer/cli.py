"""The command line: one screen of verbs, each a thin function over a room.

In:   words from a terminal.
Out:  text on stdout, one plain sentence on stderr when something is wrong, an exit code. Nothing heavy is imported
      before a verb needs it.
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


def _no_arguments(parser: Parser) -> None:
    """For a verb that takes none."""


def _demo(arguments: Arguments) -> None:
    print("The demonstration is being built.")


VERBS = (Verb("demo", "record a tiny network on a preset sentence and draw what it saw", _no_arguments, _demo),)


def build_parser() -> Parser:
    """The parser of every verb in VERBS; no verb at all means `demo`."""
    parser = Parser(prog="glassformer", description="A Transformer you can see through.")
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for verb in VERBS:
        verb_parser = verbs.add_parser(verb.name, help=verb.summary, description=verb.summary)
        verb.add_arguments(verb_parser)
        verb_parser.set_defaults(run=verb.run)
    parser.set_defaults(run=_demo)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; exit codes: 0 done, 2 a person can mend it, 130 interrupted, 141 nobody reads on."""
    arguments = build_parser().parse_args(words)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except GlassformerError as error:
        print(f"glassformer: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Python flushes stdout once more on its way out: give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0
