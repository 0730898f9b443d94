"""From tensors to figures: numbers that JSON can carry, texts, colour scales."""

import math

import pytest
import torch

from glassformer.lessons.figures import axis, chain, flags, format_number, matrix, percent, round_number, row
from glassformer.messages import literal, message


def test_numbers_have_the_digits_of_single_precision_or_are_none() -> None:
    assert round_number(1 / 3) == 0.3333333
    assert [round_number(value) for value in (math.nan, math.inf, -math.inf)] == [None] * 3
    assert row(torch.tensor([1.0, math.inf])) == (1.0, None)


@pytest.mark.parametrize(
    ("number", "form", "text"), [(-0.125, ".2f", "−0.12"), (2.9e-6, ".1e", "2.9e−6"), (3e5, ".0e", "3e5")]
)
def test_numbers_in_sentences(number: float, form: str, text: str) -> None:
    assert format_number(number, form) == text
    assert percent(0.62) == "62\u202f%"


def test_messages_in_a_row() -> None:
    parts = [literal("a"), literal("b"), literal("c")]
    assert str(chain("lessons.lookup.sum", parts)) == "a + b + c"
    assert chain("lessons.lookup.sum", parts[:1]) == parts[0]


@pytest.mark.parametrize(
    ("values", "low", "high", "scale"),
    [
        ([[0.5, 2.0]], 0.0, 2.0, "sequential"),
        ([[-3.0, 2.0]], -3.0, 3.0, "diverging"),
        ([[0.0, -math.inf]], 0.0, 1.0, "sequential"),
    ],
)
def test_a_matrix_has_the_scale_of_its_finite_numbers(
    values: list[list[float]], low: float, high: float, scale: str
) -> None:
    made = matrix("x", message("lessons.masks.weights"), torch.tensor(values), axis(["a"]), axis([0, 1]))
    assert (made.low, made.high, made.scale) == (low, high, scale)
    assert made.columns.labels == ("0", "1")


def test_flags_are_ones_and_zeros() -> None:
    title = message("lessons.masks.allowed")
    made = flags("x", title, torch.tensor([[True, False]]), axis(["a"]), axis(["b", "c"]))
    assert (made.values, made.scale) == (((1.0, 0.0),), "flags")
