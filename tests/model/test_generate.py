"""Greedy choice, sampling and streaming: as `transformers`, in any batch, with and without cache."""

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.generate import generate, stream
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.prompt import pad_left
from glassformer.model.transformer import Transformer
from tolerances import assert_near

PADDING, START, END = 0, 1, 2
LIMIT = 40
RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [  # theirs, ours
    ({}, {}),
    ({"min_new_tokens": 8}, {"min_new_tokens": 8}),
    ({"repetition_penalty": 1.7}, {"repetition_penalty": 1.7}),
    ({"no_repeat_ngram_size": 1}, {"no_repeat_ngram": 1}),
    ({"no_repeat_ngram_size": 2}, {"no_repeat_ngram": 2}),
    (
        {"repetition_penalty": 0.6, "no_repeat_ngram_size": 3, "min_new_tokens": 4},
        {"repetition_penalty": 0.6, "no_repeat_ngram": 3, "min_new_tokens": 4},
    ),
    ({"forced_eos_token_id": END}, {"force_end": True}),
]


@pytest.mark.parametrize(("their_words", "our_words"), RULES, ids=lambda words: "-".join(words))
def test_greedy_equals_transformers(
    pair: Any, their_words: dict[str, Any], our_words: dict[str, Any]
) -> None:
    theirs = pair.ask_theirs(max_new_tokens=16, **their_words)
    settings = GenerationSettings(max_new_tokens=16, forbidden=(PADDING,), **our_words)
    ours = generate(pair.ours, pair.ids, pair.real, settings)
    for row, generated in enumerate(ours):
        assert list(generated.ids) == pair.answer(theirs.sequences[row])
        numbers = [scores[row].log_softmax(-1) for scores in theirs.scores]
        expected = [float(numbers[step][token]) for step, token in enumerate(generated.ids)]
        assert_near(generated.log_probabilities, expected, layers=2)
        assert_near(generated.total, math.fsum(expected), layers=2)
    if not our_words:
        assert {generated.stopped for generated in ours} == {"end", "length"}, "the networks have become dull"


def test_same_with_and_without_cache(
    network: Any, rows: list[list[int]], check_same: Callable[..., None]
) -> None:
    ids, real = pad_left(rows)
    for words in ({}, {"sample": True, "seed": 4, "top_k": 9}):
        kept, computed = (
            generate(network, ids, real, GenerationSettings(max_new_tokens=9, cache=cache, **words))
            for cache in (True, False)
        )
        for one, other in zip(kept, computed, strict=True):
            check_same(one.n_best[0], other.n_best[0])


def test_same_batched_and_alone(network: Any, rows: list[list[int]], check_same: Callable[..., None]) -> None:
    settings = GenerationSettings(max_new_tokens=9, repetition_penalty=1.4, no_repeat_ngram=2)
    together = generate(network, *pad_left(rows, padding_id=7), settings)  # padding with a word, to be seen
    for row, generated in zip(rows, together, strict=True):
        alone = generate(network, torch.tensor([row]), settings=settings)[0]
        check_same(generated.n_best[0], alone.n_best[0])


@pytest.mark.gpu
@pytest.mark.parametrize("words", [{}, {"beams": 3, "n_best": 3}, {"sample": True, "seed": 4, "top_k": 9}])
def test_same_on_a_gpu(
    network: Any, rows: list[list[int]], check_same: Callable[..., None], words: dict[str, Any]
) -> None:
    ids, real = pad_left(rows)
    settings = GenerationSettings(max_new_tokens=9, no_repeat_ngram=2, **words)
    here = generate(network, ids, real, settings)
    there = generate(copy.deepcopy(network).cuda(), ids.cuda(), real.cuda(), settings)
    for one, other in zip(here, there, strict=True):
        for hypothesis, another in zip(one.n_best, other.n_best, strict=True):
            check_same(hypothesis, another)


def test_prefix_opens_the_target(translator: Transformer, rows: list[list[int]]) -> None:
    ids, real = pad_left(rows)
    settings = GenerationSettings(max_new_tokens=6, forbidden=(END,))
    whole = [generated.ids for generated in generate(translator, ids, real, settings)]
    prefix = torch.tensor([[START, *ids[:2]] for ids in whole])
    rest = generate(translator, ids, real, GenerationSettings(max_new_tokens=4, forbidden=(END,)), prefix)
    assert [generated.ids for generated in rest] == [ids[2:] for ids in whole]


