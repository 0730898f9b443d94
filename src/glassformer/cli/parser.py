"""The parser of the command line: argparse, in the reader's language.

In:   the arguments of a terminal.
Out:  the same, parsed; a help; an error of one sentence.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any, NoReturn

from glassformer.cli.output import print_error
from glassformer.messages import message
from glassformer.messages.catalogues import FALLBACK, find_template
from glassformer.registry import suggestion
from glassformer.render.terminal.text import measure, wrap

Arguments = argparse.Namespace

# What argparse says by itself: its texts, as it gives them to gettext, and the codes of ours. The parameters
# of ours have argparse's names; {value} where it has none.
_TEXTS = {
    "usage: ": "cli.argparse.usage",
    "options": "cli.argparse.options",
    "positional arguments": "cli.argparse.positionals",
    "show this help message and exit": "cli.argparse.help",
    "argument %(argument_name)s: %(message)s": "cli.argparse.argument",
    "the following arguments are required: %s": "cli.argparse.required",
    "unrecognized arguments: %s": "cli.argparse.unrecognized",
    "ambiguous option: %(option)s could match %(matches)s": "cli.argparse.ambiguous",
    "invalid choice: %(value)r (choose from %(choices)s)": "cli.argparse.choice",
    "invalid %(type)s value: %(value)r": "cli.argparse.type",
    "not allowed with argument %s": "cli.argparse.exclusive",
    "one of the arguments %s is required": "cli.argparse.one_required",
    "ignored explicit argument %r": "cli.argparse.no_value",
    "expected one argument": "cli.argparse.one_value",
    "expected at most one argument": "cli.argparse.at_most_one_value",
    "expected at least one argument": "cli.argparse.some_values",
    "expected %s argument": "cli.argparse.values",
    "expected %s arguments": "cli.argparse.values",
}
_PARAMETER = re.compile(r"%(?:\((\w+)\))?[rs]")


def help_text(code: str, /, default: str | None = None, **parameters: Any) -> str:
    """The help of an option by its code; `default` is the English text of a plug-in without catalogues."""
    return str(message(code, default, **parameters)).replace("%", "%%")


def translate_argparse() -> None:
    """Give argparse our translations instead of those of gettext."""
    module: Any = argparse
    module._ = lambda text: _translate(text)
    module.ngettext = lambda one, many, count: _translate(one if count == 1 else many)


def _translate(text: str) -> str:
    if text not in _TEXTS:
        return text
    parameters = {found[1] or "value": found[0] for found in _PARAMETER.finditer(text)}
    blank = " " if text.endswith(" ") else ""
    return f"{message(_TEXTS[text], **parameters)}{blank}"


class Formatter(argparse.HelpFormatter):
    """A help whose explanations begin in one column, behind the longest verb too."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
        self._action_max_length = 14

    def _format_action(self, action: argparse.Action) -> str:
        """Verbs without a line above them: the heading says what they are."""
        text = super()._format_action(action)
        return text.split("\n", 1)[1] if isinstance(action, argparse._SubParsersAction) else text

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        """argparse counts characters, not columns: lay it out with a prefix of as many characters."""
        shown = _translate("usage: ") if prefix is None else prefix
        counted = "x" * measure(shown)
        return shown + super()._format_usage(usage, actions, groups, counted).removeprefix(counted)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width).split("\n")

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Examples stay the lines that they are."""
        return text if "\n" in text else wrap(text, width, indent=len(indent))


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence; options and other arguments come in any order.

    The help of an argument is `cli.help.AREA.NAME` of the catalogue, of the first area that has it, or
    `cli.help.NAME`.
    """

    areas: tuple[str, ...] = ()  # a verb, and groups of options that verbs share
    read_defaults: Callable[[Sequence[str]], list[str]] | None = None  # arguments before those that are given
    _intermixed = False

    def _add_action(self, action: Any) -> Any:
        if action.help is None:
            codes = (*(f"cli.help.{area}.{action.dest}" for area in self.areas), f"cli.help.{action.dest}")
            code = next((code for code in codes if find_template(code, FALLBACK)), None)
            action.help = None if code is None else help_text(code, usual=action.default)
        return super()._add_action(action)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """`translate MODEL --to fr TEXT` is `translate MODEL TEXT --to fr`; argparse alone refuses it."""
        if self._intermixed or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        if self.read_defaults is not None:
            given = sys.argv[1:] if args is None else list(args)
            args = [*self.read_defaults(given), *given]
        self._intermixed = True
        self.usage = self.format_usage().removeprefix(_translate("usage: ")).replace("%", "%%")
        try:
            found, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixed, self.usage = False, None
        if unknown:  # here, where the help of the verb is the one to name
            self.error(_translate("unrecognized arguments: %s") % " ".join(unknown))
        return found, unknown

    def _get_formatter(self) -> argparse.HelpFormatter:
        return Formatter(self.prog)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Unknown verb: suggest the nearest, or the one that opens a file."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            if os.path.isfile(value):  # a Path in its place refuses very long names
                found = message("cli.errors.file_for_verb", path=value, quoted=quote(value))
            else:
                near = suggestion(value, action.choices)
                found = message("cli.errors.unknown_verb", verb=value, suggestion=near)
            raise argparse.ArgumentError(None, str(found))
        super()._check_value(action, value)

    def error(self, message_text: str) -> NoReturn:
        """End with one sentence and the exit code 2."""
        sentence = message_text.removesuffix(".").removesuffix("。")
        self.exit(print_error(str(message("cli.errors.usage", error=sentence, program=self.prog))))
