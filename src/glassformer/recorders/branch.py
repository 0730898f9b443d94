"""`branch`: go back to a step of a generated text and go on in another way.

In:   a recording of a generated text, and what changes from a step on: a token, edits, temperature, seed.
Out:  a recording of its own. Its model writes the steps before again and their probabilities are compared
      with those of the parent, so that a branch of another model, or of other settings, is refused.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from operator import index
from typing import Any

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.generate import Forced
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.causes.outcomes import Token, find_token
from glassformer.recorders.comparison import tolerance_of
from glassformer.recorders.edits import BlockHead, Edit
from glassformer.recorders.kept_settings import Stages, read_edits, read_stages
from glassformer.recorders.record import make_request, run_request
from glassformer.recorders.request import USUAL, OnStep, check_edits, check_want
from glassformer.recorders.store import ArrayStore, hold_or_store
from glassformer.recording import Branch, Generation, Recording, Step, Tokens, identify
from glassformer.recording.branch import check_name
from glassformer.rounding import SHARPEST
from glassformer.text.tokenizer import Encoding


def branch(  # noqa: PLR0913 - one argument for each thing that can change
    recording: Recording,
    step: int,
    *,
    token: Token | None = None,
    edits: Sequence[Edit] = (),
    temperature: float | None = None,
    seed: int | None = None,
    max_new_tokens: int | None = None,
    name: str = "",
    model: Any = None,
    want: Collection[str] = USUAL,
    on_step: OnStep | None = None,
    keep: ArrayStore | None = None,
) -> Recording:
    """Go back to a step of a generated text and go on in another way.

    Arguments:
        recording: of a text that a model wrote (`gf.record(…, decode=…)`, a translation, or a branch of one).
        step: from which on the branch may differ, from 0; the number of steps goes on where the text stopped.
        token: what is written at this step: an id, or a text that is exactly one token; None: the model
            chooses.
        edits: each a `gf.BlockHead`, which acts from this step on.
        temperature: from this step on: 0 takes the likeliest token, other values draw one. None: that of this
            step in the parent; a beam search goes on with the likeliest token.
        seed: for drawing; None: that of this step in the parent.
        max_new_tokens: how many steps there may be altogether; None: as before.
        name: of the branch, at most 120 characters.
        model: what `load` opens, where the name in the recording is not enough: a live model.
        want, on_step, keep: see `record`.

    >>> root = gf.record("zoo/gpt2", "Once upon a time", decode={"max_new_tokens": 4})
    >>> gf.branch(root, 1, token=" he").generation.text
    ', he was a'
    >>> gf.branch(root, 2, edits=[gf.BlockHead("decoder", "self", 0, head=3)]).generation.text[:3]
    ', I'
    """
    parent = _open(recording, model)
    step = _check_step(parent, step)
    same = not edits and token is temperature is seed is max_new_tokens is None
    count = _count_kept(parent, step) if same else step
    settings = _change(_find_settings(parent, count), temperature, seed, max_new_tokens)
    if step >= settings.max_new_tokens:
        raise InputError("recorders.branch.no_room", step=step, most=settings.max_new_tokens)
    first = parent.prompt - 1 + step  # the query that writes the token of this step
    added = tuple(_start_at(edit, first) for edit in check_edits(edits))
    written = tuple(each.token for each in parent.generation.steps[:count])
    chosen = None if token is None else find_token(parent.model, token)
    forced = Forced(
        written if chosen is None else (*written, chosen),
        (*((number, each) for number, each in parent.stages if number < count), (count, settings)),
    )
    described = Branch(identify(recording), step, chosen, check_name(name))
    made = _run(parent, forced, settings, added, _Output(want, on_step, keep))
    steps = tuple(each for each in parent.generation.forced if each < step)
    steps = steps if chosen is None else (*steps, step)
    return _finish(parent, made, parent.generation.steps[:count], described, forced=steps)


def open_hypothesis(
    recording: Recording,
    node: int,
    *,
    name: str = "",
    model: Any = None,
    want: Collection[str] = USUAL,
    on_step: OnStep | None = None,
    keep: ArrayStore | None = None,
) -> Recording:
    """A hypothesis of a beam search as a recording of its own, up to a node of the search.

    The score of its text (`generation.score`) is that of the node. `generation.hypotheses()` lists the nodes
    at which hypotheses end: that of the text that was kept first, pruned ones last.

    >>> found = gf.record("zoo/gpt2", "Once upon a", decode={"num_beams": 2, "max_new_tokens": 3})
    >>> node = found.generation.hypotheses()[3]
    >>> opened = gf.open_hypothesis(found, node)
    >>> abs(opened.generation.score - found.generation.nodes[node].score) < 1e-4
    True
    """
    parent = _open(recording, model)
    path = parent.generation.path(node)
    tokens = tuple(each.token for each in path)
    kept = [each.token for each in parent.generation.steps]
    differs = (place for place, (mine, other) in enumerate(zip(tokens, kept, strict=False)) if mine != other)
    step = next(differs, min(len(tokens), len(kept) - 1))
    last = parent.stages[-1][1]
    least = min(last.min_new_tokens, len(tokens))
    settings = replace(last, beams=1, n_best=1, min_new_tokens=least, max_new_tokens=len(tokens))
    described = Branch(
        identify(recording), step, tokens[step] if step < len(tokens) else None, check_name(name)
    )
    made = _run(parent, Forced(tokens, parent.stages), settings, (), _Output(want, on_step, keep))
    return _finish(parent, made, path, described, forced=(), method="beam")


@dataclass(frozen=True, slots=True)
class _Parent:
    """A recording that is branched from."""

    recording: Recording
    model: LoadedModel
    generation: Generation
    stages: Stages
    edits: tuple[Edit, ...]
    ended: bool  # its last token is the end of the text
    prompt: int  # tokens that the decoder read before it wrote


@dataclass(frozen=True, slots=True)
class _Output:
    """What is kept of the branch, and the callback for its steps."""

    want: Collection[str]
    on_step: OnStep | None
    keep: ArrayStore | None


def _open(recording: Recording, given: Any) -> _Parent:
    generation = recording.generation
    if generation is None or not generation.steps:
        raise InputError("recorders.branch.not_generated")
    model = load(recording.model if given is None else given)
    if model.identity.hash() != recording.evidence.model_hash:
        raise InputError("recorders.branch.other_model", name=model.name, made_by=recording.model)
    if model.tokenizer is None and recording.source.text is None and model.vocabulary_size is None:
        raise InputError("recorders.branch.reads_no_text", name=model.name)
    written = recording.source if model.shape == "decoder" else recording.target
    assert written is not None
    ended = generation.steps[-1].token in model.end_ids
    count = len(generation.steps) - ended
    tokens = [each.token for each in generation.steps][:count]
    if count > len(written) or written.ids[len(written) - count :].tolist() != tokens:
        raise InputError("recorders.branch.text_differs")
    edits = read_edits(generation, len(recording.evidence.edits))
    return _Parent(recording, model, generation, read_stages(generation), edits, ended, len(written) - count)


def _check_step(parent: _Parent, step: int) -> int:
    last = len(parent.generation.steps) - parent.ended
    try:
        number = -1 if isinstance(step, bool) else index(step)
    except TypeError:
        number = -1
    if not 0 <= number <= last:
        raise InputError("recorders.branch.no_step", step=str(step), last=last)
    return number


def _count_kept(parent: _Parent, step: int) -> int:
    """The steps of a parent that a branch without any change repeats: all up to the last stage, unless a
    token was forced there, which the model is to choose now."""
    forced = any(each >= step for each in parent.generation.forced)
    return step if forced else max(step, parent.stages[-1][0])


def _find_settings(parent: _Parent, step: int) -> GenerationSettings:
    """Those of a step, with the length of the whole text."""
    last = parent.stages[-1][1]
    settings = next((each for first, each in reversed(parent.stages) if first <= step), last)
    least = min(settings.min_new_tokens, last.max_new_tokens)
    return replace(settings, min_new_tokens=least, max_new_tokens=last.max_new_tokens)


def _change(
    settings: GenerationSettings, temperature: float | None, seed: int | None, most: int | None
) -> GenerationSettings:
    """How the branch goes on."""
    settings = replace(settings, beams=1, n_best=1)
    if temperature is not None:
        settings = replace(settings, sample=False)
        if temperature != 0:
            settings = replace(settings, sample=True, temperature=float(temperature))
    if seed is not None:
        settings = replace(settings, seed=seed)
    if settings.sample and settings.seed is None:
        raise InputError("recorders.branch.no_seed")
    return settings if most is None else replace(settings, max_new_tokens=most)


def _start_at(edit: Edit, first: int) -> Edit:
    if not isinstance(edit, BlockHead):
        raise InputError("recorders.branch.whole_text", edit=edit)
    return edit.starting(max(first, edit.first))


def _run(
    parent: _Parent,
    forced: Forced,
    settings: GenerationSettings,
    added: tuple[Edit, ...],
    output: _Output,
) -> Recording:
    recording, model = parent.recording, parent.model
    decoder = model.shape == "decoder"
    ids = recording.source.ids.tolist()
    prefix = () if decoder or recording.target is None else recording.target.ids[1 : parent.prompt].tolist()
    request = make_request(
        model,
        recording.source if model.reads != "text" else tuple(ids[: parent.prompt] if decoder else ids),
        None,
        second_text=None,
        target_language=None,
        edits=(*parent.edits, *added),
    )
    request = replace(
        request,
        decode=settings,
        want=check_want(output.want),
        keep=output.keep or hold_or_store,
        prefix=tuple(prefix),
        forced=forced,
        on_step=output.on_step,
    )
    if not decoder and model.reads == "text" and isinstance(request.source, Encoding):
        request = replace(request, source=_restore(request.source, recording.source))
    return run_request(model, request)


def _restore(encoding: Encoding, tokens: Tokens) -> Encoding:
    """Ids with what is known of the text that they were read from."""
    return replace(
        encoding,
        texts=tokens.texts,
        special=tuple(tokens.special.tolist()),
        text=encoding.text if tokens.text is None else tokens.text,
        offsets=None if tokens.offsets is None else tuple((a, b) for a, b in tokens.offsets.tolist()),
        words=None if tokens.words is None else tuple(tokens.words.tolist()),
    )


def _finish(
    parent: _Parent,
    made: Recording,
    before: Sequence[Step],
    described: Branch,
    *,
    forced: tuple[int, ...],
    method: str | None = None,
) -> Recording:
    """The recording as a branch, once its first steps are known to be those of its parent."""
    assert made.generation is not None
    _compare(parent, before, made.generation.steps)
    method = made.generation.method if method is None else method
    return replace(made, generation=replace(made.generation, forced=forced, method=method), branch=described)


def _compare(parent: _Parent, before: Sequence[Step], now: Sequence[Step]) -> None:
    """Refuse a branch whose first steps are not those of its parent, within rounding."""
    tolerance = tolerance_of(parent.model.network, SHARPEST)
    for old, new in zip(before, now, strict=False):
        logarithms = [old.log_probability, *(each.log_probability for each in old.alternatives)]
        size = max(1.0, *(abs(each) for each in logarithms if isfinite(each)))
        apart = abs(old.log_probability - new.log_probability) if isfinite(old.log_probability) else 0.0
        if old.token != new.token or not apart <= tolerance * size:
            raise InputError(
                "recorders.branch.steps_differ",
                step=old.index,
                seen=new.log_probability,
                wanted=old.log_probability,
            )
