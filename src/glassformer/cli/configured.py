"""Options of a verb from a TOML file and from environment variables.

In:   `--config FILE` among the arguments; variables such as GLASSFORMER_SERVE_PORT.
Out:  the same as arguments before those of the command line, so that all are checked by one parser.

An option on the command line overrides a variable, a variable overrides the file; options that may be
repeated add up. A key is the name of an option with - or _: `allow-host = ["glass.example.org"]`.
"""

import argparse
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from glassformer.cli.parser import Parser
from glassformer.errors import InputError
from glassformer.registry import suggestion

CONFIG = "--config"


def add_config(parser: Parser, verb: str) -> None:
    """Let the options of a verb come from a file and from variables GLASSFORMER_VERB_OPTION too."""
    parser.add_argument(CONFIG, metavar="FILE.toml", type=Path)
    prefix = f"GLASSFORMER_{verb.upper()}_"
    parser.read_defaults = lambda given: [
        *_read_file(parser, given, os.environ.get(f"{prefix}CONFIG")),
        *_read_variables(parser, prefix, os.environ),
    ]


def _read_file(
    parser: argparse.ArgumentParser, given: Sequence[str], from_environment: str | None
) -> Iterator[str]:
    finder = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    finder.add_argument(CONFIG, default=from_environment)
    try:
        path = finder.parse_known_args(given)[0].config
    except argparse.ArgumentError:  # without a value: the parser of the verb says so
        return
    if path is None:
        return
    try:
        with Path(path).expanduser().open("rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise InputError(
            "cli.config.unreadable", path=str(path), error=error.strerror or str(error)
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("cli.config.no_toml", path=str(path), error=str(error)) from error
    options = _list_options(parser)
    for key, value in values.items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            near = suggestion(key.replace("_", "-"), [name.replace("_", "-") for name in options])
            raise InputError("cli.config.unknown", path=str(path), key=key, suggestion=near)
        yield from _write_option(option, value, f"{key} ({path})")


def _read_variables(
    parser: argparse.ArgumentParser, prefix: str, variables: Mapping[str, str]
) -> Iterator[str]:
    for name, option in _list_options(parser).items():
        text = variables.get(f"{prefix}{name.upper()}")
        if text is None or text == "":
            continue
        value: Any = text
        if option.nargs == 0:
            words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
            value = words.get(text.lower(), text)
        elif _is_list(option):
            value = [each.strip() for each in text.split(",") if each.strip()]
        yield from _write_option(option, value, f"{prefix}{name.upper()}")


def _list_options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """What may be configured, by name: not the file itself, nor the help."""
    return {
        action.dest: action
        for action in parser._actions
        if action.dest not in ("help", CONFIG.removeprefix("--"))
    }


def _is_list(option: argparse.Action) -> bool:
    return isinstance(option, argparse._AppendAction) or option.nargs == "*"


def _write_option(option: argparse.Action, value: object, place: str) -> Iterator[str]:
    """A value as arguments; InputError for one of another kind."""
    if option.nargs == 0:
        if not isinstance(value, bool):
            raise InputError("cli.config.no_switch", place=place, value=str(value))
        if value:
            yield option.option_strings[-1]
        return
    values = value if isinstance(value, list) and _is_list(option) else [value]
    for each in values:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise InputError("cli.config.wrong_kind", place=place, value=str(each))
        # With "=", so that a value that begins with a dash is not taken for an option.
        yield f"{option.option_strings[-1]}={each}" if option.option_strings else str(each)
