"""Batches side by side: the same answers in the same order, and nothing of it stays."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import glassformer as gf
from glassformer.loaded import native
from glassformer.loaded.opening import load
from glassformer.model import lanes
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.int8 import round_to_int8
from glassformer.model.lanes import run_in_lanes
from glassformer.model.linear import PACK_AFTER, Linear, generating, knows_int8
from tolerances import assert_near


@pytest.fixture(params=[2, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def build() -> gf.Transformer:
    torch.manual_seed(0)
    config = gf.ModelConfig(
        vocabulary_size=40, shape="encoder-decoder", layers=2, width=32, heads=4, feed_forward=64,
        start_id=1, end_id=2, dropout=0.5,
    )  # fmt: skip
    return gf.Transformer(config).eval()


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("int8", [False, True])
def test_lanes_say_what_one_batch_after_another_says(
    beams: int, int8: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if int8 and not knows_int8():
        pytest.skip("no kernels for eight bits here")
    monkeypatch.setattr(native, "LANE_TOKENS", 12 * beams)
    network = round_to_int8(build()) if int8 else build()
    network.train()  # dropout would show
    model = load(network)
    prompts = [[3 + (7 * row + place) % 30 for place in range(1 + row % 6)] for row in range(40)]
    settings = GenerationSettings(beams=beams, max_new_tokens=8)
    together = model.generate(prompts, settings)
    assert torch.get_num_threads() == threads
    assert network.training
    monkeypatch.setattr(native, "run_in_lanes", lambda _, run, batches: [run(each) for each in batches])
    for ours, alone in zip(together, model.generate(prompts, settings), strict=True):
        assert ours[0].ids == alone[0].ids
        assert_near([ours[0].total], [alone[0].total], layers=2 * len(ours[0].ids))


def test_more_lanes_take_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lane keeps keys and values of its own, so with many threads their batches are smaller."""
    planned: list[list[list[int]]] = []

    def plan(_: object, __: object, batches: list[list[int]]) -> list[list[SimpleNamespace]]:
        planned.append(batches)
        return [[SimpleNamespace(n_best=())] * len(places) for places in batches]

    monkeypatch.setattr(native, "run_in_lanes", plan)
    prompts = [[3] * 16] * 2048
    for threads in (2, 64):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        load(build()).generate(prompts)
    for threads, batches in zip((2, 64), planned, strict=True):
        largest = max(16 * len(places) for places in batches)
        assert largest == min(native.LANE_TOKENS, native.LANES_TOKENS // threads)


def test_what_is_drawn_is_drawn_in_order(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(native, "run_in_lanes", refuse)
    settings = GenerationSettings(sample=True, seed=3, max_new_tokens=4)
    assert len(load(build()).generate([[3, 4], [5]], settings)) == 2


def test_each_lane_has_its_share_of_the_threads(threads: int) -> None:
    met = threading.Barrier(threads)
    seen = run_in_lanes(
        build(), lambda each: (each, met.wait() >= 0, torch.get_num_threads()), range(threads)
    )
    assert seen == [(each, True, 1) for each in range(threads)]
    assert run_in_lanes(build(), lambda _: torch.get_num_threads(), [0]) == [threads]


def test_after_an_exception_no_other_batch_begins(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network, begun = build().train(), []
    cancelled = threading.Event()

    class Watched(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait, cancel_futures=cancel_futures)
            cancelled.set()

    def run(batch: int) -> None:
        begun.append(batch)
        if batch == 0:
            raise InterruptedError
        cancelled.wait()

    monkeypatch.setattr(lanes, "ThreadPoolExecutor", Watched)
    with pytest.raises(InterruptedError):
        run_in_lanes(network, run, range(100))
    assert len(begun) <= threads + 1
    assert torch.get_num_threads() == threads
    assert network.training


def test_lanes_never_use_a_form_of_what_has_changed(threads: int) -> None:
    layer, inputs = Linear(24, 24), torch.randn(5, 24)
    nn.init.zeros_(layer.bias)

    def run(_: int) -> torch.Tensor:
        with generating(object()), torch.no_grad():
            return torch.stack([layer(inputs) for _ in range(PACK_AFTER + 2)])

    for turn in range(30):
        layer.weight.data = layer.weight.data * 0 + turn  # through .data: nobody counts this
        for product in run_in_lanes(layer, run, range(2 * threads)):
            assert_near(product, (turn * inputs.sum(-1))[None, :, None].expand_as(product), summands=24)
