"""Two models over texts: permuted heads are found, untrained networks are not believed."""

import weakref

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.corpus.compare import compare
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.runlog.intervals import estimate
from our_networks import WORDS, build

TEXTS = [
    "the cat sees the big dog",
    "the red dog sees the cat",
    "big cat sees red dog",
    "the dog sees the red big cat",
]


def open_network(seed: int, permuted: bool = False):
    network = build(shape="encoder", heads=4)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            if seed and parameter.dim() == 2:
                parameter.copy_(torch.randn_like(parameter) * parameter.std())
        if permuted:
            permute_heads(network)
    return load(network.eval(), WORDS)


def permute_heads(network) -> None:
    """The heads of each layer in another order: the network computes the same."""
    order = torch.tensor([2, 0, 3, 1])
    for name, module in network.named_modules():
        if name.endswith("attention"):
            width = module.qkv.weight.shape[1]
            rows = torch.arange(width).view(4, -1)[order].reshape(-1)
            both = torch.cat([rows + part * width for part in range(3)])
            module.qkv.weight.copy_(module.qkv.weight[both])
            if module.qkv.bias is not None:
                module.qkv.bias.copy_(module.qkv.bias[both])
            output = next(
                each for part, each in module.named_children() if part != "qkv" and hasattr(each, "weight")
            )
            output.weight.copy_(output.weight[:, rows])


def test_a_network_with_permuted_heads_is_matched_exactly() -> None:
    plain, permuted = open_network(0), open_network(0, permuted=True)
    found = compare([plain, permuted], TEXTS)
    assert found.same_architecture
    for match in found.matching.matches:
        assert match.first[0] == match.second[0]
        assert [2, 0, 3, 1][match.second[1]] == match.first[1]
        assert match.clear
    pair = [gf.record(each, TEXTS[0]) for each in (plain, permuted)]
    same = gf.difference(*pair, matching=found.matching)
    assert max(np.abs(each.weights()).max() for each in same.recording.maps) < 1e-5
    assert max(np.abs(each.weights()).max() for each in gf.difference(*pair).recording.maps) > 0.1


def test_two_untrained_networks_are_matched_with_low_confidence() -> None:
    found = compare([open_network(1), open_network(2)], TEXTS)
    assert found.matching.confidence < 0.3
    assert sum(match.clear for match in found.matching.matches) <= 1


def test_the_table_has_means_and_intervals_over_texts() -> None:
    models = [open_network(1), open_network(2)]
    found = compare(models, TEXTS, metrics=("entropy",))
    assert len(found.rows) == 8
    assert found.texts == tuple(TEXTS)
    row = found.rows[3]
    place, head = row.first
    values = [
        [gf.score(gf.record(each, text), "entropy").part(place).values[head] for each in models]
        for text in TEXTS
    ]
    expected = estimate([one - other for one, other in values])
    assert row.difference == expected
    assert row.mean_first == pytest.approx(np.mean(values, axis=0)[0])
    assert list(found.frame().columns)[:3] == ["metric", "first_place", "first_head"]
    assert "± " in str(found)


def test_recordings_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    alive = list[weakref.ref[np.ndarray]]()
    most = 0

    def watch(*arguments, **words) -> gf.Recording:
        nonlocal most
        most = max(most, sum(each() is not None for each in alive))
        made = gf.record(*arguments, **words)
        alive.append(weakref.ref(made.source.ids))
        return made

    monkeypatch.setattr("glassformer.corpus.compare.record", watch)
    compare([open_network(1), open_network(2)], TEXTS, metrics=("entropy",))
    assert len(alive) == 2 * len(TEXTS)
    assert most <= 3  # of the text before and of this one


def test_a_second_decoder_reads_what_the_first_one_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[gf.Recording]()

    def keep(*arguments, **words) -> gf.Recording:
        made.append(gf.record(*arguments, **words))
        return made[-1]

    monkeypatch.setattr("glassformer.corpus.compare.record", keep)
    config, models = build(shape="encoder-decoder").config, []
    for seed in (1, 2):  # they write no common word
        torch.manual_seed(seed)
        models.append(load(gf.Transformer(config).eval(), WORDS))
    own = [gf.record(each, TEXTS[0]).target.texts for each in models]
    assert set(own[0]) & set(own[1]) == {"<s>"}
    found = compare(models, TEXTS[:2], metrics=("entropy",))
    assert {match.first[0].kind for match in found.matching.matches} == {"self", "cross"}
    for first, second in (made[:2], made[2:]):
        assert set(second.target.texts) <= set(first.target.texts)
    assert (found.matching.texts, found.matching.notes) == (2, ())


def test_refusals() -> None:
    model = open_network(1)
    with pytest.raises(InputError, match="Expected two"):
        compare([model], TEXTS)
    with pytest.raises(InputError, match="No text"):
        compare([model, model], [])
