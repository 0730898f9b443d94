"""Errands that threads run while a model does: in order, not too many at once, and no failure is lost."""

import pytest

from glassformer.recorders.couriers import MOST_HELD, Couriers


def test_all_is_fetched() -> None:
    couriers, fetched = Couriers(), set()
    couriers.fetch([lambda number=number: fetched.add(number) for number in range(20)])
    couriers.dismiss()
    assert fetched == set(range(20))


def test_what_is_kept_is_kept_in_order() -> None:
    couriers, order = Couriers(), []
    for number in range(50):
        couriers.keep(lambda number=number: order.append(number), 1)
    couriers.dismiss()
    assert order == list(range(50))


def test_too_much_that_waits_is_waited_for() -> None:
    couriers, done = Couriers(), []
    for number, size in enumerate((MOST_HELD // 2, MOST_HELD // 2, MOST_HELD)):
        couriers.keep(lambda number=number: done.append(number), size)
    assert done[:2] == [0, 1]  # for the third there was no room before both were written
    couriers.dismiss()
    assert done == [0, 1, 2]


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
