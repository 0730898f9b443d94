"""Steps replayed as a CUDA graph say what steps launched one by one say."""

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.model.cuda_graph import GraphDecoding, StaticCache
from glassformer.model.decoding import CachedDecoding
from glassformer.model.generate import GenerationSettings, generate
from glassformer.model.transformer import Transformer
from tolerances import assert_near

SMALL = {"width": 32, "heads": 4, "layers": 2, "feed_forward": 64, "max_length": 64, "dropout": 0.0}


def build(**changes):
    torch.manual_seed(0)
    network = Transformer(ModelConfig(40, start_id=1, end_id=2, **{**SMALL, **changes})).eval()
    for parameter in network.parameters():
        if parameter.dim() > 1:
            parameter.data.mul_(2)  # answers that vary
    return network


LOCAL = [
    {"positions": "alibi", "score_scale": 0.6},
    {"positions": "rotary", "key_heads": 2, "query_key_norm": True},
    {"positions": "rotary", "key_heads": 1, "window": 4},
    {"positions": "alibi", "window": 3, "similarity": "cosine"},
]


@pytest.mark.parametrize(
    "settings", [*({"positions": name} for name in ("learned", "rotary", "relative")), *LOCAL], ids=str
)
@torch.inference_mode()
def test_buffers_of_one_size_say_what_growing_ones_say(settings):
    network = build(shape="decoder", **settings)
    chance = torch.Generator().manual_seed(0)
    ids = torch.randint(3, 40, (2, 5), generator=chance)
    plain = CachedDecoding(network, ids, None, None, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CachedDecoding, "drops", GraphDecoding.drops)
        static = CachedDecoding(network, ids, None, None, 20)
    for decoding in (plain, static):
        decoding.select(torch.arange(2).repeat_interleave(3))
    static.cache = StaticCache(static.cache, sources=2)
    for _ in range(4):
        tokens = torch.randint(3, 40, (6,), generator=chance)
        assert_near(static.step(tokens), plain.step(tokens), layers=2)
        static.cache.slots += static.cache.beams  # as the recorded graph does
        rows = torch.arange(0, 6, 3)[:, None] + torch.randint(0, 3, (2, 3), generator=chance)
        for decoding in (plain, static):
            decoding.select(rows.flatten())


@pytest.mark.gpu
@pytest.mark.parametrize(
    "settings",
    [*({"positions": name} for name in ("sinusoidal", "learned", "rotary", "relative", "none")), *LOCAL],
    ids=str,
)
@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("beams", [1, 4])
def test_same_answers_as_on_a_cpu(settings, shape, beams):
    network = build(shape=shape, **settings)
    ids = torch.randint(3, 40, (3, 6), generator=torch.Generator().manual_seed(1))
    real = torch.ones(3, 6, dtype=torch.bool)
    real[1, :2] = False  # padding on the left of a prompt; of a source it may stand anywhere
    settings = GenerationSettings(max_new_tokens=20, beams=beams, n_best=beams)
    expected = generate(network, ids, real, settings)
    network.cuda()
    found = generate(network, ids.cuda(), real.cuda(), settings)
    assert [list(answer.ids) for answer in found] == [list(answer.ids) for answer in expected]


@pytest.mark.gpu
@torch.inference_mode()
def test_beams_branch_and_sources_leave_while_the_graph_runs():
    network = build(shape="decoder", positions="rotary").cuda()
    ids = torch.randint(3, 40, (3, 6), device="cuda")
    plain = CachedDecoding(network, ids, None, None, 40)
    graph = GraphDecoding(network, ids, None, None, 40)
    chance = torch.Generator().manual_seed(0)
    sources = 3
    for decoding in (plain, graph):
        decoding.select(torch.arange(3, device="cuda").repeat_interleave(2))
    for step in range(8):
        tokens = torch.randint(3, 40, (sources * 2,), generator=chance).cuda()
        assert_near(plain.step(tokens), graph.step(tokens), layers=2)
        rows = torch.arange(sources)[:, None] * 2 + torch.randint(0, 2, (sources, 2), generator=chance)
        for decoding in (plain, graph):
            decoding.select(rows.flatten().cuda())
        if step in (2, 5):
            sources -= 1
            kept = torch.arange(1, sources + 1, device="cuda")
            for decoding in (plain, graph):
                decoding.keep(kept)


@pytest.mark.gpu
def test_bfloat16_runs():
    network = build(shape="decoder").cuda().bfloat16()
    answers = generate(
        network, torch.full((1, 4), 5, device="cuda"), settings=GenerationSettings(max_new_tokens=8)
    )
    assert len(answers[0].ids) <= 8
