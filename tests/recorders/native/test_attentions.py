"""Every attention of our networks is found once, with the layers that use it."""

from glassformer.recorders.native.attentions import find_attentions, find_stacks
from our_networks import build, build_recurrent


def test_every_attention_has_its_stack_kind_and_layers() -> None:
    network = build()
    found = list(find_attentions(network))
    assert [(each.stack, each.kind, list(each.layers)) for each in found] == [
        ("encoder", "self", [0]),
        ("encoder", "self", [1]),
        ("decoder", "self", [0]),
        ("decoder", "cross", [0]),
        ("decoder", "self", [1]),
        ("decoder", "cross", [1]),
    ]
    assert found[3].module is network.decoder.block(0).cross
    assert list(find_stacks(network)) == ["encoder", "decoder"]


def test_layers_that_share_a_block_share_its_attention() -> None:
    (only,) = find_attentions(build(shape="encoder", head="none", share_layers=True, layers=3))
    assert list(only.layers) == [0, 1, 2]


def test_a_recurrent_network_attends_from_its_decoder_alone() -> None:
    network = build_recurrent()
    (only,) = find_attentions(network)
    assert (only.stack, only.kind, only.module) == ("decoder", "cross", network.decoder.attention)
    assert list(find_attentions(build_recurrent("fixed"))) == []
    assert find_stacks(network) == {}
