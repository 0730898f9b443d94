"""Statistics of heads: induction, and patterns that are alike."""

import torch

from glassformer.place import Place
from glassformer.training.monitor import Monitor
from glassformer.training.settings import MonitorSettings
from training.networks import make, make_batch


def test_an_induction_head_is_seen() -> None:
    """A head built by hand: its key at j says what token j − 1 was, its query what token is here."""
    network = make("decoder", heads=1, layers=1, positions="none")
    batch = make_batch("decoder")
    monitor = Monitor(network, batch, MonitorSettings())
    assert network.decoder is not None
    attention = network.decoder.block(0).attention
    assert monitor.repeated is not None
    ids = monitor.repeated.ids

    def look_back(_: object, __: object, output: torch.Tensor) -> torch.Tensor:
        if output.shape[-1] != ids.shape[1]:
            return output
        before = ids.roll(1, 1)
        found = (ids[:, :, None] == before[:, None, :]).float()[:, None]  # (B, 1, T, S)
        return found * 50

    handle = attention.scores.register_forward_hook(look_back)
    seen = monitor.look()[Place("decoder", "self", 0)]
    handle.remove()
    plain = monitor.look()[Place("decoder", "self", 0)]
    assert seen["induction"][0] > 0.4
    assert plain["induction"][0] < 0.1


def test_heads_that_look_nearly_evenly_are_judged_by_the_difference() -> None:
    network, batch = make("encoder"), make_batch("encoder")
    assert network.encoder is not None
    attention = network.encoder.block(0).attention
    assert attention.qkv is not None
    with torch.no_grad():
        attention.qkv.weight[:32] *= 0.05  # queries and keys
    seen = Monitor(network, batch, MonitorSettings()).look()[Place("encoder", "self", 0)]
    assert min(seen["entropy_share"]) > 0.999
    assert max(seen["likeness"]) < 0.9
