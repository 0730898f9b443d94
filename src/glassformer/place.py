"""The address of an attention map: stack, kind, layer and generation step. The only one, everywhere.

In:   `Place("decoder", "cross", 3)`, or its text in a URL: `Place.parse("decoder.cross.3")`.
Out:  a tuple that recordings, edits, scores, run logs, HTTP and URLs share.
"""

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Literal, NamedTuple

from glassformer.errors import InputError, RecordingError
from glassformer.messages import Message, message

Kind = Literal["self", "cross"]
Reading = Literal["written", "entered"]  # the word that names a row of cross-attention, see recording/axes.py

_ADDRESS = re.compile(
    r"(?P<stack>.+)\.(?P<kind>self|cross)\.(?P<layer>\d{1,9})(@(?P<step>\d{1,9}))?", re.ASCII
)


class Place(NamedTuple):
    """Where attention happens; layers are counted within stack and kind, in the order of their calls.

    >>> place = gf.Place("decoder", "cross", 3)
    >>> place.address, str(place)
    ('decoder.cross.3', 'decoder layer 3, cross')
    >>> gf.Place.parse("decoder.cross.3") == place
    True
    """

    stack: str  # "encoder" or "decoder"; models with more stacks name them by their modules
    kind: Kind
    layer: int
    step: int | None = None  # of generation; None: the map of a whole pass

    @property
    def address(self) -> str:
        """As in URLs: decoder.cross.3, or decoder.cross.3@2 for generation step 2."""
        step = "" if self.step is None else f"@{self.step}"
        return f"{self.stack}.{self.kind}.{self.layer}{step}"

    @classmethod
    def parse(cls, address: str) -> "Place":
        """The place behind an address; InputError where it is none."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise InputError("place.malformed", address=address)
        kind: Kind = "self" if found["kind"] == "self" else "cross"
        step = None if found["step"] is None else int(found["step"])
        return cls(found["stack"], kind, int(found["layer"]), step)

    def as_message(self) -> Message:
        """For a person: decoder layer 3, cross."""
        stack, kind = name_term(self.stack), name_term(self.kind)
        if self.step is None:
            return message("place.map", stack=stack, layer=self.layer, kind=kind)
        return message("place.map_at_step", stack=stack, layer=self.layer, kind=kind, step=self.step)

    def __str__(self) -> str:
        return str(self.as_message())


def match_places(
    places: Iterable[Place],
    place: Place | str | None = None,
    kind: Kind = "self",
    layer: int = 0,
    step: int | None = None,
) -> list[Place]:
    """Those that are asked for: by place, by address, or by stack (None: any) and the rest.

    A negative layer is counted from the last one of its stack: -1 is the last.
    """
    known = list(places)
    if not (isinstance(place, Place | str | None) and isinstance(kind, str) and isinstance(layer, Integral)):
        raise RecordingError("place.wrong_parts", stack=place, kind=kind, layer=layer)
    if isinstance(place, str) and all(each.stack != place for each in known):
        place = _read_address(place)
    if isinstance(place, Place):
        return [each for each in known if each == place]
    alike = [each for each in known if place in (None, each.stack) and (each.kind, each.step) == (kind, step)]
    last = {stack: max(each.layer for each in alike if each.stack == stack) for stack, *_ in alike}
    return [each for each in alike if each.layer == (layer if layer >= 0 else last[each.stack] + 1 + layer)]


def as_place(place: Place | str, kind: Kind, layer: int, step: int | None) -> Place:
    """The place that is meant: as it is, by its address, or by its stack and the rest."""
    place = _read_address(place) if isinstance(place, str) else place
    return place if isinstance(place, Place) else Place(place, kind, layer, step)


def _read_address(text: str) -> Place | str:
    """The place behind an address; the text itself where it is none, but the name of a stack."""
    return Place.parse(text) if _ADDRESS.fullmatch(text) else text


def name_term(name: str) -> Message:
    """A stack, a kind or something recorded as a message; a name that is not ours stays as it is."""
    return Message(f"term.{name}", {}, str(name).replace("{", "{{").replace("}", "}}"))
