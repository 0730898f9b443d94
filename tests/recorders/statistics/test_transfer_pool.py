"""Errands that threads run while a model does: in order, not too many at once, and no failure is lost."""

import queue
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from glassformer.recorders.statistics.transfer_pool import MOST_HELD, Couriers


def test_all_is_fetched() -> None:
    couriers, fetched = Couriers(), queue.SimpleQueue()
    couriers.fetch([lambda number=number: fetched.put(number) for number in range(20)])
    assert {fetched.get() for _ in range(20)} == set(range(20))
    couriers.dismiss()


def test_what_is_kept_is_kept_in_order() -> None:
    couriers, order = Couriers(), []
    asked = [couriers.keep(lambda number=number: order.append(number), 1) for number in range(50)]
    asked[-1]()
    couriers.dismiss()
    assert order == list(range(50))


def test_too_much_that_waits_is_waited_for() -> None:
    couriers, done = Couriers(), []
    for number, size in enumerate((MOST_HELD // 2, MOST_HELD // 2, MOST_HELD)):
        last = couriers.keep(lambda number=number: done.append(number), size)
    assert done[:2] == [0, 1]  # for the third there was no room before both were written
    last()
    assert done == [0, 1, 2]
    couriers.dismiss()


def test_nothing_begins_after_the_end() -> None:
    couriers, begun, cancelled, done = Couriers(), threading.Event(), threading.Event(), []

    def write() -> None:
        begun.set()
        assert cancelled.wait(60)
        done.append(0)

    first = couriers.keep(write, 1)
    second = couriers.keep(lambda: done.append(1), 1)
    second.__self__.add_done_callback(lambda _: cancelled.set())
    assert begun.wait(60)
    couriers.dismiss()  # waits for the first alone
    first()
    assert done == [0]


def test_a_failure_is_told_to_who_asks() -> None:
    couriers = Couriers()

    def fail() -> None:
        raise OSError("no room")

    kept = couriers.keep(fail, MOST_HELD)
    with pytest.raises(OSError, match="no room"):
        couriers.keep(lambda: None, 1)  # makes room first, by waiting for the one before
    with pytest.raises(OSError, match="no room"):
        kept()
    couriers.dismiss()


def test_who_is_interrupted_while_waiting_has_called_off_all_that_did_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    couriers, begun, over, done = Couriers(), threading.Event(), threading.Event(), []

    def write() -> None:
        begun.set()
        assert over.wait(60)

    couriers.keep(write, 1)
    waiting = couriers.keep(lambda: done.append(1), 1)
    assert begun.wait(60)
    wait = ThreadPoolExecutor.shutdown

    def interrupt(threads: ThreadPoolExecutor, wait_too: bool = True, **words: bool) -> None:
        wait(threads, wait=False, cancel_futures=words.get("cancel_futures", False))
        if words.get("wait", wait_too):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ThreadPoolExecutor, "shutdown", interrupt)
        with pytest.raises(KeyboardInterrupt):
            couriers.dismiss()
    over.set()
    with pytest.raises(CancelledError):
        waiting()
    couriers.dismiss()
    assert done == []
