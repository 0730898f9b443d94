"""Estimates are derivatives: of the outcome as a part fades, by finite differences in float64."""

from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import glassformer as gf
from edited_models import HEADS, KINDS, SOURCE, make_architectures, make_ours, make_subject, sharpen
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.messages import Message, message
from glassformer.recorders import request as requests
from glassformer.recorders.causes.estimates import estimate_cuts
from glassformer.recorders.edits.edit import Edit, HeadOutputs, States, Weights
from our_networks import build_recurrent
from tolerances import assert_near

OUTCOME = gf.LogitDifference(7, 9)
STEP = 1e-4


@dataclass(frozen=True, slots=True)
class _Fade(Edit):
    """A part that is a little on its way to be taken away."""

    place: gf.Place
    amount: float

    def touches(self, place: gf.Place) -> bool:
        return place[:3] == self.place[:3]

    def as_message(self) -> Message:
        return message("test", default="fades")


@dataclass(frozen=True, slots=True)
class FadeHead(_Fade):
    head: int

    def change_outputs(self, outputs: HeadOutputs) -> None:
        outputs.replace(self.head, outputs.tensor[0, self.head] * (1 - self.amount))


@dataclass(frozen=True, slots=True)
class FadeEdge(_Fade):
    """The row moves towards what `CutEdge` leaves of it."""

    head: int
    query: int
    key: int

    def change_weights(self, weights: Weights) -> None:
        rows = weights.rows(self.head).clone()
        cut = rows[:, self.query].clone()
        cut[:, self.key] = 0
        cut = cut / cut.sum(-1, keepdim=True)
        rows[:, self.query] += self.amount * (cut - rows[:, self.query])
        weights.replace(self.head, rows)


class FadeRecurrent(_Fade):
    """The output of the head at one step."""

    def __init__(self, place: gf.Place, amount: float, query: int) -> None:
        super().__init__(place, amount)
        object.__setattr__(self, "steps", cycle(range(4)))
        object.__setattr__(self, "query", query)

    def change_outputs(self, outputs: HeadOutputs) -> None:
        factor = 1 - self.amount * (next(self.steps) == self.query)
        outputs.replace(0, outputs.tensor[0, 0] * factor)


@dataclass(frozen=True, slots=True)
class FadeFeedForward(Edit):
    stack: str
    layer: int
    amount: float
    part: str = "feed_forward"

    def change_states(self, states: States) -> None:
        states.replace(states.tensor[0] * (1 - self.amount))

    def as_message(self) -> Message:
        return message("test", default="fades")


def find_slopes(subject: Any, reads: Any, makes: list[Any]) -> Any:
    """How fast the outcome changes with each amount, by central differences."""
    edits = [make(step) for make in makes for step in (STEP, -STEP)]
    values = gf.sweep(subject, *reads, outcome=OUTCOME, edits=edits).values
    return (values[::2] - values[1::2]) / (2 * STEP)


def make_exact(kind: str) -> tuple[Any, Any]:
    """A model that computes in float64 throughout."""
    if kind not in KINDS:
        torch.manual_seed(0)
        return load(sharpen(make_architectures()[kind](), 3.0).double()), (SOURCE,)
    subject, reads = make_subject(kind)
    subject.network.double()
    return subject, reads


