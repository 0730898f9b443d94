"""Lines of a log as rows of an index."""

import math

import pytest

from glassformer.runlog.lines import as_number, parse_heads, parse_scalars


def test_a_line_of_scalars_is_a_step_names_and_values() -> None:
    step, names, values = parse_scalars(
        b'{"step": 3, "loss": null, "tokens": 7, "text": "no", "big": 1e999}'
    ) or (0, (), [])
    assert (step, names) == (3, ("loss", "tokens", "text", "big"))
    assert values[1] == 7
    assert [math.isnan(value) for value in values] == [True, False, True, True]


def test_a_line_of_heads_is_a_step_maps_and_values() -> None:
    line = (
        b'{"step": 2, "maps": [{"stack": "encoder", "kind": "self", "layer": 1, "a": [1, 2], "b": [3, 4.5]}]}'
    )
    assert parse_heads(line) == (2, (("encoder.self.1", ("a", "b"), 2),), [1, 2, 3, 4.5])


@pytest.mark.parametrize("line", [b"", b"[]", b'{"step": true}', b'{"step": -1}', b"{", b"[" * 100_000])
def test_what_is_no_line_is_none(line: bytes) -> None:
    assert parse_scalars(line) is None
    assert parse_heads(line) is None


def test_numbers_are_finite_or_nan() -> None:
    assert as_number(3) == 3
    assert all(math.isnan(as_number(value)) for value in (None, "3", math.inf, 10**400))
