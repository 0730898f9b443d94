"""The verbs, one file each, found by being here."""

from importlib import import_module
from pkgutil import iter_modules

from glassformer.cli.verb import Verb, read_verb


def find_verbs() -> tuple[Verb, ...]:
    """Every verb, in the order of the help."""
    verbs = [read_verb(import_module(f"{__name__}.{module.name}")) for module in iter_modules(__path__)]
    return tuple(sorted(verbs, key=lambda verb: (verb.position, verb.name)))
