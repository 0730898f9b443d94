"""Names for things: a registry that suggests the nearest name when one is not found.

In:   decorated functions and classes, each in a file of its own.
Out:  the thing behind a name, or an error that offers the closest ones.
"""

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

from glassformer.errors import ConfigurationError
from glassformer.messages import Message, message


def suggestion(name: str, known: Iterable[str]) -> Message:
    """The end of an error about an unknown name: the nearest one, and what there is."""
    names = sorted(known)
    near = get_close_matches(str(name), names, n=1, cutoff=0.5)
    if near:
        return message("registry.nearest", near=near[0], names=names)
    return message("registry.known", names=names) if names else message("registry.none")


T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name; `package` names the folder whose files register themselves.

    >>> list(gf.METRICS)[:2]
    ['alignment_error', 'alignment_precision']
    >>> str(gf.METRICS["entropy"].caption)
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._kind = message(f"term.{kind}", default=kind)
        self.package = package
        self._things: dict[str, T] = {}
        self._complete = False
        self._lock = threading.RLock()  # a server asks from several threads; files may ask while imported

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator: put a thing under a name that nothing else has taken."""

        def keep(thing: T) -> T:
            if name in self._things and self._things[name] is not thing:
                raise ConfigurationError("registry.taken", kind=self._kind, name=name)
            self._things[name] = thing
            return thing

        return keep

    def discard(self, name: str) -> None:
        """Take a thing out again: the file that registered it has changed."""
        self._things.pop(name, None)

    def __getitem__(self, name: str) -> T:
        self._import_siblings()
        if not isinstance(name, str) or name not in self._things:
            near = suggestion(name, self._things)
            raise ConfigurationError("registry.unknown", kind=self._kind, name=name, suggestion=near)
        return self._things[name]

    def __contains__(self, name: str) -> bool:
        self._import_siblings()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._import_siblings()
        return iter(sorted(self._things))

    def _import_siblings(self) -> None:
        """Import every file of the package once: a plug-in is one file, dropped in its folder."""
        with self._lock:
            if self._complete:
                return
            self._complete = True
            folder = importlib.import_module(self.package)
            try:
                for module in pkgutil.iter_modules(getattr(folder, "__path__", ())):  # one file has no others
                    importlib.import_module(f"{self.package}.{module.name}")
            except BaseException:
                self._complete = False  # the next call imports again and reports the broken file
                raise
