"""`record`: one text through one model, once; the network is left exactly as it was found.

In:   a model that `load` opens, a text, what to keep, what to change.
Out:  a Recording with its evidence. Requests are checked here, for every kind of model; the recorders
      (native/, transformers/) only run the network and collect.
"""

import platform
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from secrets import randbits
from typing import Any

import torch

from glassformer import __version__
from glassformer.errors import InputError
from glassformer.loaded.model import Decode, LoadedModel
from glassformer.loaded.opening import load
from glassformer.loaded.reading import Inputs
from glassformer.loaded.transformers import TransformersModel
from glassformer.messages import Message, message
from glassformer.model.generate import Forced
from glassformer.model.generation_settings import GenerationSettings
from glassformer.place import name_term
from glassformer.recorders.call import Kernel
from glassformer.recorders.causes.outcomes import Token, find_targets
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.kept_settings import write_edits, write_stages
from glassformer.recorders.native.recorder import NativeRecorder
from glassformer.recorders.references import prepare_edits
from glassformer.recorders.request import (
    TRACES,
    USUAL,
    OnStep,
    Recorder,
    Request,
    Run,
    check_computing,
    check_edits,
    check_want,
)
from glassformer.recorders.store import ArrayStore, hold_or_store
from glassformer.recorders.transformers.recorder import TransformersRecorder
from glassformer.recording import Evidence, Recording, Tokens
from glassformer.text.tokenizer import Encoding

SEED_BITS = 31
RECORDERS = {"native": NativeRecorder, "transformers": TransformersRecorder}


def record(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
    decode: Decode = None,
    prefix: Sequence[int] = (),
    forced: Sequence[int] = (),
    on_step: OnStep | None = None,
    want: Collection[str] = USUAL,
    targets: Sequence[Token] = (),
    edits: Sequence[Edit] = (),
    kernel: Kernel | None = None,
    keep: ArrayStore | None = None,
) -> Recording:
    """Run a model once on a text, picture or sound and keep what is wanted; the model is left as found.

    Arguments:
        model: whatever `load` opens: a zoo name, a folder, a hub name, one of our networks, a live model of
            transformers, or a `LoadedModel`.
        inputs: a text; token ids (list, array or tensor, also a batch of one row); or a mapping, such as the
            output of a tokenizer of transformers (input_ids, attention_mask, token_type_ids) or, for a model
            of transformers, any of its inputs (pixel_values, input_features …) as a batch of one. Where the
            model looks at pictures: a `Path`, pixels (height, width[, 1, 3 or 4]) as uint8, or a picture of
            Pillow; where it listens: a `Path` or a `Waveform`; also what a recording kept of them.
            A model of transformers needs its processor for them (see `load`).
        target: what the decoder of an encoder-decoder reads after its start token, which is put in front (so
            of an earlier recording `target.ids[1:]`); without it the model writes its own.
        tokenizer, device: see `load`.
        target_language: what to translate into, where the vocabulary names languages ("fr").
        second_text: for models that read pairs of texts (BERT).
        decode: let the model write first: `GenerationSettings`, a dictionary in our names or in those of
            transformers ({"do_sample": True, "max_new_tokens": 20}), or a `transformers.GenerationConfig`.
        prefix: token ids with which the text starts that the model writes.
        forced: token ids that the model has to write first; unlike `prefix` they are steps, with the
            probabilities that the model gave them. See `gf.branch`, too.
        on_step: called with each `Step` of what the model writes, and with None when it is finished. Our
            networks call it at once, models of transformers after the last step.
        want: what to keep; statistics of every map always are:
            "weights"     attention weights (head, query, key)
            "scores"      what the softmax was given
            "queries", "keys", "values"   of every head
            "hidden"      hidden states after every layer
            "output"      the likeliest tokens or classes
            "logits"      all logits (position, vocabulary), in `recording.output.logits`
            "statistics"  nothing else
            "trace", "parameters"   every step of the pass and the weights (our own networks)
        targets: tokens (a text that is one token, or an id) or classes (labels) whose logit, log-probability
            and rank are kept at every position, in `recording.output.targets`.
        edits: changes for this recording only:
            AblateHead(stack, kind, layer, head, how="zero", reference=())   take away what a head gives, or
                replace it: how = "zero", "uniform", "mean" or "resample"
            CutEdge(stack, kind, layer, head, query, key)            hide a key from a query
            ScaleScores(factor, stack=None, kind=None, layer=None)   sharpen or flatten attention
            FirstLayers(count, stack=None)                           run the first layers only
            PatchHead, PatchStates                                   put in what another text gives
            Steer(stack, layer, vector)                              add a vector
            BlockHead(stack, kind, layer, head, key=None, first=0)       silence a head, or hide a key, from a
                query on
        kernel: "exact" forms the attention matrices, "fast" never does; by default the length decides.
        keep: where large arrays go (see `glassformer.recorders.store`).

    >>> recording = gf.record("zoo/translator", "The cat sleeps.", target_language="fr")
    >>> gf.record("zoo/gpt2", "Once upon a time", decode={"max_new_tokens": 5}).generation.text
    ', I was not a'
    >>> edit = gf.AblateHead("encoder", "self", 3, head=2)
    >>> gf.record("zoo/bert", "The cat", edits=[edit], want=("hidden",)).hidden["encoder"].shape
    (7, 4, 256)
    >>> scores = gf.record("zoo/gpt2", "The men on the road", targets=(" were", " was")).output.targets
    >>> bool(scores.difference()[-1] > 0)  # logit of " were" minus that of " was", after the last token
    True
    """
    loaded = load(model, tokenizer, device=device)
    loaded.require("records")
    wanted, settings = check_want(want), loaded.read_settings(decode)
    chosen = find_targets(loaded, targets)
    if chosen or "logits" in wanted:
        wanted |= {"output"}
    if wanted & set(TRACES):
        loaded.require("traces")
    check_computing(kernel, keep)
    _check_sides(loaded, target, settings, source_language)
    writes = target is None and (settings is not None or loaded.shape == "encoder-decoder")
    for name, given in {"prefix": prefix, "forced": forced}.items():
        if given and not writes:
            raise InputError("record.prefix_not_continued", name=name)
    if settings is not None and settings.sample and settings.seed is None:
        settings = replace(settings, seed=_draw_seed(loaded))  # known, so that the text can be drawn again
    request = make_request(
        loaded, inputs, target, second_text=second_text, target_language=target_language, edits=edits
    )
    request = replace(
        request,
        decode=settings,
        want=wanted,
        kernel=kernel,
        keep=keep or hold_or_store,
        prefix=(*request.prefix, *prefix),
        on_step=on_step,
        targets=chosen,
        forced=_force(forced, settings or loaded.generation) if forced else None,
    )
    return run_request(loaded, request, target_language)


