"""Text that a model writes, reported as it comes; and what other models predict.

In:   an opened model, what it was given, how it is to write.
Out:  a Recording of the whole text with how each token was chosen.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace

from glassformer.api.description import describe_step
from glassformer.api.jobs import BranchRequest, DecodeRequest
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.branch import branch, open_hypothesis
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.kept_settings import read_stages
from glassformer.recorders.request import OnStep
from glassformer.recorders.store import ArrayStore
from glassformer.recording import Alternative, Recording, Step, Tokens
from glassformer.workbench.inputs import JobInputs
from glassformer.workbench.reporter import JobReporter

ALTERNATIVES = 10  # reported for each token
USUAL = 40  # tokens that a decoder generates by default
BEAMS = 4
TEMPERATURE = 1.0


def choose_settings(model: LoadedModel, decode: DecodeRequest | None, most: int) -> GenerationSettings:
    """How to generate: as asked, otherwise by the model's own settings."""
    habit = replace(model.generation, alternatives=ALTERNATIVES, n_best=1)
    usual = habit.max_new_tokens if model.shape == "encoder-decoder" else USUAL
    if decode is None:
        return replace(habit, max_new_tokens=min(usual, most))
    chosen = replace(habit, max_new_tokens=min(decode.max_new_tokens or usual, most), min_new_tokens=0)
    if decode.method == "beam":
        return replace(chosen, beams=decode.beams or BEAMS, sample=False)
    if decode.method == "greedy":
        return replace(chosen, beams=1, sample=False)
    return replace(
        chosen,
        beams=1,
        sample=True,
        temperature=decode.temperature or TEMPERATURE,
        top_k=decode.top_k or None,
        top_p=decode.top_p or 1.0,
        seed=decode.seed,
    )


def write(
    model: LoadedModel,
    given: JobInputs,
    settings: GenerationSettings,
    want: Collection[str],
    edits: Sequence[Edit],
    reporter: JobReporter,
    keep: ArrayStore,
) -> Recording:
    """Let the model write, and record what it reads in the end."""
    return model.record(
        given.inputs,
        target_language=given.language,
        decode=settings,
        prefix=given.prefix,
        on_step=_make_report(reporter, settings.max_new_tokens),
        want=want,
        edits=edits,
        keep=keep,
    )


def go_on(
    model: LoadedModel,
    parent: Recording,
    wanted: BranchRequest,
    want: Collection[str],
    reporter: JobReporter,
    keep: ArrayStore,
    most: int,
) -> Recording:
    """Branch off from a recording, or open a hypothesis of its beam search."""
    generation = parent.generation
    if generation is None:
        raise InputError("recorders.branch.not_generated")
    steps = len(generation.steps if wanted.node is None else generation.path(wanted.node))
    if steps > most:
        raise InputError("workbench.request.too_many_new_tokens", count=steps, most=most)
    if wanted.node is None:  # the bundle may come from anywhere: its settings are not within our limits
        stages = read_stages(generation)
        steps = min(wanted.max_new_tokens or stages[-1][1].max_new_tokens, most)
        kept = ({"step": first, **asdict(_limit(each, most))} for first, each in stages)
        parent = replace(parent, generation=replace(generation, settings=tuple(kept)))
    report = _make_report(reporter, max(1, steps))
    if wanted.node is not None:
        return open_hypothesis(
            parent, wanted.node, name=wanted.name, model=model, want=want, on_step=report, keep=keep
        )
    return branch(
        parent,
        wanted.step,
        token=wanted.token if wanted.text is None else wanted.text,
        edits=[edit.to_edit() for edit in wanted.edits],
        temperature=wanted.temperature,
        seed=wanted.seed,
        max_new_tokens=wanted.max_new_tokens,
        name=wanted.name,
        model=model,
        want=want,
        on_step=report,
        keep=keep,
    )


def _limit(settings: GenerationSettings, most: int) -> GenerationSettings:
    return replace(
        settings,
        max_new_tokens=min(settings.max_new_tokens, most),
        min_new_tokens=min(settings.min_new_tokens, most),
        alternatives=min(settings.alternatives, ALTERNATIVES),
    )


def _make_report(reporter: JobReporter, most: int) -> OnStep:
    """Tells each step, of at most so many; after the last one layers are reported."""

    def report(step: Step | None) -> None:
        if step is None:
            reporter.generating = False
            reporter.progress("running", 0.0)
            return
        reporter.step(describe_step(step).model_dump(mode="json"))
        done = step.index + 1
        reporter.progress("running", min(1.0, done / most), f"{done}/{most}")

    reporter.generating = True
    return report


def report_answers(model: LoadedModel, recording: Recording, reporter: JobReporter) -> None:
    """What a model predicts that does not write: the words at its masks, the class of the text, or the tags
    of its words. Numbers are no choices: they are in the recording."""
    output, tokenizer = recording.output, model.tokenizer
    if output is None or output.kind == "numbers":
        return
    places = [0]
    if output.kind == "tokens" and tokenizer is not None:
        places = [
            place
            for place, token in enumerate(recording.source.ids.tolist())
            if token == tokenizer.roles.get("mask")
        ]
    if output.kind == "tags":
        places = find_first_pieces(recording.source)
    for place in places:
        rows = zip(
            output.ids[place].tolist(), output.texts(place), output.log_probabilities[place], strict=True
        )
        choices = tuple(Alternative(token, text, float(value)) for token, text, value in rows)
        best = choices[0]
        step = Step(place, best.token, best.text, best.log_probability, choices)
        reporter.step(describe_step(step).model_dump(mode="json"))


def find_first_pieces(tokens: Tokens) -> list[int]:
    """Where each word begins; every token of the text where words are not known."""
    words = None if tokens.words is None else tokens.words.tolist()
    special = [False] * len(tokens) if tokens.special is None else tokens.special.tolist()
    return [
        place
        for place, is_special in enumerate(special)
        if not is_special and (words is None or not place or words[place] != words[place - 1])
    ]
