"""The verbs, one file each, found by being here: a file has one `VERB`."""

from importlib import import_module
from pkgutil import iter_modules

from glassformer.cli.verb import Verb


def find_verbs() -> tuple[Verb, ...]:
    """Every verb, in the order of the help."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    verbs: list[Verb] = [module.VERB for module in modules]
    return tuple(sorted(verbs, key=lambda verb: (verb.position, verb.name)))
