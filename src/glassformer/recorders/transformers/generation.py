"""Generation by a model of transformers, recorded step by step.

In:   a model that can generate, what it is given to read, and `GenerationSettings`.
Out:  `Written`: the whole text as the model would read it, how each word was chosen (with beams: the tree of
      all hypotheses), and for each layer the rows of attention that every step computed with its cache.

A step's rows are put into the maps of one pass over the finished text. Where generation stopped because of
its length, nothing has read the last word yet; its row is that of the pass. Of a long text no row is kept:
its maps are those of the pass, held to the peaks of every step.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from glassformer.errors import InputError, RecordingError
from glassformer.loaded.reading import as_array
from glassformer.model.generation_settings import GenerationSettings
from glassformer.place import Place
from glassformer.recorders.call import Call
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.preserve import on_loan
from glassformer.recorders.transformers.inputs import InputBuilder, ModelInputs
from glassformer.recorders.transformers.interface import Capture, capturing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.peaks import Peak, Peaks
from glassformer.recorders.transformers.search import Search
from glassformer.recording import AttentionMap, Generation
from glassformer.recording.attention_map import HALVES

ALTERNATIVES = 5  # kept for each word where nothing else is said
SEAM = 1e-3  # how far steps may be from one pass
HALF_SEAM = 2e-2  # the same in half precision, where one row is not computed as many are
ONE_PASS = "maps are those of one pass over the finished text"


@dataclass(slots=True)
class Written:
    """What a model wrote, and the attention of every step."""

    given: ModelInputs  # the whole text
    generation: Generation
    steps: dict[Place, list[Tensor]]  # for each pass of the decoder the rows that it computed (H, new, S)
    read: list[int]  # how many tokens the decoder had read after each pass
    peaks: dict[Place, list[Peak]]  # for each pass the largest weights (H,) of its last row
    notes: list[str] = field(default_factory=list)
    seam: float = 0.0  # the largest difference between a step and one pass

    def put_steps(self, call: Call) -> None:
        """Replace rows of one pass over the whole text by those of the steps."""
        rows = self.steps.get(call.place)
        if rows is None or call.weights is None:
            return
        weights = call.weights.clone()  # (1, H, T, S)
        done = 0
        for new, total in zip(rows, self.read, strict=True):
            columns = slice(0, new.shape[2])
            if (
                call.place.kind == "self"
            ):  # a cache may have forgotten early keys, or have room for later ones
                new = new[..., :total] if new.shape[2] >= total else new
                columns = slice(total - new.shape[2], total)
            whole = torch.zeros_like(weights[0, :, done:total])
            whole[..., columns] = new
            self.seam = max(self.seam, float((whole - weights[0, :, done:total]).abs().max()))
            weights[0, :, done:total] = whole
            done = total
        self._check_seam(call.place, str(weights.dtype).removeprefix("torch."))
        call.weights = weights
        note = f"rows of {len(rows)} generation steps; the largest difference from one pass is "
        self.notes = [f"{note}{self.seam:.1e}"]

    def hold(self, maps: Iterable[AttentionMap]) -> None:
        """Hold maps of one pass, which no rows are put into, to the peaks of the steps."""
        for each in maps:
            place = Place(each.stack, each.kind, each.layer)
            for peak, total in zip(self.peaks.get(place, ()), self.read, strict=False):
                apart = np.abs(each.statistics.peak[:, total - 1] - peak)
                self.seam = max(self.seam, float(apart.max()))
            self._check_seam(place, each.dtype)
        if self.peaks:
            count = len(self.read)
            self.notes = [f"{ONE_PASS}; the peaks of {count} steps are at most {self.seam:.1e} away from it"]

    def _check_seam(self, place: Place, dtype: str) -> None:
        if self.seam > (HALF_SEAM if dtype in HALVES else SEAM):
            raise RecordingError(
                f"The attention of single steps is {self.seam:.1e} from that of one pass over the whole text "
                f"({place}). The model does not generate with the attention it reads with; "
                "record its text instead."
            )


def write(
    builder: InputBuilder,
    given: ModelInputs,
    decode: GenerationSettings | None,
    *,
    inside: AbstractContextManager[object],
    watcher: "Passes | Peaks | None",
    cache: bool = True,
) -> Written:
    """Let the model write inside a context, in which a watcher, if any, receives the attention of every step.

    Without a cache a query's number is its place in the text.
    """
    model: Any = builder.model
    if not model.can_generate():
        raise InputError(f"{builder.reader.name} cannot generate; give it a target to read.")
    given = _open_end(builder, given)
    words = builder.loaded.generation_arguments(decode, _count_prompt(given))
    compared = 0 if words["do_sample"] else max(2, 1 + len(builder.loaded.end_ids))  # as transformers does
    search = Search(decode.alternatives if decode else ALTERNATIVES, compared)
    if not cache:
        words["use_cache"] = False
    with ExitStack() as contexts:
        contexts.enter_context(inside)
        if words["do_sample"] and decode is not None and decode.seed is not None:
            contexts.enter_context(torch.random.fork_rng())
            torch.manual_seed(decode.seed)
        contexts.enter_context(builder.explaining_lookups())
        result = model.generate(**given.tensors, **words, logits_processor=search.processors())
    rows = search.finish(result)
    generation = search.read(builder.reader.show, _method(words))
    steps = watcher.choose(rows, search.prompt.shape[1]) if isinstance(watcher, Passes) else {}
    return Written(
        given=_append(builder, given, search.prompt, search.words(builder.loaded.end_ids)),
        generation=generation,
        steps=steps,
        read=[search.prompt.shape[1] + step for step in range(len(rows))],
        peaks=watcher.choose(rows) if isinstance(watcher, Peaks) else _find_peaks(steps),
        notes=[] if watcher is not None else [ONE_PASS],
    )


def watch(
    model: Any, stacks: Stacks, edits: ActiveEdits, *, translates: bool, short: bool, fast: bool
) -> tuple[AbstractContextManager[object], "Passes | Peaks | None"]:
    """The context to write in, and who receives the steps: of a short prompt all rows, of a long one peaks.

    Edits need the exact kernel; a fast one that is not to be trusted is left alone.
    """
    if short:
        passes = Passes(translates=translates)
        return capturing(model, Capture(stacks, "exact", passes.receive, edits)), passes
    if edits:
        return capturing(model, Capture(stacks, "exact", lambda _: None, edits)), None
    if fast:
        peaks = Peaks(translates=translates)
        return capturing(model, Capture(stacks, "fast", peaks.receive)), peaks
    return on_loan(model), None


class Passes:
    """The attention of every pass of the decoder, for all beams."""

    def __init__(self, *, translates: bool) -> None:
        self.translates = translates
        self.weights: dict[Place, list[Tensor]] = {}

    def receive(self, call: Call) -> None:
        if self.translates and call.place.stack == "encoder":
            return  # one pass over the whole text computes the same
        assert call.weights is not None
        passes = self.weights.setdefault(call.place, [])
        rows = call.weights[:1] if not passes else call.weights  # beams begin as copies
        passes.append(rows.detach().clone())

    def choose(self, rows: Sequence[int], prompt: int) -> dict[Place, list[Tensor]]:
        """Of each pass the row of the beam that led to the text, and in it the queries that were new."""
        chosen = {}
        for place, passes in self.weights.items():
            if len(passes) < len(rows):
                raise RecordingError(
                    f"The model took {len(rows)} steps, and {place} was seen {len(passes)} times. "
                    "It does not generate one word at a pass; record its text instead."
                )
            news = [prompt] + [1] * (len(rows) - 1)
            chosen[place] = [
                each[0 if len(each) == 1 else row][:, -new:]
                for each, row, new in zip(passes, rows, news, strict=False)
            ]
        return chosen


def _find_peaks(steps: dict[Place, list[Tensor]]) -> dict[Place, list[Peak]]:
    """The largest weights of the last row of each pass."""
    return {
        place: [each[:, -1].amax(-1).float().cpu().numpy() for each in passes]
        for place, passes in steps.items()
    }


def _count_prompt(given: ModelInputs) -> int:
    ids = given.tensors.get("input_ids")
    return 1 if ids is None else int(ids.shape[1])


def _method(words: dict[str, Any]) -> str:
    if words["num_beams"] > 1:
        return "beam"
    return "sampling" if words["do_sample"] else "greedy"


def _open_end(builder: InputBuilder, given: ModelInputs) -> ModelInputs:
    """A prompt without its end token: the end of the prompt is not the end of the text."""
    ids = given.tensors.get("input_ids")
    if builder.translates or ids is None or ids.shape[1] < 2 or int(ids[0, -1]) not in builder.loaded.end_ids:
        return given
    count = ids.shape[1]
    tensors = {
        name: each[:, :-1] if each.shape[1:] == (count,) else each for name, each in given.tensors.items()
    }
    return ModelInputs(tensors, None if given.source is None else given.source.take(slice(count - 1)))


def _append(builder: InputBuilder, given: ModelInputs, prompt: Tensor, words: Sequence[int]) -> ModelInputs:
    """The whole text as one pass reads it."""
    ids = torch.cat((prompt, builder.tensor(as_array(words))), dim=1)
    names = tuple(ids[0].tolist())
    if builder.translates:
        target = builder.name_target(names)
        return replace(given, tensors={**given.tensors, "decoder_input_ids": ids}, target=target)
    tensors = {**given.tensors, "input_ids": ids}
    tensors.pop("token_type_ids", None)
    mask = given.tensors.get("attention_mask")
    if mask is not None:
        tensors["attention_mask"] = torch.cat((mask, mask.new_ones(1, len(words))), dim=1)
    return ModelInputs(tensors, builder.name_source(names))
