"""Descriptions of recordings: everything but the arrays, as the page gets it.

In:   a Recording and what the library knows about it.
Out:  Description, TokenSlice and their parts: typed, small, ready for JSON.
"""

from typing import Annotated

from pydantic import BeforeValidator

from glassformer.api.jobs import JobRequest
from glassformer.api.media import PictureDescription, SoundDescription, describe_picture, describe_sound
from glassformer.api.probes import ProbeDescription
from glassformer.comparison.difference import Difference
from glassformer.config import Shape
from glassformer.messages import Message
from glassformer.recording import AttentionMap, Evidence, Output, Recording, Step, Tokens, count_levels
from glassformer.recording.axes import (
    AxisSide,
    RowSide,
    find_axis_side,
    find_parts,
    find_row_side,
    find_starts,
    find_written,
    is_causal,
)
from glassformer.recording.generation import OutputKind
from glassformer.recording.statistics import Content
from glassformer.recording.visible import make_visible
from glassformer.schema import (
    Finite,
    MessageField,
    Pair,
    PlaceModel,
    ResponseModel,
    replace_surrogates,
)

LONGEST_TEXT = 20_000  # characters of a text in a description
MOST_POSITIONS = 2_048  # of an output
MOST_TOKENS = 8_192  # in one slice


Unicode = Annotated[str, BeforeValidator(replace_surrogates)]
Cut = Annotated[str, BeforeValidator(lambda text: replace_surrogates(text[:LONGEST_TEXT]))]
Visible = Annotated[str, BeforeValidator(make_visible)]  # with blanks, line ends and bytes made visible


class SideDescription(ResponseModel):
    """One of the two texts, what each position of the target writes, or what a part of the model reads."""

    side: RowSide
    count: int
    text: Cut | None
    picture: PictureDescription | None = None  # that its tokens were cut from
    sound: SoundDescription | None = None


class MapDescription(ResponseModel):
    """One attention map: a layer of a stack, self or cross, whole or of one generation step."""

    place: PlaceModel
    content: Content  # weights: rows sum to one; signed: differences, attributions
    heads: int
    queries: int
    keys: int
    query_side: AxisSide
    key_side: AxisSide
    row_side: RowSide  # whose tokens name the rows: in cross-attention what each of them writes
    query_start: int
    key_start: int
    causal: bool
    has_weights: bool
    has_scores: bool
    has_queries: bool
    has_keys: bool
    has_values: bool
    dense: bool
    levels: int
    key_heads: int | None
    head_width: int | None
    scale: float | None
    relaxed: MessageField | None  # why rows need not sum to one


class HiddenDescription(ResponseModel):
    """The hidden states of a stack."""

    stack: str
    side: AxisSide
    layers: int
    tokens: int
    width: int


class EvidenceMessages(ResponseModel):
    """The texts of the evidence; `summary` is the one line, its parts joined by " · "."""

    kernel: MessageField
    reference: MessageField | None
    edits: tuple[MessageField, ...]
    mark: MessageField | None = None  # that the model was edited; shown wherever the recording is
    notes: tuple[MessageField, ...]
    summary: tuple[MessageField, ...]


class EvidenceDescription(ResponseModel):
    """Where the numbers come from."""

    model: str
    model_hash: str
    dtype: str
    exact: bool
    largest_error: Finite
    versions: dict[str, str]
    messages: EvidenceMessages


class TokenChoice(ResponseModel):
    """A token that was chosen, or an alternative to it."""

    token: int
    text: Visible
    log_probability: Finite  # None: minus infinity


class StepDescription(TokenChoice):
    """One step of a generation, or a node of a beam search."""

    index: int
    alternatives: tuple[TokenChoice, ...]
    beam: int
    parent: int | None
    score: Finite


class GenerationDescription(ResponseModel):
    """How a text was generated."""

    method: str
    text: Unicode
    steps: tuple[StepDescription, ...]
    nodes: tuple[StepDescription, ...]
    forced: tuple[int, ...] = ()  # steps whose tokens were given, not chosen


class NumberDescription(ResponseModel):
    """A number that a model of regression says of a text."""

    name: Visible
    value: Finite