def test_finished_rows_cost_nothing(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []
    begin = pair.ours.begin

    def watched(*arguments: Any, **words: Any) -> Any:
        decoding = begin(*arguments, **words)
        step = decoding.step
        decoding.step = lambda ids: widths.append(len(ids)) or step(ids)
        return decoding

    monkeypatch.setattr(pair.ours, "begin", watched)
    generated = generate(pair.ours, pair.ids, pair.real, GenerationSettings(max_new_tokens=16))
    lengths = [len(row.ids) for row in generated]
    assert widths == [sum(length > step for length in lengths) for step in range(1, max(lengths))]


class TestSampling:
    """Drawing is reproducible, and follows the probabilities that the settings leave."""

    def test_seed_decides(self, decoder: Transformer, rows: list[list[int]]) -> None:
        ids, real = pad_left(rows)
        state = torch.random.get_rng_state()
        answers = [
            [generated.ids for generated in generate(decoder, ids, real, settings)]
            for settings in (
                GenerationSettings(max_new_tokens=12, sample=True, temperature=2.0, seed=seed)
                for seed in (1, 1, 2)
            )
        ]
        assert answers[0] == answers[1] != answers[2]
        assert torch.equal(state, torch.random.get_rng_state()), "the caller's random numbers were used up"

    def test_without_seed_answers_differ(self, decoder: Transformer) -> None:
        settings = GenerationSettings(max_new_tokens=20, sample=True, temperature=3.0)
        answers = {generate(decoder, torch.tensor([[5, 6]]), settings=settings)[0].ids for _ in range(3)}
        assert len(answers) > 1

    def test_rows_do_not_depend_on_each_other(self, network: Any, rows: list[list[int]]) -> None:
        settings = GenerationSettings(max_new_tokens=12, sample=True, temperature=1.5, top_p=0.95, seed=9)
        together = generate(network, *pad_left(rows), settings)
        assert together[0].ids == generate(network, torch.tensor([rows[0]]), settings=settings)[0].ids
        two = generate(network, *pad_left([rows[2], rows[1]]), settings)
        assert together[1].ids == two[1].ids

    def test_rows_of_one_text_differ(self, decoder: Transformer) -> None:
        settings = GenerationSettings(max_new_tokens=12, sample=True, temperature=3.0, seed=9)
        answers = generate(decoder, torch.tensor([[5, 6]] * 6), settings=settings)
        assert len({generated.ids for generated in answers}) == 6

    @pytest.mark.parametrize(
        "words", [{"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-4}, {"temperature": 1e-300}]
    )
    def test_narrowest_is_greedy(
        self, decoder: Transformer, rows: list[list[int]], words: dict[str, Any]
    ) -> None:
        ids, real = pad_left(rows)
        drawn = generate(
            decoder, ids, real, GenerationSettings(max_new_tokens=9, sample=True, seed=0, **words)
        )
        greedy = generate(decoder, ids, real, GenerationSettings(max_new_tokens=9))
        assert [one.ids for one in drawn] == [one.ids for one in greedy]


class TestStreaming:
    """One step at a time, the same answer, and a network left as it was found at every moment."""

    def test_steps_are_those_of_generate(self, pair: Any) -> None:
        settings = GenerationSettings(max_new_tokens=12, alternatives=3)
        generated = generate(pair.ours, pair.ids, pair.real, settings)
        steps = list(stream(pair.ours, pair.ids, pair.real, settings))
        assert [node for step in steps for node in step] == sorted(
            (node for row in generated for node in row.tree.nodes), key=lambda node: (node.step, node.row)
        )
        for row, whole in enumerate(generated):
            nodes = [node for step in steps for node in step if node.row == row]
            assert tuple(node.token for node in nodes) == whole.ids
            assert [node.state for node in nodes] == ["kept"] * (len(nodes) - 1) + ["finished"]
            assert [node.parent for node in nodes] == [node.id - 1 for node in nodes]
            assert_near(nodes[-1].total, whole.total, layers=2)

    def test_nothing_is_computed_ahead(self, decoder: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
        calls: list[int] = []
        handle = decoder.embeddings.register_forward_pre_hook(lambda module, inputs: calls.append(1))
        steps = stream(decoder, torch.tensor([[5, 6]]), settings=GenerationSettings(forbidden=(END,)))
        next(steps), next(steps)
        handle.remove()
        assert len(calls) == 2, "the prompt and the first token should have been read, and nothing else"

    @pytest.mark.parametrize("beams", [1, 3])
    def test_network_is_left_as_found(self, decoder: Transformer, beams: int) -> None:
        decoder.train()
        decoder.embeddings.eval()  # a mode of its own
        modes = [module.training for module in decoder.modules()]
        try:
            steps = stream(decoder, torch.tensor([[5, 6]]), settings=GenerationSettings(beams=beams))
            for _ in range(2):
                next(steps)
                assert [module.training for module in decoder.modules()] == modes
                assert torch.is_grad_enabled()
                assert not torch.is_inference_mode_enabled()
            steps.close()
            generate(
                decoder, torch.tensor([[5, 6]]), settings=GenerationSettings(beams=beams, max_new_tokens=3)
            )
            with pytest.raises(InputError):
                generate(decoder, torch.tensor([[5] * (LIMIT + 1)]))
            assert [module.training for module in decoder.modules()] == modes
        finally:
            decoder.eval()

    @pytest.mark.parametrize("beams", [1, 3])
    def test_runs_without_gradients_and_changes_no_logits(self, decoder: Transformer, beams: int) -> None:
        outputs: list[Tensor] = []
        modes: list[bool] = []

        def watch(module: object, inputs: object, output: Tensor) -> None:
            outputs.append(output)
            modes.append(torch.is_inference_mode_enabled())

        assert decoder.head is not None
        handle = decoder.head.register_forward_hook(watch)
        settings = GenerationSettings(max_new_tokens=3, forbidden=(5, 6), repetition_penalty=2.0, beams=beams)
        generate(decoder, torch.tensor([[5, 6]]), settings=settings)
        handle.remove()
        assert modes == [True] * 3
        assert all(output.isfinite().all() for output in outputs), (
            "a rule was written into the network's logits"
        )

    def test_dropout_is_off(self, decoder: Transformer) -> None:
        ids = torch.tensor([[5, 6]])
        calm = generate(decoder, ids)[0]
        decoder.train()
        try:
            assert generate(decoder, ids)[0] == calm
        finally:
            decoder.eval()


class TestLengths:
    """An answer ends with the end token, at the wanted length, or where the network's positions end."""

    @pytest.mark.parametrize("beams", [1, 4])
    def test_positions_are_the_limit(self, decoder: Transformer, beams: int) -> None:
        settings = GenerationSettings(forbidden=(END,), beams=beams)
        for length in (LIMIT - 3, LIMIT):
            generated = generate(decoder, torch.tensor([[5] * length]), settings=settings)[0]
            assert (len(generated.ids), generated.stopped) == (LIMIT - length, "length")
        with pytest.raises(
            InputError, match=f"{LIMIT + 1} tokens, but this network has positions for {LIMIT}"
        ):
            generate(decoder, torch.tensor([[5] * (LIMIT + 1)]), settings=settings)

    @pytest.mark.parametrize("beams", [1, 3])
    @pytest.mark.parametrize("cache", [True, False])
    def test_padding_takes_no_positions(self, network: Any, beams: int, cache: bool) -> None:
        settings = GenerationSettings(forbidden=(END,), beams=beams, max_new_tokens=9, cache=cache)
        texts = [[5] * LIMIT, [6] * (LIMIT - 1), [7] * 5]
        together = generate(network, *pad_left(texts), settings)
        assert [row.ids for row in together] == [
            generate(network, torch.tensor([text]), settings=settings)[0].ids for text in texts
        ]
        bounded = isinstance(network, Transformer) and network.config.positions in ("learned", "sinusoidal")
        if bounded and network.config.shape == "decoder":
            assert [len(row.ids) for row in together] == [0, 1, 9]
        else:
            assert [len(row.ids) for row in together] == [9, 9, 9]

    def test_targets_have_a_limit_of_their_own(self, translator: Transformer) -> None:
        settings = GenerationSettings(forbidden=(END,), max_new_tokens=100)
        generated = generate(translator, torch.tensor([[5] * LIMIT]), settings=settings)[0]
        assert (len(generated.ids), generated.stopped) == (LIMIT - 1, "length")  # the start takes one


def test_alternatives_are_the_likeliest(pair: Any) -> None:
    settings = GenerationSettings(max_new_tokens=8, alternatives=4)
    for row in generate(pair.ours, pair.ids, pair.real, settings):
        for token, number, choices in zip(row.ids, row.log_probabilities, row.alternatives, strict=True):
            assert len(choices) == 4
            assert choices[0].token == token
            assert choices[0].log_probability == pytest.approx(number)
            assert sorted(choices, key=lambda choice: -choice.log_probability) == list(choices)
    few = generate(pair.ours, pair.ids, pair.real, GenerationSettings(max_new_tokens=2, alternatives=1000))
    certain = math.fsum(math.exp(choice.log_probability) for choice in few[0].alternatives[0])
    assert_near(certain, 1, layers=2)
    narrow = GenerationSettings(max_new_tokens=2, alternatives=9, sample=True, top_k=3, seed=0)
    assert len(generate(pair.ours, pair.ids, pair.real, narrow)[0].alternatives[0]) == 3


class TestRefusals:
    """What cannot be generated is said in a sentence."""

    @pytest.mark.parametrize("beams", [1, 3])
    def test_nothing_left_to_choose(self, decoder: Transformer, beams: int) -> None:
        settings = GenerationSettings(forbidden=tuple(range(43)), beams=beams)
        with pytest.raises(InputError, match="Relax"):
            generate(decoder, torch.tensor([[5, 6]]), settings=settings)

    @pytest.mark.parametrize("beams", [1, 3])
    def test_weights_that_are_not_numbers(self, decoder: Transformer, beams: int) -> None:
        broken = Transformer(decoder.config)
        torch.nn.init.constant_(broken.embeddings.tokens.weight, math.nan)
        with pytest.raises(InputError, match="not numbers"):
            generate(broken, torch.tensor([[5, 6]]), settings=GenerationSettings(beams=beams))


def test_without_an_end_only_length_stops(decoder: Transformer) -> None:
    endless = Transformer(
        ModelConfig(vocabulary_size=11, shape="decoder", layers=1, width=8, heads=1, max_length=64)
    )
    for beams in (1, 3):
        settings = GenerationSettings(max_new_tokens=7, min_new_tokens=2, force_end=True, beams=beams)
        generated = generate(endless, torch.tensor([[5, 6]]), settings=settings)[0]
        assert (len(generated.ids), generated.stopped) == (7, "length")
