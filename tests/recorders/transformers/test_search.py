"""How tokens were chosen: the tree of a beam search, drawn words, alternatives."""

import numpy as np
import pytest
import torch

from generating_models import BEAMS, DECODERS, GREEDY, PROMPT, SAMPLING, generate_eager, make, words_of
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recording import Generation
from tolerances import assert_near


@pytest.mark.parametrize("kind", ["GPT-2", "Llama", "BART", "T5"])
def test_beams_grow_the_tree_that_transformers_searched(kind: str) -> None:
    model = make(kind)
    recording = load(model).record(PROMPT, decode=BEAMS)
    reference = generate_eager(
        model, max_new_tokens=7, min_new_tokens=3, num_beams=3, num_return_sequences=3, do_sample=False
    )
    count = int((reference.beam_indices[0] >= 0).sum())
    start = len(PROMPT) if kind in DECODERS else 1
    expected = reference.sequences[0, start : start + count].tolist()
    assert words_of(recording) == expected
    generation = recording.generation
    assert generation.method == "beam"
    check_tree(generation)
    scores = model.compute_transition_scores(
        reference.sequences, reference.scores, reference.beam_indices, normalize_logits=False
    )
    assert_near(
        np.array([step.log_probability for step in generation.steps]), scores[0, :count].numpy(), layers=2
    )
    for number, sequence in enumerate(reference.sequences):  # every hypothesis is a path through the tree
        length = int((reference.beam_indices[number] >= 0).sum())
        end = find_path(generation, sequence[start : start + length].tolist())
        assert_near(generation.nodes[end].score, float(scores[number, :length].sum()), layers=2)
    first = [node for node in generation.nodes if node.index == 0]
    likeliest = reference.scores[0][0].topk(2 * 3)  # transformers compares two candidates for each beam
    assert [node.token for node in first] == likeliest.indices.tolist()
    assert_near([node.score for node in first], likeliest.values.tolist(), layers=2)
    for step in range(1, len(generation.steps)):
        parents = {node.parent for node in generation.nodes if node.index == step}
        assert 1 <= len(parents) <= 3  # what was not followed has no children
        assert len([node for node in generation.nodes if node.index == step]) >= 2 * 3


def check_tree(generation: Generation) -> None:
    for node in generation.nodes:
        before = 0.0 if node.parent is None else generation.nodes[node.parent].score
        assert_near(node.score, before + node.log_probability, layers=2)
    for step in range(len(generation.steps)):
        level = [node for node in generation.nodes if node.index == step]
        assert [node.beam for node in level] == list(range(len(level)))
        assert [node.score for node in level] == sorted((node.score for node in level), reverse=True)
        assert len(level) >= min(3, len(level)) > 0


def find_path(generation: Generation, words: list[int]) -> int:
    """The node at which these words end."""
    place: int | None = None
    for step, word in enumerate(words):
        nodes = enumerate(generation.nodes)
        place = next(i for i, n in nodes if (n.index, n.parent, n.token) == (step, place, word))
    assert place is not None
    return place


def test_words_that_were_drawn_are_those_of_the_seed() -> None:
    model = make("GPT-2")
    state = torch.get_rng_state()
    subject = load(model)
    first = subject.record(PROMPT, decode=SAMPLING)
    assert torch.equal(torch.get_rng_state(), state), "the generator of the caller is left alone"
    torch.manual_seed(11)
    reference = generate_eager(model, max_new_tokens=7, do_sample=True, top_k=12, temperature=0.8)
    assert words_of(first) == reference.sequences[0, len(PROMPT) :].tolist()
    for step, scores in zip(first.generation.steps, reference.scores, strict=True):
        logarithms = scores[0].log_softmax(-1)  # after temperature and top-k
        assert_near(step.log_probability, float(logarithms[step.token]), layers=2)
    assert words_of(subject.record(PROMPT, decode=SAMPLING)) == words_of(first)


def test_steps_carry_the_likeliest_words() -> None:
    model = make("GPT-2")
    recording = load(model).record(PROMPT, decode=GREEDY)
    ids = list(PROMPT)
    for step in recording.generation.steps:
        with torch.no_grad():
            logarithms = model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
        best = logarithms.topk(3)
        assert [each.token for each in step.alternatives] == best.indices.tolist()
        assert_near([each.log_probability for each in step.alternatives], best.values.tolist(), layers=2)
        assert_near(step.log_probability, float(logarithms[step.token]), layers=2)
        ids.append(step.token)


def test_an_end_is_not_read_but_told() -> None:
    model = make("Llama")
    settings = GenerationSettings(max_new_tokens=7, forbidden=(2,))
    words = words_of(load(model).record(PROMPT, decode=settings))
    model.generation_config.eos_token_id = words[1]
    assert words[1] not in (*PROMPT, words[0])
    recording = load(model).record(PROMPT, decode=settings)
    assert words_of(recording) == words[:2]
    assert recording.source.ids.tolist() == [*PROMPT, words[0]]
    assert recording.maps[0].shape == (4, 6, 6)
