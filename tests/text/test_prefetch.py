"""Items made ahead by a thread: in order, with their errors, and no thread left behind."""

import threading
from collections.abc import Iterator

import pytest

from glassformer.errors import InputError
from glassformer.text.prefetch import prefetch


@pytest.mark.parametrize("ahead", [1, 2, 99])
def test_items_come_in_order_and_no_more_than_wanted_are_made_ahead(ahead: int) -> None:
    made: list[int] = []

    def count() -> Iterator[int]:
        for number in range(7):
            made.append(number)
            yield number

    for number in (items := prefetch(count(), ahead)):
        assert made[: number + 1] == list(range(number + 1))
        assert len(made) <= number + 3 + ahead  # one is in use, one is being made
    assert made == list(range(7))
    assert list(items) == []


def test_what_goes_wrong_in_the_thread_is_raised_where_batches_are_used() -> None:
    def fail() -> Iterator[int]:
        yield 1
        raise InputError("line 7 is broken")

    things = prefetch(fail(), 2)
    assert next(things) == 1
    with pytest.raises(InputError, match="line 7 is broken"):
        next(things)


def test_the_thread_ends_with_its_iterator() -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 0

    before = threading.enumerate()  # other tests may have left some
    things = prefetch(endless(), 2)
    assert next(things) == 0
    threads = [thread for thread in threading.enumerate() if thread not in before]
    things.close()  # type: ignore[attr-defined]
    assert threads
    assert not any(thread.is_alive() for thread in threads)