@pytest.mark.parametrize("kind", [*KINDS, "BERT", "ALBERT", "DistilBERT"])
@pytest.mark.slow
def test_estimates_are_derivatives(kind: str) -> None:
    subject, reads = make_exact(kind)
    found = gf.estimate(subject, *reads, outcome=OUTCOME)
    size = max(float(np.abs(each).max()) for each in found.heads.values())
    assert size > 0.01
    assert not found.exact
    rng = np.random.default_rng(0)
    estimates, makes = [], []
    for place, heads in found.heads.items():
        assert_near(found.positions[place].sum(1), heads, dtype="float64", magnitude=size)
        head = int(rng.integers(HEADS))
        estimates.append(heads[head])
        makes.append(partial(FadeHead, place, head=head))
        edges = found.edges[place][head]
        known = np.argwhere(np.isfinite(edges) & (edges != 0))
        query, key = map(int, known[rng.integers(len(known))])
        estimates.append(edges[query, key])
        makes.append(partial(FadeEdge, place, head=head, query=query, key=key))
    for (stack, part), layers in found.layers.items():
        if part == "feed_forward":
            estimates.append(layers[1])
            makes.append(partial(FadeFeedForward, stack, 1))
        else:
            sums = [each.sum() for place, each in found.heads.items() if place[:2] == (stack, part)]
            assert_near(layers, sums, dtype="float64", magnitude=size)
    assert np.abs(np.subtract(estimates, find_slopes(subject, reads, makes))).max() <= 1e-6 * size


