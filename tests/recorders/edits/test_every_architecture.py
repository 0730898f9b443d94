"""Every edit of every kind on twelve architectures, against hooks written by hand on the same weights."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from campaigns import campaign
from edited_models import HEADS, make_architectures, sharpen
from glassformer.errors import InputError
from glassformer.recorders.edits import Edit
from glassformer.recorders.transformers import softmaxes  # noqa: F401 - before a test replaces the softmax
from hand_hooks import FAMILIES, OTHER, SOURCE, TARGET, Hand, make_model, of_head, put
from tolerances import assert_near

LAYER, HEAD, LAST = 1, 2, 2
AT, KEYS = (2, -1), (1, -1)
TEXTS = ((9, 5, 12), (8, 13, 6, 7))  # a reference set
OUTCOMES = (gf.LogProbability(7), gf.LogitDifference(9, 5, position=2), gf.LogProbability(6, position=1))
Case = tuple[Edit, Tensor]  # an edit, and the logits that hooks by hand give


class Cases:
    """Edits of one model, each with the logits that hooks by hand give."""

    def __init__(self, hand: Hand) -> None:
        self.hand, self.family = hand, hand.family
        self.place: tuple[Any, ...] = (self.family.stack, self.family.kind, LAYER)
        self.key_head = HEAD * self.family.key_heads // HEADS
        self.own, self.other = (
            hand.read(text, hand.find_output(LAYER), LAYER, given=True) for text in (SOURCE, OTHER)
        )
        self.weights = hand.read_weights(SOURCE, LAYER)
        values = hand.read(SOURCE, hand.find_part(LAYER, 2), LAYER)
        self.values = [
            values[:, self.family.slice_of(2, head * self.family.key_heads // HEADS)] for head in range(HEADS)
        ]

    def run_heads(self, heads: Tensor, at: Any = slice(None), columns: slice = slice(None)) -> Tensor:
        """Heads side by side (token, width) put before the output projection."""
        change = put(heads, at, columns)
        return self.hand.change(self.hand.find_output(LAYER), LAYER, change, given=True).run(SOURCE)

    def mix(self, weights: Tensor) -> Tensor:
        """Heads side by side, from weights (head, query, key) and the values of this text."""
        return torch.cat([weights[head] @ self.values[head] for head in range(HEADS)], dim=-1)

    def inside(self) -> Iterator[Case]:
        """Edits inside attention."""
        hand, head = self.hand, of_head(HEAD)
        place, rows = self.place, list(AT)
        yield gf.PatchHead(*place, HEAD, tuple(OTHER), AT), self.run_heads(self.other, rows, head)
        yield gf.AblateHead(*place, HEAD), self.run_heads(torch.zeros_like(self.own), columns=head)
        resampled = gf.AblateHead(*place, HEAD, "resample", (tuple(OTHER),))
        yield resampled, self.run_heads(self.other, columns=head)
        pattern = self.mix(hand.read_weights(OTHER, LAYER))
        yield gf.PatchPattern(*place, HEAD, tuple(OTHER), AT), self.run_heads(pattern, rows, head)
        yield gf.PatchPattern(*place, HEAD, tuple(OTHER)), self.run_heads(pattern, columns=head)
        values = hand.read(OTHER, hand.find_part(LAYER, 2), LAYER)
        for at in (KEYS, None):
            change = put(
                values, slice(None) if at is None else list(at), self.family.slice_of(2, self.key_head)
            )
            wanted = hand.change(hand.find_part(LAYER, 2), LAYER, change).run(SOURCE)
            yield gf.PatchValue(*place, self.key_head, tuple(OTHER), at), wanted
        yield (
            gf.AblateHead(*place, HEAD, positions=AT),
            self.run_heads(torch.zeros_like(self.own), rows, head),
        )
        resampled = gf.AblateHead(*place, HEAD, "resample", (tuple(OTHER),), AT)
        yield resampled, self.run_heads(self.other, rows, head)
        even = (self.weights > 0).to(self.weights)
        uniform = self.mix(even / even.sum(-1, keepdim=True))
        yield gf.AblateHead(*place, HEAD, "uniform"), self.run_heads(uniform, columns=head)
        yield gf.AblateHead(*place, HEAD, "uniform", positions=AT), self.run_heads(uniform, rows, head)
        cut = self.weights.clone()
        cut[HEAD, 4, 1] = 0
        cut /= cut.sum(-1, keepdim=True)
        yield gf.CutEdge(*place, HEAD, query=4, key=1), self.run_heads(self.mix(cut), columns=head)
        sharper = self.weights**2
        sharper /= sharper.sum(-1, keepdim=True)
        yield gf.ScaleScores(2.0, *place), self.run_heads(self.mix(sharper))

    def mean(self) -> Iterator[Case]:
        """A mean over other texts; a decoder that reads a source reads what the model writes for each."""
        hand = self.hand
        if self.family.kind == "self":
            outputs = [hand.read(text, hand.find_output(LAYER), LAYER, given=True) for text in TEXTS]
            mean = torch.cat(outputs).mean(0).expand_as(self.own)
            head = of_head(HEAD)
            yield gf.AblateHead(*self.place, HEAD, "mean", TEXTS), self.run_heads(mean, columns=head)
            edit = gf.AblateHead(*self.place, HEAD, "mean", TEXTS, AT)
            yield edit, self.run_heads(mean, list(AT), head)

    def states(self) -> Iterator[Case]:
        """Edits of vectors of layers."""
        hand, stack, rows = self.hand, self.family.stack, list(AT)
        before, after = hand.find(LAYER), hand.find_added(LAYER)
        other = hand.read(OTHER, before, LAYER, given=True)
        wanted = hand.change(before, LAYER, put(other, rows), given=True).run(SOURCE)
        yield gf.PatchStates(stack, "residual", LAYER, tuple(OTHER), AT), wanted
        wanted = hand.change(after, LAYER, put(hand.read(OTHER, after, LAYER), rows)).run(SOURCE)
        yield gf.PatchStates(stack, "feed_forward", LAYER, tuple(OTHER), AT), wanted
        last = hand.find(LAST)
        wanted = hand.change(last, LAST, put(hand.read(OTHER, last, LAST), rows)).run(SOURCE)
        yield gf.PatchStates(stack, "residual", LAST + 1, tuple(OTHER), AT), wanted
        own = hand.read(SOURCE, before, LAYER, given=True)
        vector = torch.linspace(-1, 1, own.shape[-1], dtype=own.dtype)
        wanted = hand.change(before, LAYER, put(own + vector, rows), given=True).run(SOURCE)
        yield gf.Steer(stack, LAYER, vector, AT), wanted

    def layers(self) -> Iterator[Case]:
        """Fewer layers: what goes into the last one comes out of it."""
        last = self.hand.find(LAST)
        states = self.hand.read(SOURCE, last, LAST, given=True)
        yield gf.FirstLayers(LAST, self.family.stack), self.hand.change(last, LAST, put(states)).run(SOURCE)

    def paths(self) -> Iterator[Case]:
        """Three passes: the other text, this one, and this one with all heads frozen but the sender."""
        hand, stack, kind = self.hand, self.family.stack, self.family.kind
        sent = hand.read(OTHER, hand.find_output(0), 0, given=True)
        for frozen in (False, True):
            path = hand
            for layer in range(LAST + 1):
                places = [hand.find_output(layer)]
                places += [hand.find(layer, self.family.beside)] if self.family.beside else []
                for place in places:
                    clean = hand.read(SOURCE, place, layer, given=True)
                    if layer == 0 and place is places[0]:
                        clean[:, of_head(HEAD)] = sent[:, of_head(HEAD)]
                    path = path.change(place, layer, put(clean), given=True)
                if frozen:
                    added = hand.find_added(layer)
                    path = path.change(added, layer, put(hand.read(SOURCE, added, layer)))
            named = {"feed_forward": "frozen" if frozen else "recomputed"}
            receivers = [
                (f"{stack}.{kind}.{LAST}.3.queries", hand.find_part(LAST, 0), self.family.slice_of(0, 3))
            ]
            if kind == "self":
                for part, name in ((1, "keys"), (2, "values")):
                    columns = self.family.slice_of(part, 1)
                    receivers.append((f"{stack}.{kind}.{LAST}.1.{name}", hand.find_part(LAST, part), columns))
            receivers += [
                (f"{stack}.{LAST}.feed_forward", hand.find_added(LAST), slice(None)),
                (f"{stack}.residual", hand.find(LAST), slice(None)),
            ]
            for receiver, module, columns in receivers:
                kept = path.read(SOURCE, module, LAST)
                wanted = hand.change(module, LAST, put(kept, columns=columns)).run(SOURCE)
                edit = gf.PatchPath(stack, kind, 0, HEAD, tuple(OTHER), (receiver,), **named)  # type: ignore[arg-type]
                yield edit, wanted


def read_outcomes(logits: Tensor) -> list[float]:
    logs = logits.log_softmax(-1)
    return [float(logs[-1, 7]), float(logits[2, 9] - logits[2, 5]), float(logs[1, 6])]


def compare(name: str, groups: tuple[str, ...], dtype: torch.dtype) -> None:
    hand = Hand(FAMILIES[name], make_model(name, dtype))
    made = Cases(hand)
    cases = [case for group in groups for case in getattr(made, group)()]
    if not cases:
        return
    reads = (SOURCE, TARGET) if hand.family.kind == "cross" else (SOURCE,)
    sweeps = gf.sweep(gf.load(hand.model), *reads, outcome=OUTCOMES, edits=[edit for edit, _ in cases])
    plain = read_outcomes(hand.run(SOURCE))
    moved = 0
    for number, (edit, logits) in enumerate(cases):
        found, wanted = [each.values[number] for each in sweeps], read_outcomes(logits)
        if dtype == torch.float64:
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10, err_msg=f"{name}: {edit}")
        else:
            assert_near(found, wanted, layers=5, scores=64, magnitude=32, where=f"{name}: {edit}")
        moved += max(abs(np.subtract(wanted, plain))) > 1e-6
    assert moved >= 0.8 * len(cases)  # edits do something; `mean` has no case where there is a source


GROUPS = ("inside", "mean", "states", "layers", "paths")


@pytest.fixture
def double_softmax(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some models compute the softmax in single precision, whatever their own; here it is exact."""
    softmax = nn.functional.softmax

    def keep(scores: Tensor, dim: int | None = None, dtype: torch.dtype | None = None) -> Tensor:
        return softmax(scores, dim=dim, dtype=None if scores.dtype == torch.float64 else dtype)

    monkeypatch.setattr(nn.functional, "softmax", keep)