def _draw_seed(model: LoadedModel) -> int:
    """From PyTorch for a model of transformers, whose users expect `torch.manual_seed` to repeat a text."""
    if model.library == "transformers":
        return int(torch.randint(1 << SEED_BITS, ()))
    return randbits(SEED_BITS)


def _force(tokens: Sequence[int], settings: GenerationSettings) -> Forced:
    return Forced(tuple(int(token) for token in tokens), ((0, settings),))


def run_request(model: LoadedModel, request: Request, target_language: str | None = None) -> Recording:
    """Carry out a request that has been checked."""
    recorder = find_recorder(model)
    ready = replace(request, edits=prepare_edits(model, recorder, request, target_language))
    return finish_run(model, request, recorder.run(ready), ready.edits)


def finish_run(model: LoadedModel, request: Request, run: Run, edits: Sequence[Edit] = ()) -> Recording:
    """A recording of what a pass showed, with its evidence; `edits` are those of the request, prepared."""
    generation = run.generation
    if generation is not None:
        generation = replace(
            generation,
            forced=tuple(range(0 if request.forced is None else len(request.forced.tokens))),
            settings=write_stages(model, request),
            edits=write_edits(request.edits),
        )
    return Recording(
        model=model.name,
        evidence=_make_evidence(model, request, edits, run),
        source=run.source,
        target=run.target,
        maps=tuple(run.maps),
        hidden=run.hidden,
        output=run.output,
        generation=generation,
        architecture=run.architecture,
        trace=run.trace,
    )


