"""Attributions are compared with what their definitions give by hand."""

from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from edited_models import (
    HEADS,
    KINDS,
    SOURCE,
    WIDTH,
    find_projection,
    make_architectures,
    make_ours,
    make_subject,
)
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.recorders.causes.attributions import METHODS, describe_method
from our_networks import build_recurrent
from tolerances import assert_near

OUTCOME = gf.LogitDifference(7, 9)


@pytest.mark.parametrize("kind", KINDS)
def test_value_weighted_maps_are_lengths_of_what_edges_add(kind: str) -> None:
    subject, reads = make_subject(kind)
    found = gf.attribute(subject, *reads, outcome=OUTCOME, method="value_weighted")
    plain = gf.attribute(subject, *reads, outcome=OUTCOME, method="attention")
    for each in subject.record(*reads, want=("weights", "values")).maps:
        module = find_projection(subject, *each.place[:3])
        weight = module.weight.detach() if kind == "GPT-2" else module.weight.detach().T
        matrices = weight.double().numpy().reshape(HEADS, WIDTH, -1)
        lengths = np.linalg.norm(np.asarray(each.values, np.float64) @ matrices, axis=-1)  # (head, key)
        size = float(lengths.max())
        wanted = each.dense * lengths[:, None]
        assert_near(found.maps[each.place], wanted, layers=3, scores=64, magnitude=size, where=each.place)
        assert_near(plain.maps[each.place], each.dense, layers=3, scores=64)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_times_attention_sums_to_estimates_of_heads(kind: str) -> None:
    subject, reads = make_subject(kind)
    found = gf.attribute(subject, *reads, outcome=OUTCOME, method="gradient_attention")
    estimate = gf.estimate(subject, *reads, outcome=OUTCOME)
    size = max(float(np.abs(each).max()) for each in estimate.positions.values())
    for place, heads in found.heads().items():
        assert_near(-heads, estimate.heads[place], magnitude=size, summands=256)
    assert found.signed


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_times_input_is_the_slope_towards_no_embedding(kind: str) -> None:
    """A table whose rows are scaled one by one, by hand, in float64."""
    subject, reads = make_subject(kind)
    subject.network.double()
    found = gf.attribute(subject, *reads, outcome=OUTCOME, method="gradient_input")
    tables = [
        each
        for each in subject.network.modules()
        if isinstance(each, torch.nn.Embedding) and each.num_embeddings == 30
    ]
    step = 1e-5

    def measure(position: int, factor: float) -> float:
        def scale(_: Any, inputs: Any, output: Any) -> Any:
            if inputs[0].flatten().tolist() != reads[0]:
                return output
            changed = output.clone()
            changed[:, position] *= factor
            return changed

        handles = [table.register_forward_hook(scale) for table in tables]
        value = gf.sweep(subject, *reads, outcome=OUTCOME).baseline
        for handle in handles:
            handle.remove()
        return value

    scores = found.scores["source"]
    assert len(scores) == len(reads[0])
    for position in (1, 4):
        wanted = (measure(position, 1 + step) - measure(position, 1 - step)) / (2 * step)
        assert abs(scores[position] - wanted) <= 1e-6 * np.abs(scores).max()
    assert ("target" in found.scores) == (len(reads) > 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_integrated_gradients_are_complete(kind: str) -> None:
    """In a smooth network: at the kinks of ReLU an integral converges slowly."""
    subject, reads = make_subject(kind)
    if subject.library == "native":
        subject = load(make_ours(subject.network.config.shape, activation="gelu"))
    subject.network.double()
    few, many = (
        gf.attribute(subject, *reads, outcome=OUTCOME, method="integrated_gradients", steps=steps)
        for steps in (8, 64)
    )
    assert many.base is not None
    assert many.missing is not None
    assert few.missing is not None
    total = sum(each.sum() for each in many.scores.values())
    size = sum(np.abs(each).sum() for each in many.scores.values())
    assert total - many.missing == pytest.approx(many.value - many.base, abs=1e-12 * size)
    assert abs(many.missing) <= 1e-3 * size
    assert abs(many.missing) < abs(few.missing)


def test_rollout_with_gradients_follows_its_definition() -> None:
    subject, reads = make_subject("our decoder")
    found = gf.attribute(subject, *reads, outcome=OUTCOME, method="gradient_rollout")
    maps = gf.attribute(subject, *reads, outcome=OUTCOME, method="gradient_attention").maps
    rolled = np.eye(len(SOURCE))
    for layer in range(3):
        rolled = rolled + np.maximum(maps[gf.Place("decoder", "self", layer)], 0).mean(0) @ rolled
    assert_near(found.scores["source"], rolled[-1])  # the outcome reads the last token alone
    translated = gf.attribute(*_translator(), outcome=OUTCOME, method="gradient_rollout")
    assert set(translated.scores) == {"source", "target"}
    assert (translated.scores["source"] > 0).any()


def _translator() -> tuple[Any, ...]:
    subject, reads = make_subject("our translator")
    return subject, *reads


@pytest.mark.parametrize("kind", ["Llama", "BERT", "T5"])
def test_every_method_serves_models_of_transformers(kind: str) -> None:
    torch.manual_seed(0)
    network = make_architectures()[kind]()
    reads = (SOURCE, [9, 5]) if kind == "T5" else (SOURCE,)
    for method in METHODS:
        found = gf.attribute(network, *reads, outcome=OUTCOME, method=method, steps=4)
        arrays = [*found.scores.values(), *found.maps.values()]
        assert arrays
        assert all(np.isfinite(each).all() and each.any() for each in arrays), method


@pytest.mark.parametrize("method", METHODS)
def test_each_method_says_what_it_is(method: Any) -> None:
    outcome = gf.ClassProbability("positive")
    found = gf.attribute("zoo/sentiment", "A moving film.", outcome=outcome, method=method, steps=4)
    lines = str(found).splitlines()
    assert lines[0] == str(describe_method(method))
    assert describe_method(method).text("zh") != describe_method(method).text("en")
    assert len(lines) == 2 + min(10, len(found.largest())) + (method == "integrated_gradients")


def test_what_cannot_be_attributed_is_refused() -> None:
    with pytest.raises(InputError, match="gradient_input"):
        gf.attribute("zoo/gpt2", "The cat", outcome=gf.Loss(), method="gradient_inputs")
    with pytest.raises(InputError, match="no gradient"):
        gf.attribute("zoo/gpt2", "The cat", outcome=gf.Rank(5))
    with pytest.raises(InputError, match="whole number"):
        gf.attribute("zoo/gpt2", "The cat", outcome=gf.Loss(), steps=0)
    with pytest.raises(InputError, match="output projection"):
        gf.attribute(build_recurrent(), [5, 6], [7], outcome=OUTCOME, method="value_weighted")


def test_a_recurrent_network_has_tokens_and_edges() -> None:
    for method in ("attention", "gradient_attention", "gradient_input", "integrated_gradients"):
        found = gf.attribute(build_recurrent(), [5, 6], [7], outcome=OUTCOME, method=method, steps=2)
        assert [*found.scores.values(), *found.maps.values()]