class OutputDescription(ResponseModel):
    """The likeliest outputs of each position; of a long text of the last one alone."""

    stack: str
    kind: OutputKind
    positions: tuple[tuple[TokenChoice, ...], ...]  # none where there are too many
    last: tuple[TokenChoice, ...]  # of the last position: the next word
    numbers: tuple[NumberDescription, ...]  # what the model says of the text; its only output where it does


class ComparedRecording(ResponseModel):
    """One of two recordings that are compared."""

    id: str
    title: MessageField
    model: str
    mark: MessageField | None  # that its model was edited


class DifferenceDescription(ResponseModel):
    """What was subtracted from what, how tokens were aligned, and what was left out."""

    first: ComparedRecording
    second: ComparedRecording
    identical: bool  # both have the same tokens in the same order
    notes: tuple[MessageField, ...]


class BranchDescription(ResponseModel):
    """Where a recording left another one."""

    step: int
    token: int | None
    name: str


class Description(ResponseModel):
    """Everything about a recording but its arrays and its tokens."""

    id: str
    title: MessageField
    model: str
    shape: Shape
    evidence: EvidenceDescription
    source: SideDescription
    target: SideDescription | None
    written: SideDescription | None  # what each position of the target writes
    part: SideDescription | None = None  # what axes show that is neither text: patches of a vision tower
    part2: SideDescription | None = None
    part3: SideDescription | None = None
    maps: tuple[MapDescription, ...]
    hidden: tuple[HiddenDescription, ...]
    output: OutputDescription | None
    generation: GenerationDescription | None
    request: JobRequest | None  # that made it, where it is known
    branch: BranchDescription | None = None  # where it left another recording
    probe: ProbeDescription | None = None  # of a training run: its other steps and texts
    difference: DifferenceDescription | None = None  # of the id FIRST~SECOND


class TokenSlice(ResponseModel):
    """Some tokens of one side, from `start` on; `shown` makes blanks, line ends and bytes visible."""

    side: RowSide
    start: int
    texts: tuple[Unicode, ...]
    shown: tuple[Visible, ...]
    ids: tuple[int, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...] | None
    offsets: tuple[Pair, ...] | None
    text: Cut | None


_WRITTEN = {"side": "written", "picture": None, "sound": None}  # words, whatever the target was cut from


def describe(
    recording: Recording,
    id: str,
    title: Message,
    request: JobRequest | None = None,
    probe: ProbeDescription | None = None,
    difference: DifferenceDescription | None = None,
) -> Description:
    """The description of a recording."""
    generation, written = recording.generation, find_written(recording)
    return Description(
        id=id,
        title=title,
        model=recording.model,
        shape=find_shape(recording),
        evidence=_describe_evidence(recording.evidence),
        source=_describe_side(recording.source),
        target=None if recording.target is None else _describe_side(recording.target),
        written=None if written is None else _describe_side(written).model_copy(update=_WRITTEN),
        maps=tuple(describe_map(recording, each) for each in recording.maps),
        **{side: _describe_side(part, side) for side, part in find_parts(recording).items()},
        hidden=tuple(_describe_hidden(recording, stack) for stack in recording.hidden),
        output=None if recording.output is None else _describe_output(recording.output),
        generation=None if generation is None else GenerationDescription.model_validate(generation),
        request=request,
        branch=None if recording.branch is None else BranchDescription.model_validate(recording.branch),
        probe=probe,
        difference=difference,
    )


def describe_difference(
    difference: Difference, first: tuple[str, Message], second: tuple[str, Message]
) -> DifferenceDescription:
    """What was compared; ids and titles are those of the two recordings."""
    sides = []
    for (id, title), recording in ((first, difference.first), (second, difference.second)):
        mark = recording.evidence.mark
        sides.append(ComparedRecording(id=id, title=title, model=recording.model, mark=mark))
    return DifferenceDescription(
        first=sides[0],
        second=sides[1],
        identical=difference.identical,
        notes=difference.recording.evidence.notes[1:],
    )


def _describe_evidence(evidence: Evidence) -> EvidenceDescription:
    plain = {name: getattr(evidence, name) for name in EvidenceDescription.model_fields if name != "messages"}
    return EvidenceDescription(**plain, messages=EvidenceMessages.model_validate(evidence))


