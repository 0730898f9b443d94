"""What must hold for every network: shapes, causality, padding, order, sharing, training."""

import itertools
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from campaigns import campaign
from glassformer.config import Activation, ModelConfig, Positions, Similarity
from glassformer.errors import ConfigurationError, InputError
from glassformer.model.transformer import Transformer
from tolerances import assert_near

POSITIONS = get_args(Positions)
SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "max_length": 24, "dropout": 0.0}


def build(seed=0, **changes):
    torch.manual_seed(seed)
    return Transformer(ModelConfig(30, **{**SMALL, **changes})).eval()


def draw(seed, rows, length):
    return torch.randint(0, 30, (rows, length), generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
@pytest.mark.parametrize(("positions", "norm"), [*itertools.product(POSITIONS, ("pre", "post"))])
@given(seed=st.integers(0, 1000), place=st.integers(1, 8))
def test_a_later_token_changes_nothing_earlier(positions, norm, seed, place):
    network = build(shape="decoder", positions=positions, norm_position=norm)
    ids = draw(seed, 2, 9)
    changed = ids.clone()
    changed[:, place] = (changed[:, place] + 1) % 30
    before, after = network(ids), network(changed)
    assert_near(before[:, :place], after[:, :place])
    assert not torch.allclose(before[:, place:], after[:, place:], atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize(("positions", "shape"), [*itertools.product(POSITIONS, ("encoder", "decoder"))])
@given(seed=st.integers(0, 1000), padding=st.integers(1, 6), left=st.booleans())
def test_padding_changes_no_answer(positions, shape, seed, padding, left):
    network = build(shape=shape, positions=positions)
    ids = draw(seed, 1, 7)
    extra = draw(seed + 1, 1, padding)
    real = torch.ones(1, 7 + padding, dtype=torch.bool)
    if left:
        padded, kept = torch.cat((extra, ids), 1), slice(padding, None)
        real[:, :padding] = False
    else:
        padded, kept = torch.cat((ids, extra), 1), slice(0, 7)
        real[:, 7:] = False
    assert_near(network(padded, real)[:, kept], network(ids))


@torch.no_grad()
@pytest.mark.parametrize("positions", POSITIONS)
def test_padding_of_source_and_target_changes_no_translation(positions):
    network = build(positions=positions)
    source, target = draw(0, 1, 5), draw(1, 1, 6)
    alone = network(source, target=target)
    real = torch.tensor([[True] * 5 + [False] * 3])
    padded = network(
        torch.cat((source, draw(2, 1, 3)), 1), real, target=torch.cat((target, draw(3, 1, 4)), 1)
    )
    assert_near(padded[:, :6], alone)


@torch.no_grad()
@given(order=st.permutations(range(7)), seed=st.integers(0, 100))
def test_without_positions_words_may_come_in_any_order(order, seed):
    network = build(shape="encoder", positions="none")
    ids, order = draw(seed, 1, 7), torch.tensor(order)
    assert_near(network(ids)[:, order], network(ids[:, order]))


@torch.no_grad()
@pytest.mark.parametrize("positions", [name for name in POSITIONS if name != "none"])
def test_with_positions_order_matters(positions):
    network = build(shape="encoder", positions=positions)
    network.apply(
        lambda m: m.weight.data.mul_(3) if isinstance(m, torch.nn.Linear | torch.nn.Embedding) else None
    )
    ids = draw(0, 1, 7)
    for order in (torch.arange(7).flip(0), torch.arange(7).roll(1)):
        same = torch.allclose(network(ids)[:, order], network(ids[:, order]), atol=1e-3)
        assert same == (positions == "alibi" and bool(order[0] == 6 and order[6] == 0))  # sides are alike


@torch.no_grad()
@given(shift=st.integers(1, 10), seed=st.integers(0, 100))
def test_networks_with_positions_inside_attention_know_distance_only(shift, seed):
    ids = draw(seed, 1, 6)
    extra = torch.zeros(1, shift, dtype=torch.long)
    real = torch.tensor([[False] * shift + [True] * 6])
    for positions in ("rotary", "relative", "alibi"):
        network = build(shape="encoder", positions=positions)
        hidden = network.embeddings(torch.cat((extra, ids), 1), torch.arange(shift + 6))
        shifted = network.encoder(hidden, torch.arange(shift + 6), real)[:, shift:]
        assert_near(shifted, network.encode(ids), layers=2)


@pytest.mark.parametrize("similarity", get_args(Similarity))
@pytest.mark.parametrize("activation", get_args(Activation))
def test_every_parameter_is_trained(similarity, activation):
    network = build(
        similarity=similarity, activation=activation, residual_scale=True, tie_embeddings=False
    ).train()
    network(draw(0, 2, 5), target=draw(1, 2, 6)).square().mean().backward()
    untouched = [name for name, parameter in network.named_parameters() if parameter.grad is None]
    assert untouched == []


@campaign(
    "changes",
    [
        {"basic_attention": True, "similarity": "dot", "heads": 1},
        {"best_keys": 1},
        {"best_keys": 3},
        {"norm": "batch"},
        {"norm": "batch", "norm_position": "pre"},
        {"residual_scale": True, "norm_position": "pre"},
        {"share_layers": True, "embedding_width": 8, "embedding_norm": True},
        {"positions": "relative", "norm_position": "pre"},
        {"positions": "rotary", "similarity": "additive"},
        {"similarity": "cosine", "decoder_layers": 1},
    ],
    sample=4,
)
def test_each_kind_learns_a_tiny_task(changes):
    """Copy four tokens: the loss must fall well below that of guessing."""
    network = build(**changes).train()
    optimiser = torch.optim.Adam(network.parameters(), 5e-3)
    source = torch.randint(3, 30, (16, 4), generator=torch.Generator().manual_seed(0))
    target = torch.cat((torch.ones(16, 1, dtype=torch.long), source[:, :-1]), 1)
    losses = []
    for _ in range(60):
        hidden = network.decode(target, memory=network.encode(source))
        loss = network.loss(hidden, source)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]


def test_what_sub_layers_add_starts_smaller_the_more_of_them_there_are():
    network = build(width=64, layers=2, decoder_layers=5, norm_position="pre", scale_embeddings=False)
    for stack, sublayers in ((network.encoder, 2 * 2), (network.decoder, 3 * 5)):
        block = stack.block(0)
        outputs = [
            block.attention.output,
            block.feed_forward.contract,
            *([block.cross.output] if block.cross else []),
        ]
        for output in outputs:
            assert output.weight.std().item() == pytest.approx(0.02 / sublayers**0.5, rel=0.1)
        assert block.feed_forward.expand.weight.std().item() == pytest.approx(0.02, rel=0.1)


def test_shared_layers_are_one_block_at_every_depth():
    one, many = build(shape="encoder", share_layers=True, layers=4), build(shape="encoder", layers=4)
    assert len(one.encoder.layers) == 1
    assert one.encoder.depth == 4
    for block in many.encoder.layers:
        block.load_state_dict(one.encoder.layers[0].state_dict())
    many.embeddings.load_state_dict(one.embeddings.state_dict())
    ids = draw(0, 2, 6)
    assert_near(one(ids), many(ids))


def test_embeddings_are_scaled_by_the_root_of_the_width():
    scaled, plain = build(positions="none"), build(positions="none", scale_embeddings=False)
    plain.embeddings.load_state_dict(scaled.embeddings.state_dict())
    ids, positions = draw(0, 1, 3), torch.arange(3)
    assert torch.allclose(scaled.embeddings(ids, positions), 4.0 * plain.embeddings(ids, positions))


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_too_long_a_sequence_is_refused_with_both_numbers(positions):
    with pytest.raises(InputError, match=r"25 tokens.*24"):
        build(shape="decoder", positions=positions)(draw(0, 1, 25))


@pytest.mark.parametrize("positions", ["rotary", "relative", "none"])
def test_networks_without_a_table_take_any_length(positions):
    assert build(shape="decoder", positions=positions)(draw(0, 1, 60)).shape == (1, 60, 30)


def test_ids_outside_the_vocabulary_and_empty_input_are_refused():
    network = build(shape="decoder")
    with pytest.raises(InputError, match=r"id 30 .* vocabulary of 30"):
        network(torch.tensor([[1, 30]]))
    with pytest.raises(InputError, match="id -1"):
        network(torch.tensor([[-1, 3]]))
    with pytest.raises(InputError, match="empty"):
        network(torch.zeros(1, 0, dtype=torch.long))
    with pytest.raises(InputError, match="integers"):
        network(torch.ones(1, 3))
    with pytest.raises(InputError, match="only a source"):
        build()(torch.tensor([[1, 2]]))


@pytest.mark.parametrize(
    "real", [torch.ones(1, 4), torch.ones(1, 4, dtype=torch.long), torch.ones(1, 3, dtype=torch.bool)]
)
def test_a_mask_of_numbers_or_of_another_shape_is_refused(real):
    ids = draw(0, 1, 4)
    with pytest.raises(InputError, match=r"expected booleans with the shape of the ids, \(1, 4\)"):
        build(shape="encoder")(ids, real)
    with pytest.raises(InputError, match="expected booleans"):
        build()(ids, target=ids, target_real=real)
    with pytest.raises(InputError, match="expected booleans"):
        build()(ids, real, target=ids)


def test_a_target_without_an_encoder_is_refused():
    with pytest.raises(InputError, match="Leave `target` out"):
        build(shape="decoder")(draw(0, 1, 4), target=draw(1, 1, 4))


def test_a_masked_head_belongs_to_an_encoder():
    with pytest.raises(ConfigurationError, match="encoder"):
        build(shape="decoder", head="masked")