@campaign("name, group", list(product(FAMILIES, GROUPS)), sample=12)
@pytest.mark.usefixtures("double_softmax")
def test_edits_in_double_precision(name: str, group: str) -> None:
    compare(name, (group,), torch.float64)


@campaign("name", list(FAMILIES), sample=1)
def test_every_edit_in_single_precision(name: str) -> None:
    compare(name, GROUPS, torch.float32)


@campaign("name", list(FAMILIES), sample=4)
@pytest.mark.usefixtures("double_softmax")
def test_a_patch_from_the_same_text_changes_nothing(name: str) -> None:
    hand = Hand(FAMILIES[name], make_model(name, torch.float64))
    family, text = hand.family, tuple(SOURCE)
    place: tuple[Any, ...] = (family.stack, family.kind, LAYER)
    receivers = (f"{family.stack}.{family.kind}.2.0.queries", f"{family.stack}.2.feed_forward")
    edits = [
        gf.PatchHead(*place, HEAD, text),
        gf.PatchPattern(*place, HEAD, text),
        gf.PatchValue(*place, 1, text),
        gf.PatchStates(family.stack, "residual", LAYER, text),
        gf.PatchStates(family.stack, "feed_forward", LAYER, text),
        gf.PatchPath(*place, HEAD, text, receivers),
    ]
    reads = (SOURCE, TARGET) if family.kind == "cross" else (SOURCE,)
    sweep = gf.sweep(gf.load(hand.model), *reads, outcome=gf.Rank(7), edits=edits)
    loss = gf.sweep(gf.load(hand.model), *reads, outcome=gf.LogProbability(7), edits=edits)
    assert (sweep.effects == 0).all()
    np.testing.assert_allclose(loss.effects, 0, atol=1e-12)


@pytest.mark.parametrize("name", ["Bloom", "GPT-J"])
def test_models_off_the_interface_refuse_values_and_paths_by_name(name: str) -> None:
    torch.manual_seed(0)
    model = gf.load(sharpen(make_architectures()[name](), 3.0))
    for edit in (
        gf.PatchValue("decoder", "self", 1, 2, tuple(OTHER)),
        gf.PatchPath("decoder", "self", 0, 2, tuple(OTHER), ("decoder.residual",)),
    ):
        with pytest.raises(InputError) as error:
            model.record(SOURCE, edits=[edit])
        assert error.value.message.code == "recorders.edits.no_inputs"
    weights = model.record(OTHER).map(layer=1).weights(head=2)
    patched = model.record(SOURCE, edits=[gf.PatchPattern("decoder", "self", 1, 2, tuple(OTHER), (3,))])
    assert_near(patched.map(layer=1).weights(head=2)[3], weights[3])
