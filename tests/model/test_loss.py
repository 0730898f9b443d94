"""The loss by blocks equals torch's, gradients included, on both ways of computing it."""

import math

import pytest
import torch
from torch.nn import functional as F

from glassformer.model import loss
from glassformer.model.loss import IGNORED, _whole_loss, two_pass_loss, word_loss
from tolerances import assert_near


@pytest.mark.parametrize("compute", [word_loss, _whole_loss])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("biased", [True, False])
def test_equal_to_torch_with_gradients(compute, smoothing, biased, monkeypatch):
    monkeypatch.setattr(loss, "BLOCK", 97 * 7)  # several blocks, the last one not full
    torch.manual_seed(0)
    states = torch.randn(50, 16, requires_grad=True)
    vectors = torch.randn(97, 16, requires_grad=True)
    bias = torch.randn(97, requires_grad=True) if biased else None
    labels = torch.randint(0, 97, (50,))
    labels[::3] = IGNORED
    expected = F.cross_entropy(
        F.linear(states, vectors, bias), labels, ignore_index=IGNORED, label_smoothing=smoothing
    )
    found = compute(states, vectors, labels, bias, smoothing)
    assert_near(found, expected)
    wanted = [states, vectors] + ([bias] if bias is not None else [])
    theirs = torch.autograd.grad(2 * expected, wanted)
    for _ in range(2):  # a second pass over the kept graph must not see changed numbers
        ours = torch.autograd.grad(2 * found, wanted, retain_graph=True)
        for own, other in zip(ours, theirs, strict=True):
            assert_near(own, other)


@pytest.mark.parametrize("biased", [True, False])
def test_gradients_of_gradients_equal_torchs(biased):
    torch.manual_seed(0)
    wanted = [torch.randn(6, 4, requires_grad=True), torch.randn(9, 4, requires_grad=True)]
    bias = torch.randn(9, requires_grad=True) if biased else None
    labels = torch.tensor([0, 8, IGNORED, 3, 3, 1])
    wanted += [bias] if bias is not None else []

    def penalty(found):
        gradients = torch.autograd.grad(found, wanted, create_graph=True)
        return torch.autograd.grad(sum(each.square().sum() for each in gradients), wanted)

    ours = penalty(word_loss(*wanted[:2], labels, bias, 0.1))
    logits = F.linear(*wanted[:2], bias)
    theirs = penalty(F.cross_entropy(logits, labels, ignore_index=IGNORED, label_smoothing=0.1))
    for own, other in zip(ours, theirs, strict=True):
        assert_near(own, other)


def test_double_precision_is_kept():
    states, vectors = torch.randn(3, 4, dtype=torch.float64), torch.randn(5, 4, dtype=torch.float64)
    labels = torch.tensor([0, 1, 4])
    expected = F.cross_entropy(states @ vectors.T, labels)
    for compute in (
        lambda: word_loss(states, vectors, labels),
        lambda: _whole_loss(states, vectors, labels, None, 0.0),
    ):
        assert compute().item() == pytest.approx(expected.item(), abs=1e-12)


def test_on_paper():
    states, vectors = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0], [math.log(3), 0.0]])
    assert_near(word_loss(states, vectors, torch.tensor([1])).item(), -math.log(0.75))


def test_a_very_wrong_answer_has_a_large_but_finite_loss():
    states, vectors = torch.tensor([[1000.0]]), torch.tensor([[1.0], [-1.0]])
    assert word_loss(states, vectors, torch.tensor([1])).item() == pytest.approx(2000.0)


def test_nothing_to_predict_is_not_a_number():
    assert word_loss(torch.randn(3, 4), torch.randn(5, 4), torch.full((3,), IGNORED)).isnan()


def test_shapes_of_batches_are_flattened():
    states, vectors, labels = torch.randn(2, 3, 4), torch.randn(5, 4), torch.randint(0, 5, (2, 3))
    flat = word_loss(states.view(6, 4), vectors, labels.view(6))
    assert torch.equal(word_loss(states, vectors, labels), flat)


def test_two_passes_on_paper():
    first, second = [0.75, 0.25], [0.25, 0.75]
    logits = torch.tensor([[first, first], [second, first]]).log() + 3.0  # two tokens; 3 cancels out
    labels = torch.tensor([[0, 1]])
    entropy, apart = two_pass_loss(logits, labels)
    # The first token: ½ (0.75 − 0.25) ln 3 twice. The second: nothing, both passes say the same.
    assert apart.item() == pytest.approx(0.5 * math.log(3) / 2)
    assert entropy.item() == pytest.approx(-(math.log(0.75) + math.log(0.25) + 2 * math.log(0.25)) / 4)
    entropy, apart = two_pass_loss(logits, torch.tensor([[0, IGNORED]]))
    assert apart.item() == pytest.approx(0.5 * math.log(3))
    assert entropy.item() == pytest.approx(-(math.log(0.75) + math.log(0.25)) / 2)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_two_passes_equal_torch_with_gradients(smoothing):
    torch.manual_seed(0)
    logits = torch.randn(6, 5, 11, requires_grad=True)  # three texts, twice
    labels = torch.randint(0, 11, (3, 5))
    labels[1, 2:] = IGNORED
    entropy, apart = two_pass_loss(logits, labels, smoothing)
    expected = F.cross_entropy(
        logits.flatten(0, 1), labels.repeat(2, 1).flatten(), ignore_index=IGNORED, label_smoothing=smoothing
    )
    divergences = []
    for text, token in (labels != IGNORED).nonzero().tolist():
        first, second = (logits[row, token].log_softmax(-1) for row in (text, text + 3))
        for one, other in ((first, second), (second, first)):
            divergences.append(F.kl_div(other, one, reduction="sum", log_target=True))
    slow = torch.stack(divergences).mean()
    assert_near(entropy, expected)
    assert_near(apart, slow)
    (ours,) = torch.autograd.grad(entropy + 2 * apart, logits)
    (theirs,) = torch.autograd.grad(expected + 2 * slow, logits)
    assert_near(ours, theirs)


def test_two_passes_in_half_precision_are_told_apart_in_whole():
    logits = torch.randn(2, 1, 50).bfloat16()
    entropy, apart = two_pass_loss(logits, torch.tensor([[3]]))
    assert entropy.dtype == apart.dtype == torch.float32
    assert torch.equal(apart, two_pass_loss(logits.float(), torch.tensor([[3]]))[1])