def find_shape(recording: Recording) -> Shape:
    """The shape of the network, by the stacks of its maps and states."""
    stacks = {each.stack for each in recording.maps} | set(recording.hidden)
    if recording.target is not None or stacks >= {"encoder", "decoder"}:
        return "encoder-decoder"
    return "encoder" if "encoder" in stacks else "decoder"


def describe_map(recording: Recording, each: AttentionMap) -> MapDescription:
    """The description of one map."""
    keys = each.keys
    query_start, key_start = find_starts(recording, each)
    return MapDescription(
        place=PlaceModel.of(each.place),
        content=each.content,
        heads=each.heads,
        queries=len(each.query),
        keys=len(each.key),
        query_side=find_axis_side(recording, each.query),
        key_side=find_axis_side(recording, each.key),
        row_side=find_row_side(recording, each),
        query_start=query_start,
        key_start=key_start,
        causal=is_causal(each),
        has_weights=each.has_weights,
        has_scores=each.has_scores,
        has_queries=each.peek("queries") is not None,
        has_keys=each.peek("keys") is not None,
        has_values=each.peek("values") is not None,
        dense=each.peek("dense") is not None,
        levels=count_levels(each),
        key_heads=None if keys is None else keys.shape[0],
        head_width=None if keys is None else keys.shape[2],
        scale=each.scale,
        relaxed=each.relaxed,
    )


def slice_tokens(tokens: Tokens, side: RowSide, start: int, stop: int) -> TokenSlice:
    """Some tokens; `shown` makes blanks, line ends and bytes visible."""
    part = slice(start, stop)
    texts = tokens.texts[part]
    return TokenSlice(
        side=side,
        start=start,
        texts=texts,
        shown=texts,
        ids=tuple(tokens.ids[part].tolist()),
        special=tuple(tokens.special[part].tolist()),
        words=None if tokens.words is None else tuple(tokens.words[part].tolist()),
        offsets=None if tokens.offsets is None else tuple(map(tuple, tokens.offsets[part].tolist())),
        text=tokens.text,
    )


def _describe_side(tokens: Tokens, side: RowSide | None = None) -> SideDescription:
    return SideDescription(
        side=side or tokens.side,
        count=len(tokens),
        text=tokens.text,
        picture=describe_picture(tokens.picture),
        sound=describe_sound(tokens.sound),
    )


def _describe_hidden(recording: Recording, stack: str) -> HiddenDescription:
    layers, tokens, width = recording.hidden[stack].shape
    return HiddenDescription(
        stack=stack, side=find_hidden_side(recording, stack), layers=layers, tokens=tokens, width=width
    )


def find_hidden_side(recording: Recording, stack: str) -> AxisSide:
    """Whose tokens the hidden states of a stack belong to: as the stack's own maps say, else by length."""
    sides = {find_axis_side(recording, each.query) for each in recording.maps if each.stack == stack}
    if len(sides) == 1:
        return sides.pop()
    target = recording.target
    tokens = recording.hidden[stack].shape[1]
    return "target" if target is not None and stack == "decoder" and len(target) == tokens else "source"


def _describe_output(output: Output) -> OutputDescription:
    if output.kind == "numbers":
        named = zip(output.texts(0), output.numbers, strict=True)
        numbers = tuple(NumberDescription(name=name, value=value) for name, value in named)
        return OutputDescription(stack=output.stack, kind=output.kind, positions=(), last=(), numbers=numbers)
    long = len(output.ids) > MOST_POSITIONS
    first = len(output.ids) - 1 if long else 0
    rows = zip(output.ids[first:].tolist(), output.log_probabilities[first:].tolist(), strict=True)
    choices = tuple(
        tuple(
            TokenChoice(token=token, text=output.vocabulary[token], log_probability=log)
            for token, log in zip(ids, logs, strict=True)
        )
        for ids, logs in rows
    )
    last = choices[-1] if choices else ()
    return OutputDescription(
        stack=output.stack, kind=output.kind, positions=() if long else choices, last=last, numbers=()
    )


def describe_step(step: Step) -> StepDescription:
    """One step of a generation, or one node of a tree."""
    return StepDescription.model_validate(step)