@pytest.mark.parametrize("kind", ["Llama", "T5"])
def test_models_that_normalise_in_float32_agree_with_gradients_by_hand(kind: str) -> None:
    """Gradients of what each output projection reads, times it; edges by values and renormalised rows."""
    torch.manual_seed(0)
    network = sharpen(make_architectures()[kind](), 2.0)
    subject = load(network)
    reads = (SOURCE, [9, 5, 6, 14]) if kind == "T5" else (SOURCE,)
    found = gf.estimate(subject, *reads, outcome=OUTCOME)
    projections = find_projections(network)
    assert set(found.heads) == set(projections)
    kept: dict[Any, Tensor] = {}
    handles = [
        module.register_forward_pre_hook(lambda _, inputs, place=place: kept.update({place: inputs[0]}))
        for place, module in projections.items()
    ]
    ids = [torch.tensor([each]) for each in reads]
    if kind == "T5":
        logits = network(ids[0], decoder_input_ids=torch.cat((torch.tensor([[0]]), ids[1]), 1)).logits
    else:
        logits = network(ids[0]).logits
    for handle in handles:
        handle.remove()
    value = logits[0, -1, 7] - logits[0, -1, 9]
    gradients = dict(zip(kept, torch.autograd.grad(value, list(kept.values())), strict=True))
    recording = subject.record(*reads, want=("weights", "values"))
    for place, inputs in kept.items():
        outputs, slopes = (
            each[0].unflatten(-1, (HEADS, 8)).transpose(0, 1).detach().double().numpy()
            for each in (inputs, gradients[place])
        )  # (head, query, width)
        size = float(np.abs(slopes).max() * np.abs(outputs).max()) * outputs.shape[1] * 8
        wanted = -(outputs * slopes).sum((1, 2))
        assert_near(found.heads[place], wanted, layers=3, scores=64, magnitude=size, where=place)
        each = recording.map(*place[:3])
        rows, values = each.dense.astype(np.float64), np.asarray(each.values, dtype=np.float64)
        values = values.repeat(HEADS // len(values), axis=0)
        for head, query, key in ((0, 3, 1), (2, 3, 0), (3, 2, 2)):
            row = rows[head, query].copy()
            row[key] = 0
            change = (row / row.sum()) @ values[head] - rows[head, query] @ values[head]
            wanted = slopes[head, query] @ change
            where = (place, head, query, key)
            assert_near(
                found.edges[place][head, query, key], wanted, layers=3, scores=64, magnitude=size, where=where
            )


def find_projections(network: Any) -> dict[gf.Place, Any]:
    """What reads the heads of each attention."""
    if not hasattr(network, "encoder"):
        blocks = enumerate(network.model.layers)
        return {gf.Place("decoder", "self", layer): block.self_attn.o_proj for layer, block in blocks}
    own = {
        gf.Place(stack, "self", layer): block.layer[0].SelfAttention.o
        for stack in ("encoder", "decoder")
        for layer, block in enumerate(getattr(network, stack).block)
    }
    crossing = enumerate(network.decoder.block)
    return own | {gf.Place("decoder", "cross", n): each.layer[1].EncDecAttention.o for n, each in crossing}


def test_a_recurrent_network_is_estimated_step_by_step() -> None:
    network = build_recurrent().double()
    reads = ([5, 6, 7, 8], [9, 5, 6])
    found = gf.estimate(network, *reads, outcome=OUTCOME)
    place = gf.Place("decoder", "cross", 0)
    assert found.edges[place].shape == (1, 4, 4)
    wanted = find_slopes(network, reads, [partial(FadeRecurrent, place, query=query) for query in range(4)])
    positions = found.positions[place][0]
    assert np.abs(positions - wanted).max() <= 1e-6 * np.abs(positions).max()


def test_an_edge_with_nearly_all_weight_is_estimated_precisely() -> None:
    """What is left without it is far below the rounding of 1."""
    weights = torch.tensor([[[1.0, 3e-12, 1e-12], [0.0, 1.0, 0.0]]], dtype=torch.float64)
    slopes = torch.tensor([[[2.0, 5.0, 1.0], [4.0, 4.0, 4.0]]], dtype=torch.float64)
    effects = estimate_cuts(weights, slopes, "float32")[0].numpy()
    assert effects[0, 0] == pytest.approx((3 * 5 + 1) / 4 - 2, rel=1e-9)
    assert effects[1, 0] == 0
    assert np.isnan(effects[1, 1])


def test_a_sink_takes_its_part() -> None:
    """Weights that sum to less than one: what is hidden also goes to the sink."""
    effects = estimate_cuts(torch.tensor([[0.25, 0.25]]), torch.tensor([[4.0, 8.0]]), "float32")[0]
    assert effects.tolist() == pytest.approx([0.25 / 0.75 * 8 - 3, 0.25 / 0.75 * 4 - 3])


@pytest.mark.slow
def test_estimates_tell_which_heads_matter() -> None:
    outcome = gf.LogProbability(" floor")
    found = gf.estimate("zoo/gpt2", "The cat sat on the", outcome=outcome)
    sweep = gf.sweep("zoo/gpt2", "The cat sat on the", outcome=outcome)
    assert found.baseline == pytest.approx(sweep.baseline, abs=1e-4)
    assert np.corrcoef(found.table().ravel(), sweep.heads().ravel())[0, 1] > 0.9
    lines = str(found).splitlines()
    assert len(lines) == 11
    assert "estimates" in lines[0]
    assert str(found.largest(1)[0][0]) in lines[1]


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
def test_the_model_is_left_as_found(kind: str) -> None:
    subject, reads = make_subject(kind)
    gf.estimate(subject, *reads, outcome=OUTCOME)
    with torch.inference_mode():
        gf.estimate(subject, *reads, outcome=OUTCOME)
    for parameter in subject.network.parameters():
        assert parameter.requires_grad
        assert parameter.grad is None
    assert not [each for each in subject.network.modules() if each._forward_pre_hooks or each._forward_hooks]


def test_what_cannot_be_estimated_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="best keys"):
        gf.estimate(make_ours("decoder", best_keys=2), SOURCE, outcome=OUTCOME)
    with pytest.raises(InputError, match="not an outcome"):
        gf.estimate("zoo/gpt2", "The cat", outcome="loss")
    with pytest.raises(InputError, match="no gradient"):
        gf.estimate("zoo/gpt2", "The cat", outcome=gf.Rank(5))
    with pytest.raises(InputError, match="no attention"):
        gf.estimate(build_recurrent("fixed"), [5, 6], [7], outcome=OUTCOME)
    monkeypatch.setattr(requests, "LARGEST_MAPS", 1 << 10)
    for kind in ("GPT-2", "our decoder"):
        subject, reads = make_subject(kind)
        with pytest.raises(InputError, match="shorter text"):
            gf.estimate(subject, *reads, outcome=OUTCOME)
