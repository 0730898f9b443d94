"""The monitor's statistics are those of the recorder, its network is left alone, and trouble shows."""

import numpy as np
import pytest
import torch

from glassformer.config import RecurrentConfig
from glassformer.model.loss import IGNORED
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.place import Place
from glassformer.recorders.maps import Axes
from glassformer.recorders.native.windows import Watch
from glassformer.recording import Tokens
from glassformer.text.batches import Batch
from glassformer.training.head_rules import HeadRules
from glassformer.training.head_statistics import STATISTICS
from glassformer.training.monitor import Monitor, find_visible, shorten
from glassformer.training.settings import MonitorSettings
from tolerances import assert_near
from training.networks import make, make_batch


def tokens(side: str, ids: torch.Tensor) -> Tokens:
    return Tokens(side=side, texts=tuple(map(str, ids.tolist())), ids=ids.numpy())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"positions": "relative"},
        {"similarity": "additive"},
        {"best_keys": 2},
        {"window": 3, "positions": "alibi"},
        {"key_heads": 1, "query_key_norm": True},
    ],
)
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_statistics_are_those_of_a_recording(shape: str, words: dict[str, object]) -> None:
    network, batch = make(shape, **words), make_batch(shape)
    seen = Monitor(network, batch, MonitorSettings()).look()
    rows = {"entropy": [], "peak": [], "distance": []}  # type: dict[str, list[np.ndarray]]
    sums: dict[Place, dict[str, np.ndarray]] = {}
    counts: dict[Place, int] = {}
    for row in range(2):  # each text alone, without padding
        source = batch.ids[row][batch.real[row]] if batch.real is not None else batch.ids[row]
        written = None
        if batch.target is not None:
            written = batch.target[row][batch.labels[row] != IGNORED]
        elif shape == "decoder":
            source = source[batch.labels[row] != IGNORED]
        read = tokens("source", source)
        reads = {"encoder": read, "decoder": read if written is None else tokens("target", written)}
        watch = Watch(network, Axes(reads, {}), ())
        with torch.no_grad(), watch.watching():
            network.eval()
            network(source[None], target=None if written is None else written[None])
        for each in watch.maps:
            place = Place(each.stack, each.kind, each.layer)
            counts[place] = counts.get(place, 0) + len(each.query)
            known = sums.setdefault(place, dict.fromkeys(rows, np.zeros(2)))
            for name in rows:
                known[name] = known[name] + getattr(each.statistics, name).sum(1)
    assert seen.keys() == sums.keys()
    for place, known in sums.items():
        for name in rows if place.kind == "self" else ("entropy", "peak"):
            assert_near(seen[place][name], known[name] / counts[place])


def test_contributions_add_up_to_what_attention_adds() -> None:
    """With one head the contribution is the length of the whole output, its bias apart."""
    network, batch = make("encoder", heads=1, layers=1), make_batch("encoder")
    assert network.encoder is not None
    attention = network.encoder.block(0).attention
    torch.nn.init.zeros_(attention.output.bias)  # type: ignore[arg-type]
    outputs = []
    handle = attention.register_forward_hook(lambda _, __, output: outputs.append(output))
    with torch.no_grad():
        network.eval().encode(batch.ids, batch.real)
    handle.remove()
    assert batch.real is not None
    expected = outputs[0].norm(dim=-1)[batch.real].mean()
    seen = Monitor(network, batch, MonitorSettings()).look()[Place("encoder", "self", 0)]
    np.testing.assert_allclose(seen["contribution"], [expected.item()], rtol=1e-4)


def test_the_network_is_left_as_it_was_found() -> None:
    network = make("encoder-decoder")
    random, before = torch.get_rng_state(), {name: p.clone() for name, p in network.state_dict().items()}
    Monitor(network, make_batch("encoder-decoder"), MonitorSettings()).look()
    assert all(module.training for module in network.modules())
    assert not any(module._forward_hooks for module in network.modules())
    assert torch.equal(random, torch.get_rng_state())
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())


def test_shared_layers_are_as_many_maps_as_calls() -> None:
    network = make("encoder", share_layers=True, layers=3)
    assert [place.layer for place in Monitor(network, make_batch("encoder"), MonitorSettings()).look()] == [
        0,
        1,
        2,
    ]


def test_a_recurrent_translator_has_one_map() -> None:
    torch.manual_seed(0)
    network = RecurrentTranslator(RecurrentConfig(30, width=16, embedding_width=8))
    seen = Monitor(network, make_batch("encoder-decoder"), MonitorSettings()).look()
    assert list(seen) == [Place("decoder", "cross", 0)]
    assert set(seen[Place("decoder", "cross", 0)]) == set(STATISTICS)
    assert 0 < seen[Place("decoder", "cross", 0)]["entropy_share"][0] <= 1
    fixed = RecurrentTranslator(RecurrentConfig(30, width=16, embedding_width=8, context="fixed"))
    assert Monitor(fixed, make_batch("encoder-decoder"), MonitorSettings()).look() == {}


