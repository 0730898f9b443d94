"""The command line: one screen of verbs, each a thin function over the library.

In:   the arguments of a terminal.
Out:  text on stdout, one sentence on stderr when something is wrong, an exit code.

A verb is one file of `cli/verbs/`. Nothing heavy is imported before a verb needs it, so `--help` is fast.
"""

import io
import os
import sys
from argparse import SUPPRESS
from collections.abc import Sequence
from typing import Any

from glassformer import __version__
from glassformer.cli.output import print_error
from glassformer.cli.parser import Arguments, Parser, translate_argparse
from glassformer.cli.verb import LAST, Verb
from glassformer.cli.verbs import find_verb, find_verbs
from glassformer.errors import GlassformerError, is_out_of_memory
from glassformer.messages import detect_language, message, set_language

__all__ = ["Arguments", "Parser", "Verb", "build_parser", "find_verbs", "main"]

DEFAULT_VERB = "serve"
PROGRAM_OPTIONS = ("-h", "--help", "--version")  # of the program itself; all others belong to a verb
SELDOM = 170  # verbs from this position up to those of plug-ins share one line: the help fits on one screen


def build_parser(only: Verb | None = None) -> Parser:
    """The parser of every verb, or of one; no verb at all means `serve`."""
    translate_argparse()
    usage = (
        "glassformer [-h] [--version] VERB ..."  # what options do is clear: the list of verbs has the screen
    )
    about = str(message("cli.about"))
    verbs = find_verbs() if only is None else (only,)
    seldom = [verb.name for verb in verbs if SELDOM <= verb.position < LAST]
    more = str(message("cli.more_verbs", verbs=", ".join(seldom)))
    parser = Parser(prog="glassformer", usage=usage, description=about, epilog=more, add_help=False)
    parser.add_argument("-h", "--help", action="help", help=SUPPRESS)
    version = f"glassformer {__version__}"
    parser.add_argument("--version", action="version", version=version, help=SUPPRESS)
    parser.set_defaults(build_parser=build_parser)
    parsers = parser.add_subparsers(
        title=str(message("cli.verbs_title")), metavar="VERB", dest="verb", prog="glassformer"
    )
    for verb in verbs:
        summary = str(verb.describe()).replace("%", "%%")
        listed: dict[str, Any] = {} if verb.name in seldom else {"help": summary}
        verb_parser = parsers.add_parser(
            verb.name,
            **listed,
            description=str(message("cli.description", summary=f"{summary[:1].upper()}{summary[1:]}")),
            epilog="\n  ".join((str(message("cli.examples")), *verb.examples)) if verb.examples else None,
        )
        verb_parser.areas = (verb.name,)
        if verb.add_arguments is not None:
            verb.add_arguments(verb_parser)
        verb_parser.set_defaults(run=verb.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Exit codes: 0 done, 2 an error that a person can correct, 130 interrupted, 141 the reader of stdout left.
    """
    set_language(detect_language())
    _prepare_streams()
    try:
        given = _name_verb(sys.argv[1:] if argv is None else list(argv))
        arguments = build_parser(find_verb(given[0])).parse_args(given)
        arguments.run(arguments)
        sys.stdout.flush()
    except GlassformerError as error:
        return print_error(str(error))
    except KeyboardInterrupt:
        return 130
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return print_error(str(message("cli.errors.no_memory")))
    except BrokenPipeError:
        # Python flushes stdout once more on its way out: give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return print_error(str(message("cli.errors.os", error=f"{place}{error.strerror or error}")))
    return 0


def _name_verb(given: list[str]) -> list[str]:
    """The arguments with a verb in front: `serve`, where none is given or an option comes first."""
    if given and (not given[0].startswith("-") or given[0] in PROGRAM_OPTIONS):
        return given
    return [DEFAULT_VERB, *given]


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the calling process
            setattr(sys, name, io.StringIO())
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ░ or 中 shows ? instead of failing
