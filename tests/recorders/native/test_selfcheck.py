"""Every network of ours is compared with a second computation before its maps are called exact."""

import pytest
import torch
from torch import Tensor

from glassformer.loaded.opening import load
from glassformer.model.recurrent import ContextAttention
from glassformer.recording import Evidence
from our_networks import TEXT, WORDS, build, build_recurrent


def check(network: torch.nn.Module) -> Evidence:
    return load(network, WORDS).record(TEXT, "le chat").evidence


@pytest.mark.parametrize(
    ("settings", "reference"),
    [
        ({}, "explicit"),
        ({"similarity": "cosine"}, "fused"),
        ({"similarity": "additive"}, "formula"),
        ({"similarity": "additive", "positions": "relative"}, "formula"),
        ({"best_keys": 2}, "formula"),
    ],
    ids=str,
)
def test_transformers_are_compared(settings: dict[str, object], reference: str) -> None:
    evidence = check(build(**settings))
    assert evidence.exact
    assert evidence.largest_error is not None
    assert evidence.largest_error > 0
    assert evidence.reference is not None
    assert evidence.reference.code == f"recorders.references.{reference}"


def test_recurrent_attention_is_compared_with_its_formula() -> None:
    evidence = check(build_recurrent())
    assert evidence.exact
    assert "largest error" in str(evidence)
    assert "against the formula in float64 (weights of 7 tokens)" in str(evidence)


def test_recurrent_attention_that_computes_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    project = ContextAttention.project

    def project_wrongly(attention: ContextAttention, states: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = project(attention, states)
        return keys * 1.01, values

    monkeypatch.setattr(ContextAttention, "project", project_wrongly)
    evidence = check(build_recurrent())
    assert not evidence.exact
    assert "approximate" in str(evidence)


def test_hard_attention_that_does_not_choose_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose_worst(scores: Tensor, best: int, allowed: Tensor | None = None) -> Tensor:
        visible = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed.expand_as(scores)
        worst = scores.masked_fill(~visible, torch.inf).argmin(-1, keepdim=True)
        assert best == 1
        return torch.zeros_like(scores).scatter(-1, worst, 1.0)

    network = build(best_keys=1)
    assert check(network).exact
    monkeypatch.setattr("glassformer.model.attention.hard", choose_worst)
    assert not check(network).exact


def test_nothing_to_compare_is_not_called_exact() -> None:
    evidence = check(build_recurrent("fixed"))
    assert not evidence.exact
    assert evidence.largest_error is None
    assert str(evidence).endswith("float32 · not compared with a reference")
