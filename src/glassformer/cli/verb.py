"""A verb of the command line: its name, its arguments, its function, its examples.

In:   a file of `cli/verbs/` with `run(arguments)` and, where needed, `add_arguments(parser)`, EXAMPLES, its
      POSITION in the help, and an English SUMMARY where there is no catalogue. Its file names the verb.
Out:  a `Verb`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import Message, message

LAST = 1000  # position in the help


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb; `summary` is the English text of a plug-in that has no catalogue."""

    name: str
    run: Callable[[Arguments], None]
    add_arguments: Callable[[Parser], None] | None = None
    examples: tuple[str, ...] = ()
    position: int = LAST
    summary: str | None = None

    def describe(self) -> Message:
        """What it does, in a few words."""
        return message(f"cli.verbs.{self.name}", self.summary)


def read_verb(module: Any) -> Verb:
    """The verb of a file."""
    return Verb(
        module.__name__.rpartition(".")[2],
        module.run,
        getattr(module, "add_arguments", None),
        getattr(module, "EXAMPLES", ()),
        getattr(module, "POSITION", LAST),
        getattr(module, "SUMMARY", None),
    )