def damage(network: Transformer, how: str) -> None:
    assert network.encoder is not None
    attention = network.encoder.block(0).attention
    assert attention.qkv is not None
    with torch.no_grad():
        qkv = attention.qkv.weight.view(3, 2, 8, 16)  # (part, head, width of a head, width)
        match how:
            case "exploding scores":
                qkv[:2, 0] *= 30
            case "dead head":
                qkv[2, 1] = 0
                attention.qkv.bias.view(3, 2, 8)[2, 1] = 0
            case "identical heads":
                qkv[:2] *= 3
                qkv[:2, 1] = qkv[:2, 0]
            case "entropy collapse":
                qkv[:2] *= 15
            case "even heads":
                qkv[:2] = 0
                attention.qkv.bias.view(3, 2, 8)[:2] = 0


def find_causes(rules: HeadRules, monitor: Monitor) -> dict[str, dict[Place, tuple[int, ...]]]:
    """The heads of each cause at the last of three looks."""
    found = [
        {symptom.cause: dict(symptom.heads) for symptom in rules.check(step, monitor.look())}
        for step in (1, 2, 3)
    ]
    return found[-1] | found[0]


@pytest.mark.parametrize(
    ("how", "cause", "heads"),
    [
        ("exploding scores", "exploding_scores", (0,)),
        ("dead head", "dead_heads", (1,)),
        ("identical heads", "identical_heads", (0, 1)),
        ("entropy collapse", "collapsed_heads", (0, 1)),
        ("even heads", "uniform_heads", (0, 1)),
    ],
)
def test_damage_to_weights_raises_its_alarm_and_health_none(
    how: str, cause: str, heads: tuple[int, ...]
) -> None:
    network, batch = make("encoder"), make_batch("encoder")
    settings = MonitorSettings(explode=70.0)
    monitor, rules = Monitor(network, batch, settings), HeadRules(settings)
    assert find_causes(rules, monitor) == {}
    damage(network, how)
    assert find_causes(rules, monitor)[cause] == {Place("encoder", "self", 0): heads}


def masked_batch() -> Batch:
    """Texts of equal length, so without a mask of padding, and a label at every fifth token."""
    ids = torch.randint(3, 30, (4, 20), generator=torch.Generator().manual_seed(1))
    labels = torch.full_like(ids, IGNORED)
    labels[:, ::5] = ids[:, ::5]
    return Batch(ids, labels, 16, 80)


def test_every_token_of_a_masked_text_is_real() -> None:
    network = make("encoder", head="masked")
    sight = find_visible(network, masked_batch())["encoder", "self"]
    assert sight.rows.all()
    assert sight.allowed.all()
    seen = Monitor(network, masked_batch(), MonitorSettings()).look()
    assert all(0 < share <= 1 for statistics in seen.values() for share in statistics["entropy_share"])


def test_twin_heads_of_a_masked_model_are_seen() -> None:
    network, settings = make("encoder", head="masked"), MonitorSettings()
    damage(network, "identical heads")
    monitor, rules = Monitor(network, masked_batch(), settings), HeadRules(settings)
    assert monitor.look()[Place("encoder", "self", 0)]["likeness"] == pytest.approx([1, 1], abs=1e-6)
    assert find_causes(rules, monitor) == {"identical_heads": {Place("encoder", "self", 0): (0, 1)}}


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("best_keys", [None, 1, 3])
def test_a_share_is_of_the_largest_entropy_possible(shape: str, best_keys: int | None) -> None:
    """Heads that look evenly have all of it, also where they may look at few keys; one key has none."""
    network = make(shape, best_keys=best_keys)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "attention" in name or "cross" in name:
                parameter.zero_()
    for statistics in Monitor(network, make_batch(shape), MonitorSettings()).look().values():
        expected = [np.nan, np.nan] if best_keys == 1 else [1.0, 1.0]
        assert statistics["entropy_share"] == pytest.approx(expected, nan_ok=True)
        assert statistics["spread"] == [0, 0]


def test_scores_that_all_keys_share_are_no_spread() -> None:
    """Softmax ignores them: a shift of a row changes no weight."""
    network, batch = make("encoder"), make_batch("encoder")
    assert network.encoder is not None
    before = Monitor(network, batch, MonitorSettings()).look()
    for layer in range(2):
        network.encoder.block(layer).attention.scores.register_forward_hook(
            lambda _, __, output: output + 500
        )
    after = Monitor(network, batch, MonitorSettings()).look()
    for place, statistics in before.items():
        np.testing.assert_allclose(after[place]["spread"], statistics["spread"], rtol=1e-3)


def test_a_decoder_without_a_mask_ends_at_its_last_label() -> None:
    """What has no label before that is read all the same: a question, where only the answer is learnt."""
    ids = torch.arange(3, 13)[None]
    labels = torch.full_like(ids, IGNORED)
    labels[0, 4:7] = 5
    sight = find_visible(make("decoder"), Batch(ids, labels, 3, 7))["decoder", "self"]
    assert sight.rows.tolist() == [[True] * 7 + [False] * 3]


def test_a_long_probe_is_cut() -> None:
    batch = shorten(make_batch("encoder-decoder"), texts=1, tokens=4)
    assert batch.target is not None
    assert (batch.ids.shape, batch.target.shape, batch.labels.shape) == ((1, 4), (1, 4), (1, 4))
