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
from glassformer.training.alarms import HeadWatch
from glassformer.training.head_statistics import STATISTICS
from glassformer.training.monitor import Monitor, shorten
from glassformer.training.settings import MonitorSettings
from tolerances import assert_near
from training.networks import make, make_batch


def tokens(side: str, ids: torch.Tensor) -> Tokens:
    return Tokens(side=side, texts=tuple(map(str, ids.tolist())), ids=ids.numpy())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words", [{}, {"positions": "relative"}, {"similarity": "additive"}, {"best_keys": 2}]
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
                qkv[:2] *= 9


@pytest.mark.parametrize("how", ["exploding scores", "dead head", "identical heads", "entropy collapse"])
def test_damage_to_weights_raises_its_alarm_and_health_none(how: str) -> None:
    network, batch = make("encoder"), make_batch("encoder")
    settings = MonitorSettings(explode=100.0)
    monitor = Monitor(network, batch, settings)
    healthy = HeadWatch(settings)
    assert [healthy.check(step, monitor.look()) for step in range(3)] == [[], [], []]
    damage(network, how)
    watch = HeadWatch(settings)
    events = [event for step in range(3) for event in watch.check(step, monitor.look())]
    assert how in {event.topic for event in events}
    assert all(event.place == "encoder.self.0" for event in events)


def test_a_long_probe_is_cut() -> None:
    batch = shorten(make_batch("encoder-decoder"), texts=1, tokens=4)
    assert batch.target is not None
    assert (batch.ids.shape, batch.target.shape, batch.labels.shape) == ((1, 4), (1, 4), (1, 4))
