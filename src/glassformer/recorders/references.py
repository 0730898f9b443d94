"""What a network computes for other texts: the references of ablations and patches.

In:   a loaded model, the request of a recording, and its edits.
Out:  the edits as they are carried out, after the unedited model has read their reference texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message
from glassformer.place import Place
from glassformer.recorders.edits.edit import (
    Edit,
    HeadInputs,
    HeadOutputs,
    Part,
    Read,
    States,
    Text,
    Weights,
    check_generation,
)
from glassformer.recorders.request import Recorder, Request
from glassformer.text.tokenizer import Encoding

KEPT = 4  # places and reference sets whose outputs stay in memory, for one head after the other


@dataclass(slots=True)
class Collect(Edit):
    """Changes nothing: collects what another edit needs to know where it acts, in each call."""

    edit: Edit
    found: list[Tensor] = field(default_factory=list)

    def touches(self, place: Place) -> bool:
        return self.edit.touches(place)

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        return self.edit.touches_states(stack, part, layer)

    def as_message(self) -> Message:
        return self.edit.as_message()

    def keep(self, operation: HeadInputs | Weights | HeadOutputs | States) -> None:
        """The part of the only text."""
        self.found.append(operation.read()[0].detach().cpu())


class CollectOutputs(Collect):
    """(head, query, width)"""

    def change_outputs(self, outputs: HeadOutputs) -> None:
        self.keep(outputs)


class CollectWeights(Collect):
    """(head, query, key)"""

    def change_weights(self, weights: Weights) -> None:
        self.keep(weights)


class CollectValues(Collect):
    """(key head, key, width)"""

    def change_inputs(self, inputs: HeadInputs) -> None:
        if inputs.part == "values":
            self.keep(inputs)


class CollectStates(Collect):
    """(token, width)"""

    def change_states(self, states: States) -> None:
        self.keep(states)


COLLECT: dict[Read, type[Collect]] = {
    "outputs": CollectOutputs,
    "weights": CollectWeights,
    "values": CollectValues,
    "states": CollectStates,
}


def prepare_edits(
    model: LoadedModel, recorder: Recorder, request: Request, target_language: str | None
) -> tuple[Edit, ...]:
    """The edits of a request, ready to be carried out."""
    text = request.source.text if isinstance(request.source, Encoding) else ""
    references = References(model, recorder, request, target_language)
    return tuple(edit.prepare(text, _Reading(references, edit)) for edit in request.edits)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one edit may ask for; see `ReadOutputs`."""

    references: "References"
    edit: Edit

    def __call__(self, texts: Sequence[Text], aligned: bool, target: Text | None = None) -> list[Tensor]:
        return self.references.read(self.edit, texts, aligned, target)

    def at(self, edit: Edit) -> "_Reading":
        return _Reading(self.references, edit)

    def run(self, edit: Edit) -> None:
        self.references.run(edit)


@dataclass(frozen=True, slots=True)
class References:
    """What heads of the unedited model give for other texts than that of a request."""

    model: LoadedModel
    recorder: Recorder
    request: Request
    target_language: str | None

    def read(
        self, edit: Edit, texts: Sequence[Text], aligned: bool, target: Text | None = None
    ) -> list[Tensor]:
        """See `ReadOutputs`; the last ones stay in memory."""
        words = self.request.target if aligned else None
        if target is not None:
            if self.model.shape != "encoder-decoder":
                raise InputError("recorders.edits.no_target_side", edit=edit, name=self.model.name)
            words = self.model.reader.read(target, target=True)
        request = self.request
        given = (
            request.model_hash, self.target_language, request.second_text, tuple(texts), words and words.ids
        )  # fmt: skip
        where = (edit.reads, *(getattr(edit, name, None) for name in ("stack", "kind", "part", "layer")))
        kept: dict[object, list[Tensor]] = self.model.cache.setdefault(References, {})
        if (given, where) not in kept:
            found = [self._read_one(edit, each, words) for each in texts]
            for old in list(kept)[: max(0, len(kept) - KEPT + 1)]:
                kept.pop(old, None)
            kept[given, where] = found
        return kept[given, where]

    def _read_one(self, edit: Edit, text: Text, target: Encoding | None) -> Tensor:
        """For one text: outputs of heads (head, token, width), or states (token, width)."""
        second = self.request.second_text if isinstance(text, str) else None  # ids are the whole input
        source = self.model.read_source(text, second, self.target_language)
        plain = replace(self._make_plain(), source=source, target=target)
        if self.model.shape == "encoder-decoder" and target is None:
            written = self.recorder.run(plain).target  # begins with the start token
            assert written is not None
            plain = replace(plain, target=self.model.reader.read(written.ids[1:], target=True))
        collect = COLLECT[edit.reads](edit)
        self.recorder.run(replace(plain, edits=(collect,)))
        return torch.cat(collect.found, dim=-2)  # a recurrent decoder has one call for each token

    def run(self, edit: Edit) -> None:
        """See `ReadOutputs.run`."""
        if self.request.decode is not None or (
            self.model.shape == "encoder-decoder" and self.request.target is None
        ):
            check_generation((edit,))
        self.recorder.run(replace(self._make_plain(), edits=(edit,)))

    def _make_plain(self) -> Request:
        """The request, without edits and for its statistics alone."""
        return replace(
            self.request,
            decode=None,
            want=frozenset({"statistics"}),
            edits=(),
            kernel=None,
            prefix=(),
            on_step=None,
            forced=None,
            targets=(),
        )
