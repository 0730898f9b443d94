"""What a network computes for other texts: the references of ablations and patches.

In:   a loaded model, the request of a recording, and its edits.
Out:  the edits as they are carried out, after the unedited model has read their reference texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message
from glassformer.place import Place
from glassformer.recorders.edits.edit import Edit, HeadOutputs, Part, States, Text
from glassformer.recorders.request import Recorder, Request
from glassformer.text.tokenizer import Encoding

KEPT = 4  # places and reference sets whose outputs stay in memory, for one head after the other


@dataclass(slots=True)
class CollectOutputs(Edit):
    """Changes nothing: collects what the heads give where another edit acts."""

    edit: Edit
    found: list[Tensor] = field(default_factory=list)  # (head, query, width) of one call each

    def touches(self, place: Place) -> bool:
        return self.edit.touches(place)

    def change_outputs(self, outputs: HeadOutputs) -> None:
        self.found.append(outputs.read()[0].detach().cpu())

    def as_message(self) -> Message:
        return self.edit.as_message()


@dataclass(slots=True)
class CollectStates(Edit):
    """Changes nothing: collects the vectors where another edit acts."""

    edit: Edit
    found: list[Tensor] = field(default_factory=list)  # (token, width)

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        return self.edit.touches_states(stack, part, layer)

    def change_states(self, states: States) -> None:
        self.found.append(states.read()[0].detach().cpu())

    def as_message(self) -> Message:
        return self.edit.as_message()


def prepare_edits(
    model: LoadedModel, recorder: Recorder, request: Request, target_language: str | None
) -> tuple[Edit, ...]:
    """The edits of a request, ready to be carried out."""
    text = request.source.text if isinstance(request.source, Encoding) else ""
    references = References(model, recorder, request, target_language)
    return tuple(edit.prepare(text, partial(references.read, edit)) for edit in request.edits)


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
        given = (self.request.model_hash, self.target_language, tuple(texts), words and words.ids)
        where = tuple(getattr(edit, name, None) for name in ("stack", "kind", "part", "layer"))
        kept: dict[object, list[Tensor]] = self.model.cache.setdefault(References, {})
        if (given, where) not in kept:
            found = [self._read_one(edit, each, words) for each in texts]
            for old in list(kept)[: max(0, len(kept) - KEPT + 1)]:
                kept.pop(old, None)
            kept[given, where] = found
        return kept[given, where]

    def _read_one(self, edit: Edit, text: Text, target: Encoding | None) -> Tensor:
        """For one text: outputs of heads (head, token, width), or states (token, width)."""
        plain = replace(
            self.request,
            source=self.model.reader.read_source(text, None, self.target_language),
            target=target,
            decode=None,
            want=frozenset({"statistics"}),
            edits=(),
            kernel=None,
            prefix=(),
            on_step=None,
            forced=None,
        )
        if self.model.shape == "encoder-decoder" and target is None:
            written = self.recorder.run(plain).target  # begins with the start token
            assert written is not None
            plain = replace(plain, target=self.model.reader.read(written.ids[1:], target=True))
        collect = CollectStates(edit) if "states" in edit.changes else CollectOutputs(edit)
        self.recorder.run(replace(plain, edits=(collect,)))
        return torch.cat(collect.found, dim=-2)  # a recurrent decoder has one call for each token
