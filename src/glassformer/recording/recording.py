"""One text through one model: what everything else reads.

In:   what a recorder saw.
Out:  Recording, checked and read-only; everything after it only reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from os import PathLike
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from glassformer.deprecated import accept_layer_first
from glassformer.errors import GlassformerError, RecordingError
from glassformer.messages import Message
from glassformer.place import Kind, Place, as_place, match_places, name_term
from glassformer.recording.arrays import (
    FLOATS,
    Floats,
    Rebuilt,
    freeze,
    is_mapped,
    keep,
    require_text,
    require_type,
    wrong_value,
)
from glassformer.recording.attention_map import MOST_BYTES, AttentionMap
from glassformer.recording.branch import Branch
from glassformer.recording.evidence import Evidence
from glassformer.recording.generation import Generation, Output
from glassformer.recording.tokens import Tokens

Setting = str | int | float | bool | None
LONGEST_TRACE = 256  # tokens of a text that is followed step by step


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recording(Rebuilt):
    """Tokens, maps, hidden states, output, generation and the evidence for all of them.

    >>> recording = gf.record("zoo/bert", "The cat sleeps on the mat.")
    >>> recording.source.texts[:3]
    ('[CLS]', 'the', 'cat')
    >>> recording.map("encoder", layer=-1).weights(head=0).shape  # (query, key)
    (10, 10)
    >>> recording.tensor("encoder").shape  # (layer, head, query, key)
    (6, 8, 10, 10)
    >>> recording.save("cat.bundle")
    >>> gf.Recording.open("cat.bundle").evidence.exact
    True
    """

    model: str
    evidence: Evidence
    source: Tokens
    target: Tokens | None = None
    maps: tuple[AttentionMap, ...] = ()
    hidden: Mapping[str, Floats] = field(default_factory=dict)  # by stack: (layer + 1, token, width)
    output: Output | None = None
    generation: Generation | None = None
    architecture: Mapping[str, Setting] | None = None  # the configuration, where the network is one of ours
    trace: Mapping[str, Floats] = field(default_factory=dict)  # each step of the pass, and the parameters
    branch: Branch | None = None  # where it left another recording

    def __post_init__(self) -> None:
        require_text("Recording.model", self.model)
        require_type("Recording.evidence", self.evidence, Evidence)
        require_type("Recording.source", self.source, Tokens)
        for name, wanted in (
            ("target", Tokens),
            ("output", Output),
            ("generation", Generation),
            ("branch", Branch),
        ):
            if getattr(self, name) is not None:
                require_type(f"Recording.{name}", getattr(self, name), wanted)
        if self.source.side != "source" or (self.target is not None and self.target.side != "target"):
            raise RecordingError("recording.wrong_side")
        keep(self, maps=tuple(self.maps))
        self._check_maps()
        self._check_hidden()
        self._check_trace()

    @classmethod
    def open(cls, path: str | PathLike[str]) -> "Recording":
        """The recording in a bundle file. Its arrays stay on disk until they are used."""
        return import_module("glassformer.bundle").open(path)  # by name: bundle imports this package

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything into one file, a bundle, which `Recording.open` and `glassformer show` open."""
        import_module("glassformer.bundle").save(self, path)

    @accept_layer_first
    def map(
        self, stack: Place | str | None = None, kind: Kind = "self", layer: int = 0, step: int | None = None
    ) -> AttentionMap:
        """One attention map: by its stack, its place or its address; a negative layer counts from the end.

        Without a stack, the map of the only stack that has such a layer. These are the same:
        `map("decoder", "cross", 5)`, `map("decoder.cross.5")` and `map(Place("decoder", "cross", 5))`.
        """
        found = match_places((each.place for each in self.maps), stack, kind, layer, step)
        if len(found) != 1:
            self._refuse_map(found, stack, kind, layer, step)
        return next(each for each in self.maps if each.place == found[0])

    def tensor(self, stack: str | None = None, kind: Kind = "self") -> NDArray[np.float32]:
        """The weights of all layers of a stack, (layer, head, query, key)."""
        first = self.map(stack, kind, min((each.layer for each in self.maps), default=0))
        alike = (first.stack, kind, None)
        maps = [each for each in self.maps if (each.stack, each.kind, each.step) == alike]
        if len({each.shape for each in maps}) > 1:
            shapes = tuple(dict.fromkeys(str(each.shape) for each in maps))
            raise RecordingError("recording.uneven_maps", stack=name_term(first.stack), shapes=shapes)
        if (size := 4 * len(maps) * prod(first.shape)) > MOST_BYTES:
            raise RecordingError("recording.large_tensor", size=size / 2**30, most=MOST_BYTES / 2**30)
        return np.stack([each.weights() for each in sorted(maps, key=lambda each: each.layer)])

    def _refuse_map(
        self, found: list[Place], stack: Place | str | None, kind: Kind, layer: int, step: int | None
    ) -> NoReturn:
        known = self._list_maps()
        if not known:
            raise RecordingError("recording.no_maps")
        if stack is None:
            code = "recording.several_stacks" if found else "recording.no_layer"
            raise RecordingError(code, kind=name_term(kind), layer=layer, known=known)
        place = as_place(stack, kind, layer, step)
        raise RecordingError("recording.no_map", place=place, known=known)

    def _list_maps(self) -> tuple[Message, ...]:
        """The maps there are, one message for each stack and kind."""
        groups: dict[tuple[str, str, bool], list[AttentionMap]] = {}
        for each in self.maps:
            groups.setdefault((each.stack, each.kind, each.step is not None), []).append(each)
        listed = []
        for (stack, kind, stepped), maps in groups.items():
            layers = sorted({each.layer for each in maps})
            steps = sorted({each.step for each in maps if each.step is not None})
            named: dict[str, Any] = {"stack": name_term(stack), "kind": name_term(kind)}
            named |= {"count": len(layers), "layers": _ranges(layers)}
            named |= {"steps": _ranges(steps)} if stepped else {}
            listed.append(Message("recording.stepped_maps" if stepped else "recording.maps", named))
        return tuple(listed)

    def _check_maps(self) -> None:
        seen = set()
        for each in self.maps:
            require_type("Recording.maps", each, AttentionMap)
            if each.place in seen:
                raise RecordingError("recording.two_maps", place=each.place)
            seen.add(each.place)
            if self.target is None and "target" in (each.query.side, each.key.side):
                raise RecordingError("recording.no_target", place=each.place)
            if each.relaxed is not None and not self.evidence.edits:
                raise RecordingError("recording.unnamed_edit", place=each.place, reason=each.relaxed)

    def _check_hidden(self) -> None:
        lengths = {len(self.source)} | ({len(self.target)} if self.target is not None else set())
        checked = {}
        for stack, states in dict(self.hidden).items():
            require_text("Recording.hidden", stack)
            name = f"Recording.hidden[{stack!r}]"
            array = freeze(name, states, FLOATS, [("layer + 1", None), ("token", None), ("width", None)])
            if array.shape[1] not in lengths:
                known = tuple(sorted(lengths))
                raise RecordingError("recording.wrong_length", name=name, tokens=array.shape[1], known=known)
            if not is_mapped(array):
                bad = next((layer for layer, plane in enumerate(array) if not np.isfinite(plane).all()), None)
                if bad is not None:
                    raise RecordingError("recording.hidden_not_finite", name=name, layer=bad)
            checked[stack] = array
        keep(self, hidden=MappingProxyType(checked))

    def _check_trace(self) -> None:
        if self.architecture is not None:
            for name, value in self.architecture.items():
                if not isinstance(value, Setting):
                    raise wrong_value(f"Recording.architecture[{name!r}]", value, "plain")
            keep(self, architecture=MappingProxyType(dict(self.architecture)))
        checked = {}
        for name, values in dict(self.trace).items():
            require_text("Recording.trace", name)
            axes = [("axis", None)] * np.ndim(values)
            checked[name] = freeze(f"Recording.trace[{name!r}]", values, FLOATS, axes)
        keep(self, trace=MappingProxyType(checked))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """What a notebook shows at the end of a cell: the views, or the text where there are none."""
        try:
            notebook = import_module("glassformer.render.notebook.show")  # by name: it imports this package
            return notebook.show(self)._repr_mimebundle_(include=include, exclude=exclude)
        except GlassformerError:
            return {"text/plain": repr(self)}

    def __repr__(self) -> str:
        sides = f"{len(self.source)} source tokens"
        if self.target is not None:
            sides += f", {len(self.target)} target tokens"
        lines = [
            f"Recording of {self.model}: {sides}",
            f"  maps: {', '.join(map(str, self._list_maps())) or '-'}",
        ]
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
    """0–11, or each number where they have gaps."""
    gapless = len(numbers) == numbers[-1] - numbers[0] + 1 > 2  # they are sorted, each once
    return f"{numbers[0]}–{numbers[-1]}" if gapless else ", ".join(map(str, numbers))
