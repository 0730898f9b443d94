"""Words that a model writes, told as they come; and what other models have to say.

In:   an opened model, what it was given, how it is to write.
Out:  a Recording of the whole text with how each word was chosen.
"""

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace

import torch

from glassformer.api.description import describe_step
from glassformer.api.jobs import DecodeRequest
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import Network, find_network
from glassformer.model.generate import at_inference, open_search
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import ROOT, Generated, Node
from glassformer.recorders.edits.edit import Edit, check_generation, needs_numbered_queries
from glassformer.recorders.native.edits import applying_edits
from glassformer.recorders.outputs import read_generation
from glassformer.recorders.store import ArrayStore
from glassformer.recording import Alternative, Recording, Step
from glassformer.workbench.inputs import JobInputs, open_end
from glassformer.workbench.reporter import JobReporter

ALTERNATIVES = 10  # told for each word
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
    reporter.generating = True
    network = find_network(model)  # whose search can be followed
    if network is None or needs_numbered_queries(edits):  # an edge is cut in one pass only
        if given.prefix:
            raise InputError("workbench.request.fixed_start", model=model.name)
        recording = model.record(
            given.inputs, target_language=given.language, decode=settings, want=want, edits=edits, keep=keep
        )
        generation = recording.generation
        for step in () if generation is None else (generation.nodes or generation.steps):
            reporter.step(describe_step(step).model_dump(mode="json"))
        return recording
    check_generation(edits)
    prompt = open_end(model, given.ids)
    generated = _generate(model, network, (prompt, given.prefix), settings, edits, reporter)
    reporter.generating = False
    reporter.progress("running", 0.0)
    if model.shape == "encoder-decoder":
        target = _as_read(model, (*given.prefix, *generated.words), target=True)
        recording = model.record(
            given.inputs, target, target_language=given.language, want=want, edits=edits, keep=keep
        )
    else:
        whole = _as_read(model, (*prompt, *generated.words), target=False)
        recording = model.record(whole, want=want, edits=edits, keep=keep)
    return replace(recording, generation=read_generation(generated, settings, model.reader.show))


def report_answers(model: LoadedModel, recording: Recording, reporter: JobReporter) -> None:
    """What a model predicts that does not write: the words at its masks, or the class of the text."""
    output, tokenizer = recording.output, model.tokenizer
    if output is None:
        return
    places = [0]
    if output.kind == "tokens" and tokenizer is not None:
        places = [
            place
            for place, token in enumerate(recording.source.ids.tolist())
            if token == tokenizer.roles.get("mask")
        ]
    for place in places:
        rows = zip(
            output.ids[place].tolist(), output.texts(place), output.log_probabilities[place], strict=True
        )
        choices = tuple(Alternative(token, text, float(value)) for token, text, value in rows)
        best = choices[0]
        step = Step(place, best.token, best.text, best.log_probability, choices)
        reporter.step(describe_step(step).model_dump(mode="json"))


def _generate(
    model: LoadedModel,
    network: Network,
    given: tuple[tuple[int, ...], tuple[int, ...]],
    settings: GenerationSettings,
    edits: Sequence[Edit],
    reporter: JobReporter,
) -> Generated:
    """`given`: the prompt, and the first tokens of the target."""
    device = next(network.parameters()).device
    prompt, prefix = given
    start = torch.tensor([[model.start_id, *prefix]], device=device) if prefix else None
    with ExitStack() as changes:
        changes.enter_context(applying_edits(network, edits))
        changes.enter_context(at_inference(network))
        search = open_search(network, torch.tensor([prompt], device=device), None, settings, start)
        places: dict[int, int] = {}  # of each node in the list of all, as the recording will number them
        step = 0
        while search.advance():
            for rank, node in enumerate(search.trace.nodes(step).get(0, ())):
                parent = None if node.parent == ROOT or settings.beams == 1 else places[node.parent]
                places[node.id] = len(places)
                text = model.reader.show([node.token])[0]
                known = (node.token, text, node.log_probability, _alternatives(model, node))
                score = node.total if settings.beams > 1 else None
                reporter.step(describe_step(Step(step, *known, rank, parent, score)).model_dump(mode="json"))
            step += 1
            most = settings.max_new_tokens
            reporter.progress("running", min(1.0, step / most), f"{step}/{most}")
        return search.results()[0]


def _as_read(model: LoadedModel, ids: tuple[int, ...], *, target: bool) -> str | tuple[int, ...]:
    """Ids as text, where the tokenizer would read the same ids from it: a text knows where its words are."""
    tokenizer = model.tokenizer
    if tokenizer is None or not ids:
        return ids
    text = tokenizer.decode(ids)
    again = tokenizer.encode(text, special=not target, target=target)
    return text if again.ids == ids else ids


def _alternatives(model: LoadedModel, node: Node) -> tuple[Alternative, ...]:
    texts = model.reader.show([choice.token for choice in node.alternatives])
    return tuple(
        Alternative(choice.token, text, choice.log_probability)
        for choice, text in zip(node.alternatives, texts, strict=True)
    )
