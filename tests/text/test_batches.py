"""Batches: every example once, budgets kept, the same from any position on, shared fairly among processes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import ConfigurationError, InputError
from glassformer.text.batches import BEGINNING, Batch, BatchSettings, Indices, Loader, Position, plan_batches

Lengths = st.lists(st.integers(1, 40), min_size=1, max_size=120)


def measure(lengths: Sequence[int]) -> Indices:
    return np.array(lengths, dtype=np.int64)


def collate(indices: Sequence[int] | Indices, epoch: int) -> Batch:
    """A batch that says which examples it was made of."""
    ids = torch.tensor(list(indices))[:, None]
    return Batch(ids=ids, labels=torch.full_like(ids, epoch), count=len(ids), tokens=len(ids))


def contents(batches: Iterator[tuple[Position, Batch]], number: int) -> list[tuple[Position, list[int], int]]:
    return [
        (position, batch.ids[:, 0].tolist(), int(batch.labels[0]))
        for position, batch in islice(batches, number)
    ]


@given(Lengths, st.integers(40, 200), st.none() | st.integers(1, 9), st.integers(0, 5))
def test_an_epoch_holds_every_example_once_within_the_budget(
    lengths: list[int], tokens: int, rows: int | None, epoch: int
) -> None:
    known = np.array(lengths)
    batches = plan_batches(known, BatchSettings(tokens=tokens, rows=rows), seed=3, epoch=epoch)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * known[batch].max() <= tokens
        assert rows is None or len(batch) <= rows


@given(Lengths, st.integers(1, 7))
def test_their_number_is_shared_evenly_and_the_same_in_every_epoch(lengths: list[int], together: int) -> None:
    settings = BatchSettings(tokens=80)
    if len(lengths) < together:
        with pytest.raises(InputError, match="too few for"):
            plan_batches(np.array(lengths), settings, multiple_of=together)
        return
    plans = [
        plan_batches(np.array(lengths), settings, epoch=epoch, multiple_of=together) for epoch in range(3)
    ]
    assert len({len(plan) for plan in plans}) == 1
    assert len(plans[0]) % together == 0
    left_out = len(lengths) - sum(map(len, plans[0]))
    assert left_out < together
    if left_out:  # only where nothing is left to be halved
        assert all(len(batch) == 1 for batch in plans[0])


def test_batches_are_full_and_nearly_without_padding() -> None:
    lengths = np.random.default_rng(0).integers(1, 60, 5000)
    batches = plan_batches(lengths, BatchSettings(tokens=1000))
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    assert lengths.sum() / padded > 0.98
    assert np.mean([len(batch) * lengths[batch].max() for batch in batches]) > 900


def test_epochs_differ_and_seeds_differ_and_nothing_else_does() -> None:
    lengths = np.random.default_rng(0).integers(1, 9, 300)
    settings = BatchSettings(tokens=50)

    def plan(seed: int, epoch: int) -> list[list[int]]:
        return [list(batch) for batch in plan_batches(lengths, settings, seed=seed, epoch=epoch)]

    first = plan(1, 0)
    np.random.seed(7)  # global state must not matter
    assert plan(1, 0) == first
    assert plan(1, 1) != first
    assert plan(2, 0) != first


def test_without_shuffling_short_ones_come_first() -> None:
    lengths = np.array([5, 1, 3, 1])
    batches = plan_batches(lengths, BatchSettings(tokens=6, shuffle=False), epoch=4)
    assert [list(batch) for batch in batches] == [[1, 3], [2], [0]]


def test_an_example_beyond_the_budget_is_refused() -> None:
    with pytest.raises(InputError, match="An example has 9 tokens, but a batch holds at most 8"):
        plan_batches(np.array([3, 9]), BatchSettings(tokens=8))
    with pytest.raises(InputError, match="no examples to make batches of"):
        plan_batches(np.array([], dtype=np.int64), BatchSettings())


@pytest.mark.parametrize("values", [{"tokens": 0}, {"rows": 0}, {"prefetch": -1}, {"tokens": "many"}])
def test_impossible_settings_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        BatchSettings(**values)


@pytest.mark.parametrize("prefetched", [0, 3])
def test_a_loader_goes_on_from_any_position_as_if_never_stopped(prefetched: int) -> None:
    examples = measure(np.random.default_rng(1).integers(1, 20, 60).tolist())
    loader = Loader(examples, collate, BatchSettings(tokens=60, prefetch=prefetched), seed=5)
    number = 2 * len(loader.plan(0)) + 3
    whole = contents(loader.start(), number)
    assert {epoch for _, _, epoch in whole} == {0, 1, 2}
    for stop in range(number):
        again = Loader(examples, collate, BatchSettings(tokens=60, prefetch=prefetched), seed=5)
        position = whole[stop - 1][0] if stop else BEGINNING
        assert (
            contents(again.start(position), 3)
            == (whole + contents(loader.start(whole[-1][0]), 3))[stop : stop + 3]
        )


@pytest.mark.parametrize("world", [1, 2, 3])
def test_processes_take_turns_in_one_plan(world: int) -> None:
    examples = measure(list(range(1, 30)))
    alone = Loader(examples, collate, BatchSettings(tokens=60), accumulation=world)
    shares = [
        Loader(examples, collate, BatchSettings(tokens=60), rank=rank, world=world) for rank in range(world)
    ]
    assert len({len(share.plan(epoch)) for share in shares for epoch in (0, 1)}) == 1
    together = [batch for turn in zip(*(share.plan(1) for share in shares), strict=True) for batch in turn]
    assert [list(batch) for batch in together] == [list(batch) for batch in alone.plan(1)]
    assert Counter(np.concatenate(together).tolist()) == Counter(range(29))


def test_a_rank_outside_its_world_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no process 2 of 2"):
        Loader(measure([1]), collate, BatchSettings(), rank=2, world=2)


def test_one_epoch_ends() -> None:
    loader = Loader(measure([1] * 10), collate, BatchSettings(tokens=3, prefetch=2))
    assert len(list(loader.start(epochs=1))) == len(loader.plan(0)) == 4


def test_a_batch_moves_with_all_its_parts() -> None:
    batch = Batch(torch.zeros(2, 3), torch.zeros(2, 3), 6, 6, target=torch.zeros(2, 3))
    moved = batch.to("meta")
    assert moved.target is not None
    assert moved.ids.device.type == moved.labels.device.type == moved.target.device.type == "meta"
    assert (moved.real, moved.count) == (None, 6)
