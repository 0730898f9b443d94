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
from glassformer.model.generate import at_inference, open_search
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import ROOT, Generated, Node
from glassformer.recorders.edits.edit import Edit, check_generation, needs_numbered_queries
from glassformer.recorders.native.edits import applying_edits
from glassformer.recorders.native.recorder import OurSubject
from glassformer.recorders.outputs import read_generation
from glassformer.recording import Alternative, Recording, Step
from glassformer.workbench.reading import Given, Subject, shape_of, tokenizer_of
from glassformer.workbench.worker import Teller

ALTERNATIVES = 10  # told for each word
USUAL = 40  # words that a decoder goes on with where nothing is said
BEAMS = 4
TEMPERATURE = 1.0


def choose_settings(subject: Subject, decode: DecodeRequest | None, most: int) -> GenerationSettings:
    """How to write: as asked, otherwise as the model likes to."""
    habit = subject.generation if isinstance(subject, OurSubject) else GenerationSettings()
    habit = replace(habit, alternatives=ALTERNATIVES, n_best=1)
    usual = habit.max_new_tokens if shape_of(subject) == "encoder-decoder" else USUAL
    if decode is None:
        return replace(habit, max_new_tokens=min(usual, most))
    words = replace(habit, max_new_tokens=min(decode.max_new_tokens or usual, most), min_new_tokens=0)
    if decode.method == "beam":
        return replace(words, beams=decode.beams or BEAMS, sample=False)
    if decode.method == "greedy":
        return replace(words, beams=1, sample=False)
    return replace(
        words,
        beams=1,
        sample=True,
        temperature=decode.temperature or TEMPERATURE,
        top_k=decode.top_k or None,
        top_p=decode.top_p or 1.0,
        seed=decode.seed,
    )


def write(
    subject: Subject,
    given: Given,
    settings: GenerationSettings,
    want: Collection[str],
    edits: Sequence[Edit],
    teller: Teller,
) -> Recording:
    """Let the model write, and record what it reads in the end."""
    teller.writing = True
    at_once = not isinstance(subject, OurSubject) or needs_numbered_queries(edits)
    if at_once:  # an edge to cut has to be met in one go; others write behind closed doors
        recording = subject.record(
            given.inputs, target_language=given.language, decode=settings, want=want, edits=edits
        )
        generation = recording.generation
        for step in () if generation is None else (generation.nodes or generation.steps):
            teller.step(describe_step(step).model_dump(mode="json"))
        return recording
    assert isinstance(subject, OurSubject)
    check_generation(edits)
    prompt = _open_end(subject, given.ids)
    generated = _generate(subject, prompt, settings, edits, teller)
    teller.writing = False
    teller.progress("running", 0.0)
    if shape_of(subject) == "encoder-decoder":
        target = _as_read(subject, generated.words, target=True)
        recording = subject.record(
            given.inputs, target, target_language=given.language, want=want, edits=edits
        )
    else:
        whole = _as_read(subject, (*prompt, *generated.words), target=False)
        recording = subject.record(whole, want=want, edits=edits)
    return replace(recording, generation=read_generation(generated, settings, subject.reader.show))


def tell_answers(subject: Subject, recording: Recording, teller: Teller) -> None:
    """What a model predicts that does not write: the words at its masks, or the class of the text."""
    output, tokenizer = recording.output, tokenizer_of(subject)
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
        teller.step(describe_step(step).model_dump(mode="json"))


def _generate(
    subject: OurSubject,
    prompt: tuple[int, ...],
    settings: GenerationSettings,
    edits: Sequence[Edit],
    teller: Teller,
) -> Generated:
    network = subject.network
    with ExitStack() as changes:
        changes.enter_context(applying_edits(network, edits))
        changes.enter_context(at_inference(network))
        ids = torch.tensor([prompt], device=next(network.parameters()).device)
        search = open_search(network, ids, None, settings, None)
        places: dict[int, int] = {}  # of each node in the list of all, as the recording will number them
        step = 0
        while search.advance():
            for rank, node in enumerate(search.trace.nodes(step).get(0, ())):
                parent = None if node.parent == ROOT or settings.beams == 1 else places[node.parent]
                places[node.id] = len(places)
                text = subject.reader.show([node.token])[0]
                known = (node.token, text, node.log_probability, _alternatives(subject, node))
                score = node.total if settings.beams > 1 else None
                teller.step(describe_step(Step(step, *known, rank, parent, score)).model_dump(mode="json"))
            step += 1
            most = settings.max_new_tokens
            teller.progress("running", min(1.0, step / most), f"{step}/{most}")
        return search.results()[0]


def _open_end(subject: OurSubject, ids: tuple[int, ...]) -> tuple[int, ...]:
    """A prompt of a decoder without its end: that is not the end of the text."""
    ends = shape_of(subject) == "decoder" and len(ids) > 1 and ids[-1] == subject.network.config.end_id
    return ids[:-1] if ends else ids


def _as_read(subject: OurSubject, ids: tuple[int, ...], *, target: bool) -> str | tuple[int, ...]:
    """Ids as text, where the tokenizer would read the same ids from it: a text knows where its words are."""
    tokenizer = subject.tokenizer
    if tokenizer is None or not ids:
        return ids
    text = tokenizer.decode(ids)
    again = tokenizer.encode(text, special=not target, target=target)
    return text if again.ids == ids else ids


def _alternatives(subject: OurSubject, node: Node) -> tuple[Alternative, ...]:
    texts = subject.reader.show([choice.token for choice in node.alternatives])
    return tuple(
        Alternative(choice.token, text, choice.log_probability)
        for choice, text in zip(node.alternatives, texts, strict=True)
    )
