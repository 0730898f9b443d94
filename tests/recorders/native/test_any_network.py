"""Networks with settings drawn at random: forward pass, padding, cached decoding with beams, recording and
walk all give what plain NumPy gives in double precision (tests/reference.py).
"""

import random
from typing import Any

import numpy as np
import torch

from campaigns import campaign
from glassformer.config import ModelConfig
from glassformer.loaded.opening import load
from glassformer.model.transformer import Transformer
from glassformer.recording import Recording
from glassformer.walk import make_plan
from proof import prove_steps
from reference import Reference
from tolerances import assert_near, largest

VOCABULARY, LONGEST = 11, 12
EVERYTHING = ("weights", "scores", "queries", "keys", "values", "trace", "parameters")
SETTINGS: dict[str, tuple[Any, ...]] = {
    "shape": ("encoder", "decoder", "encoder-decoder"),
    "positions": ("sinusoidal", "sinusoidal-halves", "learned", "rotary", "relative", "alibi", "none"),
    "similarity": ("scaled-dot", "scaled-dot", "dot", "bilinear", "additive", "cosine"),
    "score_scale": (None, None, 0.3, 1.7),
    "query_key_norm": (False, False, True),
    "window": (None, None, 1, 2, 3, 5, 40),
    "best_keys": (None, None, None, 1, 2, 30),
    "basic_attention": (False, False, False, False, True),
    "activation": ("relu", "gelu", "gelu-tanh", "silu"),
    "norm_position": ("pre", "post"),
    "embedding_norm": (False, True),
    "scale_embeddings": (False, True),
    "residual_scale": (False, True),
    "share_layers": (False, True),
    "tie_embeddings": (False, True),
}


def draw(chance: random.Random) -> ModelConfig:
    """A configuration that can be."""
    words = {name: chance.choice(values) for name, values in SETTINGS.items()}
    words["heads"], width = chance.choice([(1, 4), (2, 4), (3, 2), (4, 4), (6, 2)])
    divisors = [heads for heads in range(1, words["heads"] + 1) if words["heads"] % heads == 0]
    words["key_heads"] = chance.choice([None, *divisors])
    if words["basic_attention"]:
        words |= {"key_heads": None, "query_key_norm": False}
        words["similarity"] = chance.choice(["dot", "scaled-dot", "cosine"])
    sizes = {"width": words["heads"] * width, "feed_forward": 10, "layers": 2, "max_length": LONGEST}
    return ModelConfig(VOCABULARY, **words, **sizes, dropout=0.0, start_id=1, end_id=2)


def build(config: ModelConfig, seed: int) -> tuple[Transformer, Reference]:
    """A network in which nothing is zero, one or flat by chance, and the reference with its numbers."""
    torch.manual_seed(seed)
    network = Transformer(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    numbers = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    return network, Reference(config, numbers)


@campaign("seed", range(2000), sample=40)
def test_every_way_gives_what_numpy_gives(seed: int) -> None:
    chance = random.Random(seed)
    config = draw(chance)
    network, reference = build(config, seed)
    ids = [chance.randrange(3, VOCABULARY) for _ in range(chance.randint(1, LONGEST - 2))]
    target = None
    if config.shape == "encoder-decoder":
        target = [1, *(chance.randrange(3, VOCABULARY) for _ in range(chance.randint(0, LONGEST - 3)))]
    wanted = reference.run(ids, target)
    where = f"{config} {ids} {target}"

    recording = load(network).record(ids, target and target[1:], want=EVERYTHING)
    check_recording(recording, reference, where)
    plan = make_plan(recording)
    prove_steps(recording, [step for chapter in plan.chapters for step in chapter.steps])

    network.double()
    with torch.inference_mode():
        found = network(torch.tensor([ids]), target=None if target is None else torch.tensor([target]))[0]
        check_double(found, wanted, where)
        check_padded(network, reference, ids, target, chance, where)
        if config.shape != "encoder":
            check_beams(network, reference, ids, target, chance, where)


def check_double(found: torch.Tensor, wanted: np.ndarray, where: object) -> None:
    assert_near(found, wanted, layers=4, summands=64, scores=100, dtype="float64", where=where)


def check_recording(recording: Recording, reference: Reference, where: str) -> None:
    """Weights and scores of float32 beside those of float64."""
    assert recording.evidence.exact, where
    assert len(recording.maps) == len(reference.weights)
    sharpest = max(map(largest, reference.scores.values()))
    hard = reference.config.best_keys is not None
    for each in recording.maps:
        place = each.stack, each.kind, each.layer
        scores, weights = reference.scores[place], reference.weights[place]
        assert_near(each.scores(), scores, layers=4, scores=sharpest, where=f"{place} {where}")
        np.testing.assert_array_equal(each.statistics.allowed, np.isfinite(scores).sum(-1), err_msg=where)
        if not hard or ((each.weights() > 0) == (weights > 0)).all():  # rounding may choose another key
            assert_near(each.weights(), weights, layers=4, scores=sharpest, where=f"{place} {where}")


def check_padded(
    network: Transformer,
    reference: Reference,
    ids: list[int],
    target: list[int] | None,
    chance: random.Random,
    where: str,
) -> None:
    """The same text beside a longer one, with padding before, behind or between its tokens."""
    places = sorted(chance.sample(range(len(ids) + 2), len(ids)))
    batch, real = torch.full((2, len(ids) + 2), 4), torch.ones(2, len(ids) + 2, dtype=torch.bool)
    real[0] = False
    batch[0, places], real[0, places] = torch.tensor(ids), True
    twice = None if target is None else torch.tensor([target, target])
    found = network(batch, real, target=twice)[0]
    check_double(found if target is not None else found[places], reference.run(ids, target), where)


def check_beams(
    network: Transformer,
    reference: Reference,
    ids: list[int],
    target: list[int] | None,
    chance: random.Random,
    where: str,
) -> None:
    """Two beams that branch at random: the logits of each are those of its whole text."""
    prefix = None if target is None else torch.tensor([target])
    written = [list(ids if target is None else target)] * 2
    room = LONGEST - len(written[0])
    decoding = network.begin(torch.tensor([ids]), prefix=prefix, capacity=LONGEST)
    decoding.select(torch.tensor([0, 0]))
    for _ in range(room):
        words = [chance.randrange(VOCABULARY) for _ in range(2)]
        written = [[*text, word] for text, word in zip(written, words, strict=True)]
        logits = decoding.step(torch.tensor(words))
        for row, text in enumerate(written):
            wanted = reference.run(text) if target is None else reference.run(ids, text)
            check_double(logits[row], wanted[-1], where)
        origin = [chance.randrange(2) for _ in range(2)]
        decoding.select(torch.tensor(origin))
        written = [written[beam] for beam in origin]
