"""The verbs, one file each, found by being here."""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from glassformer.cli.verb import Verb, read_verb


def find_verb(name: str) -> Verb | None:
    """One verb, without importing the others."""
    if not name.isidentifier() or find_spec(f"{__name__}.{name}") is None:
        return None
    return read_verb(import_module(f"{__name__}.{name}"))


def find_verbs() -> tuple[Verb, ...]:
    """Every verb, in the order of the help."""
    verbs = [read_verb(import_module(f"{__name__}.{module.name}")) for module in iter_modules(__path__)]
    return tuple(sorted(verbs, key=lambda verb: (verb.position, verb.name)))