def make_request(
    model: LoadedModel,
    inputs: Inputs,
    target: Inputs | None,
    *,
    second_text: str | None,
    target_language: str | None,
    edits: Sequence[Edit] = (),
    model_hash: str | None = None,
) -> Request:
    """A plain recording of a text, to be made with these edits; `model_hash` where it is known already."""
    changes = check_edits(edits)
    if changes:
        model.require("edits")
    return Request(
        source=_read_source(model, inputs, target, second_text, target_language),
        target=None if target is None else _read_target(model, target, target_language),
        decode=None,
        want=frozenset({"statistics"}),
        edits=changes,
        kernel=None,
        keep=hold_or_store,
        model_hash=model_hash or model.identity.hash(),
        second_text=second_text,
        prefix=model.begin_target(target_language) if target is None else (),
    )


def _read_target(model: LoadedModel, target: Inputs, target_language: str | None) -> Encoding:
    """A target without its start token; in front its language, where the source has no place for it."""
    encoding = model.reader.read(target, target=True)
    for token in () if target_language is None else model.begin_target(target_language):
        encoding = model.reader.prepend(token, encoding)
    return encoding


def _check_sides(
    model: LoadedModel, target: Inputs | None, decode: GenerationSettings | None, source_language: str | None
) -> None:
    """Refuse a target, a way to write or a language that this model has no use for."""
    shape = name_term(model.shape)
    if target is not None and model.shape != "encoder-decoder":
        raise InputError("record.no_target_side", name=model.name, shape=shape)
    if decode is not None and target is not None:
        raise InputError("record.target_and_decode")
    if decode is not None and not (model.can("generates") or model.can("translates")):
        raise InputError("record.cannot_decode", name=model.name, shape=shape)
    if source_language is not None:
        raise InputError("record.source_language", name=model.name)


def _read_source(
    model: LoadedModel,
    inputs: Inputs,
    target: Inputs | None,
    second_text: str | None,
    target_language: str | None,
) -> Any:
    """Tokens; or, where the model's library takes inputs by name, a mapping as it is."""
    if isinstance(model, TransformersModel) and model.processor.takes(inputs):
        inputs = model.processor.read(model.name, inputs)
    if isinstance(inputs, Mapping) and model.takes_named_inputs:
        if target is not None or second_text is not None or target_language is not None:
            raise InputError("record.mapping_and_texts")
        return inputs
    return model.read_source(inputs, second_text, target_language)


def find_recorder(model: LoadedModel) -> Recorder:
    """One for each model: it keeps what its self-check found."""
    if Recorder not in model.cache:
        model.cache[Recorder] = RECORDERS[model.library](model)
    found: Recorder = model.cache[Recorder]
    return found


def _make_evidence(model: LoadedModel, request: Request, edits: Sequence[Edit], run: Run) -> Evidence:
    versions = {"glassformer": __version__}
    versions |= {package: sys.modules[package].__version__ for package in model.packages}
    return Evidence(
        model=model.name,
        model_hash=request.model_hash,
        kernel=run.kernel,
        dtype=str(next(model.network.parameters()).dtype).removeprefix("torch."),
        exact=run.comparison.exact,
        largest_error=run.comparison.error,
        reference=run.comparison.reference,
        edits=tuple(_describe_edit(edit, run) for edit in edits),
        versions={**versions, "python": platform.python_version()},
        notes=tuple(dict.fromkeys((*model.notes, *run.notes))),
    )


def _describe_edit(edit: Edit, run: Run) -> Message:
    """What an edit does. The number of a patch or a moment says little: they are named, too."""
    described = edit.as_message()
    axes = next(({"query": each.query, "key": each.key} for each in run.maps if edit.touches(each.place)), {})
    named = {
        axis: name
        for axis, tokens in axes.items()
        if (number := described.parameters.get(axis)) is not None and (name := _name_part(tokens, number))
    }
    return Message(described.code, {**described.parameters, **named}) if named else described


def _name_part(tokens: Tokens, number: int) -> Message | None:
    """A patch or a moment with its number; None for other tokens."""
    if number >= len(tokens):
        return None
    name = tokens.texts[number]
    if tokens.picture is not None and tokens.picture.cells[number] >= 0:
        return message("recorders.edits.patch", number=number, name=name)
    if tokens.sound is not None and tokens.sound.spans[number, 0] >= 0:
        return message("recorders.edits.moment", number=number, name=name)
    return None
