"""One text through one model: the noun in the middle of the house.

In:   what a recorder saw.
Out:  Recording, checked and read-only; everything after it only reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.place import Kind
from glassformer.recording.arrays import (
    FLOATS,
    Floats,
    Rebuilt,
    freeze,
    is_mapped,
    keep,
    refuse,
    require_text,
)
from glassformer.recording.attention_map import AttentionMap
from glassformer.recording.evidence import Evidence
from glassformer.recording.generation import Generation, Output
from glassformer.recording.tokens import Tokens

Word = str | int | float | bool | None
LONGEST_TRACE = 256  # tokens of a text that is followed step by step
_WORDS = (str, int, float, type(None))
_DO = "Record again; if it stays, the recorder is at fault."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recording(Rebuilt):
    """Tokens, maps, hidden states, output, generation and the evidence for all of them."""

    model: str
    evidence: Evidence
    source: Tokens
    target: Tokens | None = None
    maps: tuple[AttentionMap, ...] = ()
    hidden: Mapping[str, Floats] = field(default_factory=dict)  # by stack: (layer + 1, token, width)
    output: Output | None = None
    generation: Generation | None = None
    architecture: Mapping[str, Word] | None = None  # the network in plain words, where it is one of ours
    trace: Mapping[str, Floats] = field(default_factory=dict)  # each step of the pass, and the parameters

    def __post_init__(self) -> None:
        require_text("The model of a recording", self.model, "Give the name it was loaded by.")
        if not isinstance(self.evidence, Evidence):
            refuse(f"The evidence is {self.evidence!r}.", "Wanted Evidence.", "Stamp every recording.")
        if self.source.side != "source" or (self.target is not None and self.target.side != "target"):
            refuse(
                "The tokens are on the wrong side.",
                "Wanted source=source tokens, target=target tokens.",
                "Swap them.",
            )
        keep(self, maps=tuple(self.maps))
        self._check_maps()
        self._check_hidden()
        self._check_trace()

    def map(
        self, stack: str | None = None, layer: int = 0, kind: Kind = "self", step: int | None = None
    ) -> AttentionMap:
        """The map of a layer; without `stack`, of the only stack that has such a map."""
        found = [
            each
            for each in self.maps
            if (stack is None or each.stack == stack)
            and (each.layer, each.kind, each.step) == (layer, kind, step)
        ]
        if len(found) != 1:
            asked = f"{kind} map in layer {layer}" + ("" if step is None else f" at step {step}")
            who = (
                f"The {stack} has no" if stack else "More than one stack has a" if found else "No stack has a"
            )
            refuse(
                f"{who} {asked}.",
                f"There are: {self._list_maps()}.",
                "Choose one of these." if self.maps else "Record with attention maps.",
            )
        return found[0]

    def _list_maps(self) -> str:
        """The maps there are, one phrase for each stack and kind."""
        groups: dict[tuple[str, str, bool], list[AttentionMap]] = {}
        for each in self.maps:
            groups.setdefault((each.stack, each.kind, each.step is not None), []).append(each)
        phrases = []
        for (stack, kind, stepped), maps in groups.items():
            layers = sorted({each.layer for each in maps})
            steps = sorted({each.step for each in maps if each.step is not None})
            spread = f", steps {steps[0]} to {steps[-1]}" if stepped else ""
            word = "layer" if len(layers) == 1 else "layers"
            phrases.append(f"{stack} {kind} {word} {_ranges(layers)}{spread}")
        return "; ".join(phrases) or "none"

    def _check_maps(self) -> None:
        seen = set()
        for each in self.maps:
            place = (each.stack, each.layer, each.kind, each.step)
            if place in seen:
                refuse(
                    f"There are two maps called {each.name}.", "Wanted one.", "Number layers by call order."
                )
            seen.add(place)
            if self.target is None and "target" in (each.query.side, each.key.side):
                refuse(f"The map {each.name} has target tokens.", "Wanted a target side.", "Give target=.")
            if each.relaxed is not None and not self.evidence.edits:
                refuse(
                    f"Rows of {each.name} may miss one ({each.relaxed}), but the evidence names no edit.",
                    "Wanted the edit in the evidence.",
                    "List it in Evidence.edits.",
                )

    def _check_hidden(self) -> None:
        lengths = {len(self.source)} | ({len(self.target)} if self.target is not None else set())
        checked = {}
        for stack, states in dict(self.hidden).items():
            require_text("A stack of hidden states", stack, "Call it encoder or decoder.")
            name = f"The hidden states of the {stack}"
            array = freeze(name, states, FLOATS, [("layer + 1", None), ("token", None), ("width", None)], _DO)
            if array.shape[1] not in lengths:
                known = " or ".join(str(length) for length in sorted(lengths))
                refuse(f"{name} are of {array.shape[1]} tokens.", f"Wanted {known}.", _DO)
            if not is_mapped(array):
                bad = next((layer for layer, plane in enumerate(array) if not np.isfinite(plane).all()), None)
                if bad is not None:
                    refuse(
                        f"{name} hold NaN or infinity, first after layer {bad}.",
                        "Wanted finite numbers.",
                        "Look for NaN in the model's weights, or for overflow in half precision.",
                    )
            checked[stack] = array
        keep(self, hidden=MappingProxyType(checked))

    def _check_trace(self) -> None:
        if self.architecture is not None:
            words = dict(self.architecture)
            strange = next((key for key, value in words.items() if not isinstance(value, _WORDS)), None)
            if strange is not None:
                refuse(
                    f"{strange} of the architecture is {words[strange]!r}.",
                    "Wanted plain words and numbers.",
                    _DO,
                )
            keep(self, architecture=MappingProxyType(words))
        checked = {}
        for name, values in dict(self.trace).items():
            require_text("An array of the trace", name, "Name it by stack, layer and step.")
            axes = [("axis", None)] * np.ndim(values)
            checked[name] = freeze(f"{name} in the trace", values, FLOATS, axes, _DO)
        keep(self, trace=MappingProxyType(checked))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """What a notebook shows at the end of a cell: the views, or these lines where there are none."""
        try:
            room = import_module(
                "glassformer.render.notebook.show"
            )  # by name: this room stands below that one
            return room.show(self)._repr_mimebundle_(include=include, exclude=exclude)
        except GlassformerError:
            return {"text/plain": repr(self)}

    def __repr__(self) -> str:
        sides = f"{len(self.source)} source tokens"
        if self.target is not None:
            sides += f", {len(self.target)} target tokens"
        lines = [f"Recording of {self.model}: {sides}", f"  maps: {self._list_maps()}"]
        if self.hidden:
            lines.append(
                "  hidden: " + ", ".join(f"{stack} {states.shape}" for stack, states in self.hidden.items())
            )
        for part in (self.output, self.generation):
            if part is not None:
                lines.append(f"  {part!r}")
        if self.trace:
            lines.append(f"  trace: {len(self.trace)} arrays")
        return "\n".join([*lines, f"  evidence: {self.evidence}"])


def _ranges(numbers: list[int]) -> str:
    """0 to 11, or each number where they have gaps."""
    whole = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2
    return f"{numbers[0]} to {numbers[-1]}" if whole else ", ".join(str(number) for number in numbers)
