"""Tokens chosen where they are read are those that are fetched one by one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.model import generate as generating
from glassformer.model.cuda_graph import GraphDecoding, StaticCache
from glassformer.model.generate import GenerationSettings, generate
from glassformer.model.run_ahead import run_ahead
from glassformer.model.transformer import Transformer
from tolerances import assert_near


class EagerDecoding(GraphDecoding):
    """What a graph would do, on a CPU."""

    @contextmanager
    def choosing(
        self, choose: Callable[[Tensor], None], ids: Tensor, changing: Sequence[Tensor]
    ) -> Iterator[Callable[[], None]]:
        assert ids.data_ptr() in {each.data_ptr() for each in changing}
        self._ids, self._choose, self._fused = ids, choose, None
        self.next = self.next.clone()
        self.cache = self._fixed = StaticCache(self.cache, self.sources)
        yield self._advance  # type: ignore[misc]


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many searches ran ahead."""
    seen: list[int] = []

    def run(search: Any) -> None:
        seen.append(len(search.rows))
        run_ahead(search)

    monkeypatch.setattr("glassformer.model.transformer.CachedDecoding", EagerDecoding)
    monkeypatch.setattr(generating, "run_ahead", run)
    monkeypatch.setattr("glassformer.model.run_ahead.CHECK_EVERY", 3)
    return seen


def build(shape: str = "decoder") -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(
        40, shape=shape, start_id=1, end_id=2, width=32, heads=4, layers=2, feed_forward=64, max_length=24,
        dropout=0.0,
    )  # fmt: skip
    network = Transformer(config).eval()
    for parameter in network.parameters():
        if parameter.dim() > 1:
            parameter.data.mul_(2)  # answers that vary
    return network


SETTINGS: list[dict[str, Any]] = [
    {},
    {"alternatives": 3},
    {"forbidden": (7, 9, 30), "min_new_tokens": 6},
    {"min_new_tokens": 12},
    {"force_end": True, "max_new_tokens": 5},
    {"sample": True, "seed": 3, "temperature": 0.7, "top_k": 20},
    {"sample": True, "seed": 4, "top_p": 0.8, "alternatives": 2},
    {"max_new_tokens": 1},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
def test_same_steps_as_one_by_one(
    monkeypatch: pytest.MonkeyPatch, ahead: list[int], shape: str, settings: dict[str, Any]
) -> None:
    network = build(shape)
    ids = torch.randint(3, 40, (4, 6), generator=torch.Generator().manual_seed(1))
    real = torch.ones(4, 6, dtype=torch.bool)
    real[1, :3] = False
    wanted = GenerationSettings(**{"max_new_tokens": 12} | settings)
    found = generate(network, ids, real, wanted)
    assert bool(ahead) == (wanted.max_new_tokens > 1)
    monkeypatch.undo()
    expected = generate(network, ids, real, wanted)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.ids == theirs.ids
        assert ours.stopped == theirs.stopped
        assert_near(ours.log_probabilities, theirs.log_probabilities, layers=2)
        choices = [[each.token for each in place] for place in ours.alternatives]
        assert choices == [[each.token for each in place] for place in theirs.alternatives]
        assert [node[:5] for node in ours.tree.nodes] == [node[:5] for node in theirs.tree.nodes]
        assert [node.state for node in ours.tree.nodes] == [node.state for node in theirs.tree.nodes]
        totals = ([node.total for node in each.tree.nodes] for each in (ours, theirs))
        assert_near(*totals, layers=2)


class SteppedError(Exception):
    pass


@pytest.mark.parametrize(
    "settings",
    [
        {"no_repeat_ngram": 2},
        {"repetition_penalty": 1.3},
        {"beams": 2},
        {"max_new_tokens": 40},  # more than there are positions: a shorter prompt goes on for longer
    ],
    ids=str,
)
def test_what_needs_a_look_at_each_token_goes_step_by_step(
    monkeypatch: pytest.MonkeyPatch, ahead: list[int], settings: dict[str, Any]
) -> None:
    def step(*_: Any) -> None:
        raise SteppedError

    monkeypatch.setattr(EagerDecoding, "step", step)
    ids = torch.randint(3, 40, (2, 6), generator=torch.Generator().manual_seed(1))
    real = torch.ones(2, 6, dtype=torch.bool)
    real[1, :3] = False
    with pytest.raises(SteppedError):
        generate(build(), ids, real, GenerationSettings(**{"max_new_tokens": 3} | settings))
    assert not ahead
