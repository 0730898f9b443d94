"""Beam search: the hypotheses of `transformers`, the truth where all can be counted, the whole tree."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from campaigns import campaign
from glassformer.config import ModelConfig
from glassformer.model.generate import generate, stream
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.prompt import pad_left
from glassformer.model.transformer import Transformer
from tolerances import assert_near

PADDING, START, END = 0, 1, 2
NAMES = {"num_beams": "beams", "num_return_sequences": "n_best", "no_repeat_ngram_size": "no_repeat_ngram"}


def compare(pair: Any, **words: Any) -> list[Any]:
    """Hold all hypotheses of all rows to those of `transformers`: tokens, order, scores."""
    theirs = pair.ask_theirs(**words)
    our_words = {
        NAMES.get(name, name): value for name, value in words.items() if name != "forced_eos_token_id"
    }
    settings = GenerationSettings(forbidden=(PADDING,), force_end="forced_eos_token_id" in words, **our_words)
    ours = generate(pair.ours, pair.ids, pair.real, settings)
    answers = [hypothesis for generated in ours for hypothesis in generated.n_best]
    assert [list(answer.ids) for answer in answers] == [
        pair.answer(sequence) for sequence in theirs.sequences
    ]
    scores = theirs.sequences_scores.tolist()
    assert_near([answer.score for answer in answers], scores, layers=2)
    return answers


@campaign(
    "beams, length_penalty, early_stopping",
    list(itertools.product([2, 4, 5], [0.6, 1.0, 2.0, -1.0], [True, False])),
    sample=8,
)
def test_equals_transformers(pair: Any, beams: int, length_penalty: float, early_stopping: bool) -> None:
    answers = compare(
        pair,
        max_new_tokens=14,
        num_beams=beams,
        num_return_sequences=beams,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
    )
    assert len({answer.ids for answer in answers}) > 3 * beams, "the networks have become dull"
    if length_penalty <= 1:  # more than that makes all answers as long as they may be
        assert len({len(answer.ids) for answer in answers}) > 2, "the networks have become dull"


@pytest.mark.parametrize(
    "words",
    [
        {"max_new_tokens": 1},
        {"max_new_tokens": 2, "early_stopping": True},
        {"min_new_tokens": 7, "max_new_tokens": 12},
        {"min_new_tokens": 9, "max_new_tokens": 9},
        {"repetition_penalty": 1.7, "max_new_tokens": 12},
        {"no_repeat_ngram_size": 1, "max_new_tokens": 12},
        {"no_repeat_ngram_size": 2, "min_new_tokens": 3, "repetition_penalty": 0.8, "max_new_tokens": 12},
        {"forced_eos_token_id": END, "max_new_tokens": 6},
    ],
    ids=lambda words: "-".join(words),
)
def test_rules_equal_transformers(pair: Any, words: dict[str, Any]) -> None:
    compare(pair, num_beams=4, num_return_sequences=3, **words)


@pytest.mark.parametrize(("beams", "early_stopping"), [(3, False), (5, True)])
def test_same_with_and_without_cache_batched_and_alone(
    network: Any, rows: list[list[int]], check_same: Callable[..., None], beams: int, early_stopping: bool
) -> None:
    words = {"beams": beams, "n_best": beams, "early_stopping": early_stopping, "no_repeat_ngram": 2}
    kept, computed = (
        generate(network, *pad_left(rows), GenerationSettings(max_new_tokens=8, cache=cache, **words))
        for cache in (True, False)
    )
    for row, *both in zip(rows, kept, computed, strict=True):
        settings = GenerationSettings(max_new_tokens=8, **words)
        alone = generate(network, torch.tensor([row]), settings=settings)[0]
        for other in (*both, alone):
            for one, another in zip(both[0].n_best, other.n_best, strict=True):
                check_same(one, another)


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_wide_search_finds_the_best_there_is(length_penalty: float) -> None:
    """Five words, three steps: every answer can be counted, and 64 beams hold them all."""
    torch.manual_seed(2)
    config = ModelConfig(
        vocabulary_size=5,
        shape="decoder",
        layers=1,
        width=16,
        heads=2,
        feed_forward=16,
        max_length=8,
        end_id=END,
    )
    network = Transformer(config).eval()
    prompt = [4, 3]
    answers: list[tuple[float, tuple[int, ...]]] = []
    for length in (1, 2, 3):
        for ids in itertools.product(range(5), repeat=length):
            if END in ids[:-1] or (ids[-1] != END and length < 3):
                continue
            with torch.inference_mode():
                logits = network(torch.tensor([[*prompt, *ids]]))[0].log_softmax(-1)
            total = math.fsum(float(logits[len(prompt) - 1 + step, token]) for step, token in enumerate(ids))
            answers.append((total / length**length_penalty, ids))
    expected = sorted(answers, reverse=True)[:10]
    settings = GenerationSettings(max_new_tokens=3, beams=64, n_best=10, length_penalty=length_penalty)
    found = generate(network, torch.tensor([prompt]), settings=settings)[0].n_best
    assert [hypothesis.ids for hypothesis in found] == [ids for _, ids in expected]
    assert_near([hypothesis.score for hypothesis in found], [score for score, _ in expected], layers=2)


def test_more_beams_than_answers(decoder: Transformer) -> None:
    """Two words and two steps: six answers and a seventh beam that never has one."""
    torch.manual_seed(2)
    network = Transformer(
        ModelConfig(vocabulary_size=2, shape="decoder", layers=1, width=8, heads=1, max_length=8, end_id=1)
    )
    settings = GenerationSettings(max_new_tokens=2, beams=7, n_best=7)
    generated = generate(network, torch.tensor([[0]]), settings=settings)[0]
    assert {hypothesis.ids for hypothesis in generated.n_best} == {(1,), (0, 0), (0, 1)}
    assert all(math.isfinite(node.total) for node in generated.tree.nodes)


def test_stream_gives_the_tree_step_by_step(pair: Any) -> None:
    settings = GenerationSettings(beams=3, max_new_tokens=10)
    trees = [generated.tree.nodes for generated in generate(pair.ours, pair.ids, pair.real, settings)]
    for step, nodes in enumerate(stream(pair.ours, pair.ids, pair.real, settings)):
        assert nodes == [node for tree in trees for node in tree if node.step == step]
    assert step == max(node.step for tree in trees for node in tree)


def test_finished_sources_cost_nothing(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []
    begin = pair.ours.begin

    def watched(*arguments: Any, **words: Any) -> Any:
        decoding = begin(*arguments, **words)
        step = decoding.step
        decoding.step = lambda ids: widths.append(len(ids)) or step(ids)
        return decoding

    monkeypatch.setattr(pair.ours, "begin", watched)
    settings = GenerationSettings(beams=2, max_new_tokens=14, early_stopping=True)
    generated = generate(pair.ours, pair.ids, pair.real, settings)
    last_steps = [max(node.step for node in row.tree.nodes) for row in generated]
    expected = [2 * sum(last >= step for last in last_steps) for step in range(1, max(last_steps) + 1)]
    assert widths == expected
    assert len(set(widths)) > 1
