"""Causes, measured in the worker: effects of heads, layers and edges on an outcome, and patching.

In:   an opened model, a request, what it reads.
Out:  steps with numbers, estimates before real passes; a bundle with the estimated effect of every edge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.api.effects import (
    EdgeEffect,
    EffectsRequest,
    EffectsStep,
    HeadEffects,
    OutcomeRequest,
    PatchingRequest,
    PatchingStep,
)
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.place import Place
from glassformer.recorders.causes.estimates import estimate
from glassformer.recorders.causes.outcomes import (
    ClassProbability,
    LogitDifference,
    LogProbability,
    Outcome,
    TextScore,
)
from glassformer.recorders.causes.sweep import Sweep, sweep
from glassformer.recorders.edits import AblateHead, CutEdge, Edit, PatchHead, PatchStates
from glassformer.recording import AttentionMap, Recording, measure_signed
from glassformer.recording.visible import make_visible
from glassformer.workbench.inputs import JobInputs
from glassformer.workbench.reporter import JobReporter

MOST_TOKENS = 512  # of a text whose effects are measured
MOST_HEADS = 2048  # that are confirmed by passes of their own
MOST_NUMBERS = 1 << 23  # of edges in one bundle
AT_ONCE = 48  # passes between two reports
EDGES = 24  # the edges with the largest estimates are confirmed

Effects = Mapping[Place, NDArray[np.floating[Any]]]


def read_outcome(asked: OutcomeRequest) -> Outcome:
    """What is measured."""
    if asked.label is not None:
        return ClassProbability(asked.label)
    if asked.token is None:
        if asked.against is not None:
            raise InputError("workbench.effects.nothing_against", against=str(asked.against))
        return TextScore()
    if asked.against is None:
        return LogProbability(asked.token, asked.position)
    return LogitDifference(asked.token, asked.against, asked.position)


def describe_outcome(model: LoadedModel, outcome: Outcome) -> Message:
    """The same in words: ids are shown as the tokens that they are."""

    def show(token: str | int) -> str:
        return token if isinstance(token, str) else model.reader.show([token])[0]

    if isinstance(outcome, LogProbability):
        outcome = LogProbability(show(outcome.token), outcome.position)
    elif isinstance(outcome, LogitDifference):
        outcome = LogitDifference(show(outcome.token), show(outcome.against), outcome.position)
    return outcome.as_message()


def measure_effects(
    model: LoadedModel, request: EffectsRequest, given: JobInputs, reporter: JobReporter
) -> Recording | None:
    """Report the effect of every head, layer and of the strongest edges; a recording of all edges' estimates.

    None where there are no edges to show: they were too many, or the recording is of an edited model, for
    which nothing is estimated.
    """
    inputs, target = _read_texts(model, request, given)
    outcome = read_outcome(request.outcome)
    said = describe_outcome(model, outcome)
    texts: dict[str, Any] = {"target_language": given.language, "second_text": given.second_text}
    base = tuple(request.run.read_edits())
    edges: Effects = {}
    if not base:
        estimated = estimate(model, inputs, target, outcome=outcome, **texts)
        if not isinstance(model.network, RecurrentTranslator):  # whose edges cannot be cut
            edges = estimated.edges
        found = tuple(
            HeadEffects(place=place.address, heads=tuple(values.tolist()), layer=float(values.sum()))
            for place, values in estimated.heads.items()
        )
        step = EffectsStep(confirmed=False, outcome=said, baseline=estimated.baseline, places=found)
        reporter.step(step.model_dump(mode="json"))
    recording = model.record(inputs, target, want=("weights", "output"), **texts)
    places = {each.place: each for each in recording.maps if each.place.step is None}
    heads = sum(each.heads for each in places.values())
    if not places:
        raise InputError("workbench.effects.no_heads", model=model.name)
    if heads > MOST_HEADS:
        raise InputError("workbench.effects.too_many_heads", count=heads, most=MOST_HEADS)
    measure = partial(sweep, model, inputs, target, outcome=outcome, **texts)
    _confirm_heads(measure, base, places, said, reporter)
    if base or not edges or sum(each.size for each in edges.values()) > MOST_NUMBERS:
        return None
    _confirm_edges(measure, edges, places, said, reporter)
    return record_edges(recording, edges, said)


def _read_texts(
    model: LoadedModel, request: EffectsRequest, given: JobInputs
) -> tuple[str | tuple[int, ...], str | tuple[int, ...] | None]:
    """What is read, and written: the recorded tokens where the model wrote some of them."""
    inputs: str | tuple[int, ...] = given.inputs
    target: str | tuple[int, ...] | None = given.target
    count = given.count
    if request.ids is not None:
        count = max(count, len(request.ids))
        if model.shape == "decoder":
            inputs = request.ids
        elif model.shape == "encoder-decoder":
            target = request.ids[1:]  # without the start token, which the model puts there itself
    if count > MOST_TOKENS:
        raise InputError("workbench.effects.too_many_tokens", count=count, most=MOST_TOKENS)
    return inputs, target


def _confirm_heads(
    measure: "partial[Sweep]",
    base: tuple[Edit, ...],
    places: Mapping[Place, AttentionMap],
    said: Message,
    reporter: JobReporter,
) -> None:
    """A real pass for each head, and for all heads of each layer together; reported as they come."""
    waiting: list[Place] = []
    count = 0
    for done, place in enumerate(places, 1):
        waiting.append(place)
        count += places[place].heads + 1
        if count >= AT_ONCE or done == len(places):
            _confirm_places(measure, base, {each: places[each].heads for each in waiting}, said, reporter)
            reporter.progress("running", done / len(places), f"{done}/{len(places)}")
            waiting, count = [], 0


def _confirm_places(
    measure: "partial[Sweep]",
    base: tuple[Edit, ...],
    heads: Mapping[Place, int],
    said: Message,
    reporter: JobReporter,
) -> None:
    rows: list[tuple[Edit, ...]] = [base] if base else []
    for place, count in heads.items():
        silenced = tuple(AblateHead.at(place, head) for head in range(count))
        rows += [(*base, *each) for each in (*((edit,) for edit in silenced), silenced)]
    reporter.check()
    swept = measure(edits=rows)
    values = swept.values.tolist()
    baseline = values.pop(0) if base else swept.baseline
    found = []
    for place, count in heads.items():
        *single, together = (value - baseline for value in values[: count + 1])
        found.append(HeadEffects(place=place.address, heads=tuple(single), layer=together))
        del values[: count + 1]
    step = EffectsStep(confirmed=True, outcome=said, baseline=baseline, places=tuple(found))
    reporter.step(step.model_dump(mode="json"))


def _confirm_edges(
    measure: "partial[Sweep]",
    edges: Effects,
    places: Mapping[Place, AttentionMap],
    said: Message,
    reporter: JobReporter,
) -> None:
    """A real pass for each of the edges whose estimates are largest."""
    strongest = choose_edges(edges, places, EDGES)
    if not strongest:
        return
    reporter.check()
    swept = measure(edits=[CutEdge.at(*each) for each in strongest])
    found = tuple(
        EdgeEffect(place=place.address, head=head, query=query, key=key, effect=effect)
        for (place, head, query, key), effect in zip(strongest, swept.effects.tolist(), strict=True)
    )
    step = EffectsStep(confirmed=True, outcome=said, baseline=swept.baseline, edges=found)
    reporter.step(step.model_dump(mode="json"))


def choose_edges(
    edges: Effects, places: Mapping[Place, AttentionMap], count: int
) -> list[tuple[Place, int, int, int]]:
    """The edges (place, head, query, key) with the largest effects; the last key of a query cannot be cut."""
    found: list[tuple[float, Place, tuple[int, int, int]]] = []
    for place, values in edges.items():
        several = places[place].statistics.allowed > 1  # (head, query)
        sizes = np.abs(np.nan_to_num(values)) * np.broadcast_to(several, values.shape[:2])[..., None]
        for flat in np.argsort(-sizes, axis=None)[:count].tolist():
            head, query, key = map(int, np.unravel_index(flat, sizes.shape))
            if sizes[head, query, key] > 0:
                found.append((float(sizes[head, query, key]), place, (head, query, key)))
    found.sort(key=lambda each: -each[0])
    return [(place, *where) for _, place, where in found[:count]]


def record_edges(recording: Recording, edges: Effects, said: Message) -> Recording:
    """The same text with the effect of each edge in the place of its weight.

    An edge without an estimate (NaN: its query sees no other key) is 0 there, and a note says so.
    """
    missing = sum(int(np.isnan(values).sum()) for values in edges.values())
    edges = {place: np.nan_to_num(values) for place, values in edges.items()}
    notes = [message("workbench.effects.edges", outcome=said)]
    if missing:
        notes.append(message("workbench.effects.not_estimated", count=missing))
    maps = tuple(
        AttentionMap(
            each.place,
            each.query,
            each.key,
            # The same keys are hidden as in the recording: causal maps stay so.
            replace(measure_signed(edges[each.place]), allowed=each.statistics.allowed),
            edges[each.place].astype(np.float32),
            dtype=each.dtype,
        )
        for each in recording.maps
        if each.place in edges
    )
    evidence = recording.evidence
    evidence = replace(
        evidence,
        exact=False,
        largest_error=None,
        reference=None,
        notes=(*notes, *evidence.notes),
    )
    return Recording(
        recording.model, evidence, recording.source, recording.target, maps, output=recording.output
    )


def measure_patching(
    model: LoadedModel,
    request: PatchingRequest,
    given: JobInputs,
    corrupted: JobInputs,
    reporter: JobReporter,
) -> None:
    """Report, layer by layer, the outcome of the corrupted text with vectors of the clean one put in."""
    outcome = read_outcome(request.outcome)
    if max(given.count, corrupted.count) > MOST_TOKENS:
        raise InputError(
            "workbench.effects.too_many_tokens", count=max(given.count, corrupted.count), most=MOST_TOKENS
        )
    texts: dict[str, Any] = {"target_language": given.language, "second_text": given.second_text}
    target: Any = given.target
    recordings = [
        model.record(each.inputs, target, want=("weights",), **texts) for each in (given, corrupted)
    ]
    if target is None and recordings[0].target is not None:
        target = tuple(recordings[0].target.ids[1:].tolist())
    shown = [tuple(map(make_visible, each.source.texts)) for each in recordings]
    if len(shown[0]) != len(shown[1]):
        raise InputError(
            "workbench.effects.other_length",
            clean=len(shown[0]),
            corrupted=len(shown[1]),
            clean_tokens=shown[0],
            corrupted_tokens=shown[1],
        )
    stack = "decoder" if model.shape == "decoder" else "encoder"
    maps = {
        each.place.layer: each
        for each in recordings[0].maps
        if each.place.stack == stack and each.place.kind == "self" and each.place.step is None
    }
    if not maps:
        raise InputError("workbench.effects.nothing_to_patch", model=model.name)
    clean: float | None = None
    for done, (layer, attention_map) in enumerate(maps.items(), 1):
        reporter.check()
        edits: Sequence[Edit]
        if request.part == "heads":
            edits = [
                PatchHead(stack, "self", layer, head, given.inputs) for head in range(attention_map.heads)
            ]
        else:
            edits = [
                PatchStates(stack, request.part, layer, given.inputs, positions=(token,))
                for token in range(len(shown[0]))
            ]
        swept = sweep(model, corrupted.inputs, target, outcome=outcome, edits=edits, **texts)
        if clean is None:
            clean = sweep(model, given.inputs, target, outcome=outcome, edits=edits[:1], **texts).baseline
        step = PatchingStep(
            outcome=describe_outcome(model, outcome),
            clean=clean,
            corrupted=swept.baseline,
            clean_tokens=shown[0],
            corrupted_tokens=shown[1],
            layers=len(maps),
            stack=stack,
            layer=layer,
            values=tuple(swept.values.tolist()),
        )
        reporter.step(step.model_dump(mode="json"))
        reporter.progress("running", done / len(maps), f"{done}/{len(maps)}")
