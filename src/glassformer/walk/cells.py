"""How one number came about: which row and column made it, with the arithmetic, in double precision.

In:   a recording, a step of its plan, a row, a column, a head.
Out:  CellArithmetic: the terms, what they add up to, and how far the network's own number is from it.
"""

import math

import numpy as np

from glassformer.errors import ApiError
from glassformer.recording import Recording
from glassformer.walk.arrays import Arrays
from glassformer.walk.operations import OPERATIONS
from glassformer.walk.plan import follow
from glassformer.walk.types import CellArithmetic, Step, Term, WalkPlan
from glassformer.walk.working import Cell, Numbers, Working

MOST_TERMS = 256  # sent as they are; of more, the largest of each of so many parts: what a page can draw
LARGE = 8  # terms that are marked


def explain(
    recording: Recording, step: str, row: int = 0, column: int = 0, head: int | None = None
) -> CellArithmetic:
    """The arithmetic of one cell of a step's output.

    >>> config = gf.ModelConfig(vocabulary_size=100, shape="decoder", layers=1, width=16, heads=2)
    >>> traced = gf.record(gf.Transformer(config), [5, 17, 42], want=("trace", "parameters"))
    >>> cell = gf.explain(traced, "decoder.0.self.products", row=2, column=1, head=0)
    >>> len(cell.terms)  # a query times a key, each of width 8
    8
    """
    plan, arrays = follow(recording)
    found = find_step(plan, step)
    if not found.arithmetic:
        raise ApiError("walk.step_not_recorded", "not_recorded", 404, step=step)
    cell = _place(arrays, found, row, column, head)
    try:
        working = OPERATIONS[found.operation](cell)
        value = cell.value(found.output)
    except (IndexError, ValueError, TypeError, ArithmeticError) as error:  # arrays of a file need not fit
        raise ApiError("walk.arrays_do_not_fit", "cannot_be", 422, step=step, error=str(error)) from error
    terms, left_out, rest = _choose_terms(working)
    return CellArithmetic(
        step=step,
        operation=found.operation,
        head=cell.head,
        row=row,
        column=column,
        terms=terms,
        left_out=left_out,
        rest=rest,
        bias=working.bias,
        numbers=dict(working.numbers),
        sum=working.sum,
        value=value,
        shown=working.result,
        difference=0.0 if working.result == value else working.result - value,
        reads=tuple(working.reads),
    )


def find_step(plan: WalkPlan, id: str) -> Step:
    """A step of the plan by its id."""
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    if id not in steps:
        raise ApiError("walk.no_step", status=404, step=id[:80], first=next(iter(steps), "–"))
    return steps[id]


def _place(arrays: Arrays, step: Step, row: int, column: int, head: int | None) -> Cell:
    """A cell that exists; without a head, that of the first."""
    shape = step.shape.output or ()
    asked = ((head or 0,) if len(shape) == 3 else ()) + ((row,) if len(shape) > 1 else ()) + (column,)
    if len(shape) < 3 and head is not None:
        raise ApiError("walk.step_without_heads", "no_cell", 422, step=step.id)
    if len(shape) == 1 and row != 0:
        raise ApiError("walk.step_with_one_row", "no_cell", 422, step=step.id)
    if any(not 0 <= place < length for place, length in zip(asked, shape, strict=True)):
        raise ApiError("walk.no_cell", status=422, cell=str(asked), step=step.id, shape=str(shape))
    return Cell(arrays, step, asked[0] if len(shape) == 3 else None, row, column)


def _choose_terms(working: Working) -> tuple[tuple[Term, ...], int, float]:
    """The terms, or the largest of each part where they are many, those that matter most marked; and what is
    left out, as one."""
    products = working.left * working.right if working.products is None else working.products
    sizes = np.abs(products)
    large = set(np.argsort(-sizes, kind="stable")[:LARGE].tolist())
    sent = np.array(sorted(large | _find_highest(sizes)), np.intp)
    rest = float(np.delete(products, sent).sum())
    labels = working.labels
    terms = tuple(
        Term(
            index=index,
            label=str(index) if labels is None else labels[index],
            left=float(working.left[index]),
            right=float(working.right[index]),
            product=float(products[index]),
            large=index in large,
        )
        for index in sent.tolist()
    )
    return terms, len(products) - len(sent), rest


def _find_highest(sizes: Numbers) -> set[int]:
    """The places of the largest in each of MOST_TERMS parts of the same length; of few, all."""
    step = max(1, math.ceil(len(sizes) / MOST_TERMS))
    return {start + int(sizes[start : start + step].argmax()) for start in range(0, len(sizes), step)}
