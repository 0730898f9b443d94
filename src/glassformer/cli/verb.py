"""A verb of the command line: its name, its arguments, its function, its examples.

In:   files of `cli/verbs/`, each with one `VERB`.
Out:  the verbs in the order of the help.
"""

from collections.abc import Callable
from dataclasses import dataclass

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import Message, message


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb; `summary` is the English text of a plug-in that has no catalogue."""

    name: str
    add_arguments: Callable[[Parser], None]
    run: Callable[[Arguments], None]
    examples: tuple[str, ...] = ()
    position: int = 1000  # in the help
    summary: str | None = None

    def describe(self) -> Message:
        """What it does, in a few words."""
        return message(f"cli.verbs.{self.name}", self.summary)


def add_nothing(_: Parser) -> None:
    """For a verb without arguments."""
