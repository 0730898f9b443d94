"""What happens to a text, in order: the plan of the walk.

In:   a Recording.
Out:  WalkPlan. Where the architecture is known, every step of it; otherwise the steps that the recording
      backs. A step that was not kept is there all the same, and says why.
"""

from math import prod
from typing import Literal, cast

from glassformer.config import Shape
from glassformer.messages import Message, message
from glassformer.recording import LONGEST_TRACE, Recording
from glassformer.recording.axes import is_causal
from glassformer.walk.arrays import Arrays
from glassformer.walk.builder import PlanBuilder
from glassformer.walk.diagram import draw
from glassformer.walk.given import Architecture
from glassformer.walk.native import NativePlan
from glassformer.walk.observed import write_observed
from glassformer.walk.recurrent import RecurrentPlan
from glassformer.walk.types import Chapter, StackDescription, WalkPlan

LIGHT = ("norm", "add", "cut")  # operations whose parameters are a number for each feature, or one


def make_plan(recording: Recording) -> WalkPlan:
    """The plan of one recording.

    >>> config = gf.ModelConfig(vocabulary_size=100, shape="decoder", layers=1, width=16, heads=2)
    >>> traced = gf.record(gf.Transformer(config), [5, 17, 42], want=("trace", "parameters"))
    >>> [step.id for step in gf.make_plan(traced).chapters[1].steps][:2]
    ['decoder.0.self.queries', 'decoder.0.self.keys']
    """
    return follow(recording)[0]


def follow(recording: Recording) -> tuple[WalkPlan, Arrays]:
    """The plan of one recording, and arrays that also hold what follows from it."""
    arrays = Arrays(recording)
    architecture = arrays.architecture
    recurrent, ours = "cell" in architecture, bool(architecture)
    sides = [recording.source] + ([] if recording.target is None else [recording.target])
    short = max(map(len, sides)) <= LONGEST_TRACE
    missing = message("walk.no_trace") if short else message("walk.too_long", most=LONGEST_TRACE)
    builder = PlanBuilder(arrays, missing if ours else message("walk.not_kept"), message("walk.outside"))
    if recurrent:
        RecurrentPlan(architecture, builder).write()
    elif ours:
        NativePlan(architecture, builder).write()
    else:
        write_observed(builder)
    chapters = builder.close()
    stacks = _describe_stacks(arrays, architecture)
    traced = any(not name.startswith("parameters/") for name in recording.trace)
    parameters = any(name.startswith("parameters/") for name in recording.trace)
    unkept = any(step.missing == builder.missing for chapter in chapters for step in chapter.steps)
    plan = WalkPlan(
        model=recording.model,
        shape=_find_shape(recording, architecture),
        ours=ours,
        recurrent=recurrent,
        norm_position=cast(Literal["pre", "post"] | None, architecture.get("norm_position")),
        architecture=architecture or None,
        traced=traced,
        parameters=parameters,
        more=(short and not (traced and parameters)) if ours else unkept,
        stacks=stacks,
        chapters=chapters,
        diagram=draw(chapters, stacks),
        notes=_note(recording, builder, chapters),
    )
    return plan, arrays


def list_arrays(recording: Recording, most: int) -> list[str]:
    """The arrays that a walk reads, in order; at most so many numbers in all.

    Of parameters only those of norms and sums, which are small. Of layers that were not traced, none: other
    pictures show what is known of them.
    """
    plan, arrays = follow(recording)
    traced = {tuple(name.split("/")[:2]) for name in recording.trace}
    steps = [
        step
        for chapter in plan.chapters
        for step in chapter.steps
        if chapter.layer is None or (chapter.stack, str(chapter.layer)) in traced
    ]
    named = [name for step in steps for name in (*step.inputs, step.output)]
    named += [name for step in steps if step.operation in LIGHT for name in step.parameters.names()]
    listed, count = [], 0
    for name in dict.fromkeys(named):
        shape = arrays.shape(name)
        if shape is not None and count + prod(shape) <= most:
            count += prod(shape)
            listed.append(name)
    return listed


def _note(recording: Recording, builder: PlanBuilder, chapters: tuple[Chapter, ...]) -> tuple[Message, ...]:
    notes = []
    steps = [step for chapter in chapters for step in chapter.steps]
    missing = [step.missing for step in steps if step.missing is not None]
    if builder.unobserved in missing:
        notes.append(message("walk.only_attention"))
    if builder.missing in missing:
        notes.append(builder.missing)
    kept = set(recording.trace)
    if any(set(step.parameters.names()) - kept and step.missing is None for step in steps):
        notes.append(message("walk.no_parameters"))
    if recording.evidence.edits:
        notes.append(message("walk.edited"))
    return tuple(notes)


def _find_shape(recording: Recording, architecture: Architecture) -> Shape:
    if architecture:
        return cast(Shape, architecture.get("shape", "encoder-decoder"))
    if recording.target is not None:
        return "encoder-decoder"
    return "decoder" if any(each.stack == "decoder" for each in recording.maps) else "encoder"


def _describe_stacks(arrays: Arrays, architecture: Architecture) -> tuple[StackDescription, ...]:
    recording, found = arrays.recording, []
    for stack in arrays.stacks():
        whole = [each for each in recording.maps if each.stack == stack and each.step is None]
        own = [each for each in whole if each.kind == "self"]
        states = recording.hidden.get(stack)
        tokens = arrays.tokens(stack)
        found.append(
            StackDescription(
                stack=stack,
                side=tokens.side,
                tokens=len(tokens),
                layers=arrays.depth(stack),
                heads=whole[0].heads if whole else None,
                width=int(architecture.get("width") or 0) or (None if states is None else states.shape[-1]),
                causal=bool(own) and is_causal(own[0]),
                shared=bool(architecture.get("share_layers")),
            )
        )
    return tuple(found)
