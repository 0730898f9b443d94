"""Large arrays are stored in their own file, also if it is closed meanwhile, or not at all."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.bundle import BundleWriter
from glassformer.errors import RecordingError
from glassformer.recorders import store as keeping
from glassformer.recorders.store import Held, Put, store_in_bundle, store_temporarily


def test_what_is_large_is_in_a_file_and_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE", 100)
    states = torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(0)).transpose(1, 2)
    with BundleWriter(tmp_path / "a.bundle") as writer:
        for keep in (store_temporarily, store_in_bundle(writer)):
            kept = keep("states", states)
            assert not kept.flags.owndata
            assert np.array_equal(kept, states.numpy())


@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="elsewhere files are filled through their mapping")
def test_a_system_that_takes_less_than_it_is_given_is_given_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(keeping, "LARGE", 100)
    monkeypatch.setattr(os, "pwrite", lambda file, given, place: write(file, given[:33], place))
    states = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(0))
    assert np.array_equal(store_temporarily("states", states), states.numpy())


@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="elsewhere files are filled through their mapping")
def test_a_writer_closed_meanwhile_lets_no_byte_into_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LARGE", 100)
    store, other = keeping._write, tmp_path / "other"
    writer = BundleWriter(tmp_path / "a.bundle")

    def close_first(tensor: Tensor, put: Put) -> None:
        number = writer.find("states")[0]
        with other.open("xb") as file:
            writer.discard()
            os.dup2(file.fileno(), number)  # as if the system had given it away again
            store(tensor, put)
        os.close(number)

    monkeypatch.setattr(keeping, "_write", close_first)
    store_in_bundle(writer)("states", torch.ones(2, 100, 5))
    assert other.read_bytes() == b""


def test_what_is_held_is_equal_head_by_head_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE", 100)
    states = torch.randn(3, 7, 5, dtype=torch.bfloat16, generator=torch.Generator().manual_seed(0))
    held = Held("states", states)
    for head in (2, 0, 0, 1):
        assert np.array_equal(held.read_head(head), states[head].float().numpy())
    assert held.nbytes == states.nbytes
    whole = held.read()
    assert np.array_equal(whole, states.float().numpy())
    assert not whole.flags.owndata  # in a file
    assert held.nbytes == 0
    assert held.read() is whole
    assert np.shares_memory(held.read_head(1), whole)


def test_a_full_disk_loses_nothing_that_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE", 100)
    states = torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(0))
    held = Held("states", states)
    with monkeypatch.context() as full:
        full.setattr(keeping, "_write", _fill_disk)
        with pytest.raises(RecordingError, match="No space left"):
            held.read()
    assert np.array_equal(held.read_head(1), states[1].numpy())
    assert np.array_equal(held.read(), states.numpy())


def _fill_disk(tensor: Tensor, put: Put) -> None:
    raise OSError(28, "No space left on device")


def test_the_oldest_make_room_and_what_is_gone_needs_none() -> None:
    holder, device = keeping._Holder(), torch.device("cpu")
    size = 4 * 2 * 3 * 5

    def hold() -> Held:
        held = Held("states", torch.randn(2, 3, 5))
        holder.hold(held, device, most=2 * size)
        return held

    first, second = hold(), hold()
    assert [first.nbytes, second.nbytes] == [size, size]
    third = hold()
    assert [each.nbytes for each in (first, second, third)] == [0, size, size]
    del second
    gc.collect()
    fourth = hold()
    assert [each.nbytes for each in (first, third, fourth)] == [0, size, size]
    holder.store_all()
    assert [each.nbytes for each in (first, third, fourth)] == [0, 0, 0]
    large = Held("states", torch.randn(2, 3, 50))
    holder.hold(large, device, most=2 * size)
    assert large.nbytes == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_finds_everything_stored() -> None:
    holder = keeping._Holder()
    held = Held("states", torch.randn(2, 3, 5))
    holder.hold(held, torch.device("cpu"), most=1000)
    child = os.fork()
    if child == 0:
        os._exit(0 if held.nbytes == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
