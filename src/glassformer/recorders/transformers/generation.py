"""Generation by a model of transformers, recorded step by step.

In:   a model that can generate, what it is given to read, and `GenerationSettings`.
Out:  `GeneratedText`: the whole text as the model would read it, how each token was chosen (with beams: the
      tree of all hypotheses), and for each layer the rows of attention that every step computed.

The rows of each step replace those of one pass over the finished text. Where generation stopped because of
its length, no step has read the last token; its row is that of the pass. Of a long text no rows are kept: its
maps are those of the pass, whose peaks are compared with those of every step.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import InputError, RecordingError
from glassformer.loaded.reading import as_array
from glassformer.loaded.transformers import seeded
from glassformer.messages import Message, message
from glassformer.model.generate import Forced
from glassformer.model.generation_settings import GenerationSettings
from glassformer.place import Place
from glassformer.recorders.call import Call, Masks
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.outputs import ALTERNATIVES
from glassformer.recorders.preserve import preserving_state
from glassformer.recorders.statistics.measure import attend_and_measure
from glassformer.recorders.transformers.inputs import InputBuilder, ModelInputs
from glassformer.recorders.transformers.interface import Capture, capturing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.search import Search
from glassformer.recording import AttentionMap, Generation

ONE_PASS = message("recorders.notes.one_pass")

Peak = NDArray[np.floating]  # (head,)
Steps = dict[Place, list[Tensor]]


@dataclass(slots=True)
class GeneratedText:
    """What a model generated, and the attention of every step."""

    given: ModelInputs  # the whole text
    generation: Generation
    steps: Steps  # for each pass of the decoder the rows that it computed (H, new, S)
    read: list[int]  # how many tokens the decoder had read after each pass
    peaks: Mapping[Place, list[Peak]]  # for each pass the largest weights (H,) of its last row
    tolerance: float  # how far steps may differ from one pass
    notes: list[Message] = field(default_factory=list)
    difference: float = 0.0  # the largest between a step and one pass

    def put_steps(self, call: Call) -> None:
        """Replace rows of one pass over the whole text by those of the steps."""
        rows = self.steps.get(call.place)
        if rows is None or call.weights is None:
            return
        weights = call.weights.clone()  # (1, H, T, S)
        done = 0
        for new, total in zip(rows, self.read, strict=True):
            columns = slice(0, new.shape[2])
            if call.place.kind == "self":  # a cache may have dropped early keys, or be longer than the text
                new = new[..., :total] if new.shape[2] >= total else new
                columns = slice(total - new.shape[2], total)
            whole = torch.zeros_like(weights[0, :, done:total])
            whole[..., columns] = new
            self.difference = max(self.difference, float((whole - weights[0, :, done:total]).abs().max()))
            weights[0, :, done:total] = whole
            done = total
        self._check_difference(call.place)
        call.weights = weights
        self.notes = [message("recorders.notes.rows_of_steps", steps=len(rows), error=self.difference)]

    def compare(self, maps: Iterable[AttentionMap]) -> None:
        """Check one-pass maps against the peaks of each step."""
        for each in maps:
            for peak, total in zip(self.peaks.get(each.place, ()), self.read, strict=False):
                apart = np.abs(each.statistics.peak[:, total - 1] - peak)
                self.difference = max(self.difference, float(apart.max()))
            self._check_difference(each.place)
        if self.peaks:
            self.notes = [
                message("recorders.notes.one_pass_compared", steps=len(self.read), error=self.difference)
            ]

    def _check_difference(self, place: Place) -> None:
        if self.difference > self.tolerance:
            raise RecordingError("recorders.generation.steps_differ", place=place, error=self.difference)


def generate(  # noqa: PLR0913 - one argument for each thing that a generation depends on
    builder: InputBuilder,
    given: ModelInputs,
    decode: GenerationSettings | None,
    prefix: Sequence[int] = (),
    *,
    inside: AbstractContextManager[object],
    watcher: "Watcher | None",
    tolerance: float,
    cache: bool = True,
    forced: Forced | None = None,
    edits: ActiveEdits | None = None,
) -> GeneratedText:
    """Let the model generate inside a context, in which a watcher, if any, receives all attention.

    What it writes starts with `prefix`. Without a cache a query's number is its place in the text.
    """
    model: Any = builder.model
    if not model.can_generate():
        raise InputError("recorders.generation.cannot_generate", model=builder.reader.name)
    given = _begin(builder, _open_end(builder, given), prefix)
    ids = given.tensors.get("input_ids")
    settings = builder.loaded.generation_arguments(decode, 1 if ids is None else int(ids.shape[1]))
    compared = 0 if settings["do_sample"] else max(2, 1 + len(builder.loaded.end_ids))  # as transformers does
    if not cache:
        settings["use_cache"] = False

    def count(read: int) -> None:
        """Tell edits where the queries of the next pass begin."""
        if edits is not None and settings.get("use_cache", True):
            edits.start = read

    if forced is not None:
        forced.check(decode or builder.loaded.generation, builder.loaded.vocabulary_size or 0)
        settings["output_logits"] = True
    search = Search(decode.alternatives if decode else ALTERNATIVES, compared, forced, count)
    with inside, seeded(decode), builder.explaining_lookups():
        result = model.generate(**given.tensors, **settings, logits_processor=search.processors())
    rows = search.finish(result)
    generation = search.read(builder.reader.show, _method(settings))
    prompt = search.prompt.shape[1]
    steps, peaks = ({}, {}) if watcher is None else watcher.choose(rows, prompt)
    return GeneratedText(
        given=_append(builder, given, search.prompt, search.tokens(builder.loaded.end_ids)),
        generation=generation,
        steps=steps,
        read=[prompt + step for step in range(len(rows))],
        peaks=peaks,
        tolerance=tolerance,
        notes=[] if watcher is not None else [ONE_PASS],
    )


def watch(
    model: Any, stacks: Stacks, edits: ActiveEdits, *, translates: bool, short: bool, fast: bool
) -> tuple[AbstractContextManager[object], "Watcher | None"]:
    """The context to generate in, and what receives the steps: rows of a short prompt, peaks of a long one.

    Edits need the exact kernel; without `fast`, a fast kernel that failed its check, steps are not received.
    """
    if edits and not short:
        return capturing(model, Capture(stacks, "exact", lambda _: None, edits)), None
    if not short and not fast:
        return preserving_state(model), None
    watcher = Watcher(translates=translates)
    return capturing(model, Capture(stacks, "exact" if short else "fast", watcher.receive, edits)), watcher


class Watcher:
    """Receives the attention of every pass of the decoder, for all beams.

    Of a short text it keeps the weights (B or 1, H, T, S); of a long one it computes attention without a
    matrix and keeps the largest weights (B or 1, H) of the last row. Beams are equal in the first pass.
    """

    def __init__(self, *, translates: bool) -> None:
        self.translates = translates
        self.weights: Steps = {}
        self.peaks: Steps = {}

    def receive(self, call: Call) -> Tensor | None:
        """One attention; returns its output (B, T, H, V) where the call has no weights."""
        reads = self.translates and call.place.stack == "encoder"  # the same as in one pass over the text
        if call.weights is None:
            return self._measure(call, reads=reads)
        if not reads:
            passes = self.weights.setdefault(call.place, [])
            passes.append((call.weights if passes else call.weights[:1]).detach().clone())
        return None

    def choose(self, rows: Sequence[int], prompt: int) -> tuple[Steps, Mapping[Place, list[Peak]]]:
        """Of each pass, given the row of the beam that led to the text: its new rows, its largest weights."""
        for place, passes in self.weights.items():
            if len(passes) < len(rows):
                raise RecordingError(
                    "recorders.generation.missing_passes", place=place, steps=len(rows), passes=len(passes)
                )
        steps = {
            place: [each[:, -(1 if number else prompt) :] for number, each in enumerate(passes)]
            for place, passes in _choose_rows(self.weights, rows).items()
        }
        last = {place: [each[:, -1].amax(-1) for each in passes] for place, passes in steps.items()}
        peaks = last or _choose_rows(self.peaks, rows)
        return steps, {
            place: [each.float().cpu().numpy() for each in passes] for place, passes in peaks.items()
        }

    def _measure(self, call: Call, *, reads: bool) -> Tensor:
        scoring = Masks().score(call)  # beams have no padding and share one mask
        texts = range(1 if reads or call.place not in self.peaks else len(call.queries))
        measured = [
            attend_and_measure(call.queries[text], call.keys[text], call.values[text], scoring)
            for text in texts
        ]
        if not reads:
            peaks = np.stack([each.statistics.peak[:, -1] for each in measured])
            self.peaks.setdefault(call.place, []).append(torch.from_numpy(peaks))
        outputs = [each.output.transpose(0, 1) for each in measured if each.output is not None]  # (T, H, V)
        whole = torch.stack(outputs).to(call.values.dtype)
        return whole.expand(len(call.queries), -1, -1, -1)


def _choose_rows(found: Steps, rows: Sequence[int]) -> Steps:
    """Of each pass (B or 1, …) the row that led to the text."""
    return {
        place: [each[0 if len(each) == 1 else row] for each, row in zip(passes, rows, strict=False)]
        for place, passes in found.items()
    }


def _method(settings: dict[str, Any]) -> str:
    if settings["num_beams"] > 1:
        return "beam"
    return "sampling" if settings["do_sample"] else "greedy"


def _open_end(builder: InputBuilder, given: ModelInputs) -> ModelInputs:
    """A prompt without its end token: the end of the prompt is not the end of the text."""
    ids = given.tensors.get("input_ids")
    if builder.translates or ids is None:
        return given
    count, end = ids.shape[1], builder.loaded.find_prompt_end(ids[0].tolist())
    if end == count:
        return given
    tensors = {
        name: each[:, :end] if each.shape[1:] == (count,) else each for name, each in given.tensors.items()
    }
    return ModelInputs(tensors, None if given.source is None else given.source.take(slice(end)))


def _begin(builder: InputBuilder, given: ModelInputs, prefix: Sequence[int]) -> ModelInputs:
    """The inputs with the first tokens of what is to be written."""
    if not prefix:
        return given
    start = builder.tensor(as_array([builder.find_start()])) if builder.translates else None
    return _append(builder, given, given.tensors["input_ids"] if start is None else start, prefix)


def _append(builder: InputBuilder, given: ModelInputs, prompt: Tensor, tokens: Sequence[int]) -> ModelInputs:
    """The whole text as one pass reads it."""
    ids = torch.cat((prompt, builder.tensor(as_array(tokens))), dim=1)
    names = tuple(ids[0].tolist())
    if builder.translates:
        target = builder.name_target(names)
        return replace(given, tensors={**given.tensors, "decoder_input_ids": ids}, target=target)
    tensors = {**given.tensors, "input_ids": ids}
    tensors.pop("token_type_ids", None)
    mask = given.tensors.get("attention_mask")
    if mask is not None:
        tensors["attention_mask"] = torch.cat((mask, mask.new_ones(1, len(tokens))), dim=1)
    return ModelInputs(tensors, builder.name_source(names))
