"""Transfers from a GPU: every kind of number, in order, with a limit on memory, and no failure is lost."""

import queue
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np
import pytest
import torch

from glassformer.recorders.statistics.transfer import MOST_HELD, PackedTransfer, TransferPool


def test_all_is_fetched() -> None:
    pool, fetched = TransferPool(), queue.SimpleQueue()
    pool.fetch([lambda number=number: fetched.put(number) for number in range(20)])
    assert {fetched.get() for _ in range(20)} == set(range(20))
    pool.close()


def test_what_is_kept_is_kept_in_order() -> None:
    pool, order = TransferPool(), []
    asked = [pool.store(lambda number=number: order.append(number), 1) for number in range(50)]
    asked[-1]()
    pool.close()
    assert order == list(range(50))


def test_too_much_that_waits_is_waited_for() -> None:
    pool, done = TransferPool(), []
    for number, size in enumerate((MOST_HELD // 2, MOST_HELD // 2, MOST_HELD)):
        last = pool.store(lambda number=number: done.append(number), size)
    assert done[:2] == [0, 1]  # for the third there was no room before both were written
    last()
    assert done == [0, 1, 2]
    pool.close()


def test_nothing_begins_after_the_end() -> None:
    pool, begun, cancelled, done = TransferPool(), threading.Event(), threading.Event(), []

    def write() -> None:
        begun.set()
        assert cancelled.wait(300)
        done.append(0)

    first = pool.store(write, 1)
    second = pool.store(lambda: done.append(1), 1)
    second.__self__.add_done_callback(lambda _: cancelled.set())
    assert begun.wait(300)
    pool.close()  # waits for the first alone
    first()
    assert done == [0]


def test_a_failure_is_told_to_who_asks() -> None:
    pool = TransferPool()

    def fail() -> None:
        raise OSError("no room")

    kept = pool.store(fail, MOST_HELD)
    with pytest.raises(OSError, match="no room"):
        pool.store(lambda: None, 1)  # makes room first, by waiting for the one before
    with pytest.raises(OSError, match="no room"):
        kept()
    pool.close()


def test_who_is_interrupted_while_waiting_has_called_off_all_that_did_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, begun, over, done = TransferPool(), threading.Event(), threading.Event(), []

    def write() -> None:
        begun.set()
        assert over.wait(300)

    pool.store(write, 1)
    waiting = pool.store(lambda: done.append(1), 1)
    assert begun.wait(300)
    wait = ThreadPoolExecutor.shutdown

    def interrupt(threads: ThreadPoolExecutor, wait_too: bool = True, **words: bool) -> None:
        wait(threads, wait=False, cancel_futures=words.get("cancel_futures", False))
        if words.get("wait", wait_too):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ThreadPoolExecutor, "shutdown", interrupt)
        with pytest.raises(KeyboardInterrupt):
            pool.close()
    over.set()
    with pytest.raises(CancelledError):
        waiting()
    pool.close()
    assert done == []


def test_a_transfer_copies_every_kind_of_number() -> None:
    tensors = {
        "flags": torch.tensor([True, False, True]),
        "singles": torch.randn(3, 5)[:, ::2],
        "nothing": torch.zeros(2, 0),
        "doubles": torch.randn(2, 2).double(),
        "whole": torch.arange(3, dtype=torch.int32),
        "one": torch.tensor(7, dtype=torch.int64),
    }
    arrays = PackedTransfer(tensors).read()
    assert arrays.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert arrays[name].dtype == tensor.numpy().dtype
        assert np.array_equal(arrays[name], tensor.numpy()), name


@pytest.mark.gpu
def test_a_transfer_waits_for_its_own_work_alone() -> None:
    large = torch.randn(8192, 8192, device="cuda")
    (large @ large).sum().item()  # whatever the first product needs is there
    transfer = PackedTransfer({"wanted": torch.arange(1000, device="cuda")})
    later = large
    for _ in range(200):  # a second or so of work
        later = (later @ large).clamp(-1, 1)
    done = torch.cuda.Event()
    done.record()
    assert np.array_equal(transfer.read()["wanted"], np.arange(1000))
    assert not done.query()
    assert torch.isfinite(later).all()
