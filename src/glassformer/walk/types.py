"""Schema of the walk: plan, chapters, steps, the diagram, the arithmetic of one cell."""

from typing import Literal

from glassformer.config import Shape
from glassformer.recording import Side
from glassformer.schema import Finite, MessageField, Pair, ResponseModel

Operation = Literal[
    "cut",  # a picture into patches
    "fourier",  # a stretch of sound into frequencies
    "mel",  # how loud a band of frequencies is
    "convolve",  # three rows with a matrix each
    "prepend",  # a learned vector in front
    "lookup",  # a row of a table
    "waves",  # sine and cosine of the position
    "scale",  # times a fixed number
    "add",
    "norm",
    "split",  # a vector cut into heads
    "product",  # with a matrix, plus a bias
    "turn",  # rotary positions
    "fall",  # of scores with distance: ALiBi
    "dot",  # a query with a key
    "cosine",
    "bilinear",
    "additive",
    "divide",  # by the root of the head's width
    "mask",
    "softmax",
    "mix",  # values, weighted
    "join",  # heads side by side
    "activate",
    "pool",
    "choose",
    "before",  # the state that the word before left behind
    "gate",  # of a recurrent cell: σ or tanh of W x + b + U h + c
    "blend",  # of a GRU: (1 - z) n + z h
    "remember",  # of an LSTM: f c + i g
    "release",  # of an LSTM: o tanh(c)
    "concat",  # vectors side by side
    "ends",  # the state after the last word that was read
    "repeat",  # one vector for every word
    "states",  # kept by the recording, made in a way that it does not know
]
Axis = Literal[
    "head",
    "source",
    "target",
    "feature",
    "vocabulary",
    "class",
    "rank",
    "patch",  # of a picture, without the class token
    "pixel",  # of a patch: all of the first colour row by row, then the next
    "column",  # of a spectrogram
    "frequency",
    "band",
]
Part = Literal[
    "embedding", "self", "cross", "feed_forward", "final", "output", "states", "cells", "bridge", "context"
]


class StepParameters(ResponseModel):
    """What a step is computed with: names of arrays under parameters/."""

    weight: str | None = None
    bias: str | None = None
    columns: Pair | None = None  # which outputs of a fused projection: [first, one past the last]
    transposed: bool = False  # the weight is kept as (output, input)
    mean: str | None = None  # of batch norm; of pixels
    variance: str | None = None
    key_weight: str | None = None  # of additive similarity; of a gate, what the state is multiplied with
    key_bias: str | None = None
    vector: str | None = None  # of additive similarity; of pixels, what they are divided by

    def names(self) -> tuple[str, ...]:
        """Those that are there."""
        return tuple(value for _, value in self if isinstance(value, str))


class StepShape(ResponseModel):
    """Lengths of the axes; None where an array was not kept."""

    inputs: tuple[tuple[int, ...] | None, ...]
    output: tuple[int, ...] | None


class Step(ResponseModel):
    """One thing that happens."""

    id: str
    chapter: str
    stack: str | None
    layer: int | None
    kind: Part
    operation: Operation
    inputs: tuple[str, ...]
    output: str
    axes: tuple[Axis, ...]  # of the output; source and target are the tokens of that side
    parameters: StepParameters
    numbers: dict[str, float]
    words: dict[str, str]  # such as the name of the activation
    shape: StepShape
    arithmetic: bool  # whether /cell can say how each number came about
    missing: MessageField | None  # why there is nothing to see


class Chapter(ResponseModel):
    """Steps that belong together: a sub-layer, the embedding, the output."""

    id: str
    kind: Part
    stack: str | None
    layer: int | None
    steps: tuple[Step, ...]


class Block(ResponseModel):
    """A box of the diagram."""

    id: str
    kind: Literal[
        "tokens",
        "embedding",
        "attention",
        "cross",
        "feed_forward",
        "norm",
        "add",
        "output",
        "states",
        "cells",
        "bridge",
        "context",
    ]
    stack: str | None
    layer: int | None
    chapter: str
    step: str  # where a click goes
    causal: bool = False


class BlockArrow(ResponseModel):
    """From block to block."""

    start: str
    end: str
    kind: Literal["stream", "residual", "memory", "state"]  # state: what a cell leaves for the next word


class Diagram(ResponseModel):
    """The true architecture: blocks from below to above, and what flows between them."""

    blocks: tuple[Block, ...]
    arrows: tuple[BlockArrow, ...]


class StackDescription(ResponseModel):
    """A stack as it ran."""

    stack: str
    side: Side
    tokens: int
    layers: int
    heads: int | None
    width: int | None
    causal: bool
    shared: bool  # one block, used at every depth


class WalkPlan(ResponseModel):
    """What happens, in order."""

    model: str
    shape: Shape
    ours: bool  # whether the architecture is known
    recurrent: bool
    norm_position: Literal["pre", "post"] | None
    architecture: dict[str, str | int | float | bool | None] | None
    traced: bool
    parameters: bool
    more: bool  # whether the same run could be recorded with more to show
    stacks: tuple[StackDescription, ...]
    chapters: tuple[Chapter, ...]
    diagram: Diagram
    notes: tuple[MessageField, ...]  # what this recording cannot show


class Term(ResponseModel):
    """One of the things that are summed; of a softmax: score, exponential, weight."""

    index: int
    label: str
    left: Finite
    right: Finite
    product: Finite
    large: bool  # one of the few that matter most


class Reading(ResponseModel):
    """Where the numbers come from: a row, a column or a cell of an array."""

    name: str
    head: int | None = None
    row: int | None = None
    column: int | None = None


class CellArithmetic(ResponseModel):
    """How one number came about."""

    step: str
    operation: Operation
    head: int | None
    row: int
    column: int
    terms: tuple[Term, ...]
    left_out: int  # terms that are too many to send: the smallest
    rest: float  # what those add up to
    bias: Finite
    numbers: dict[str, Finite]  # what else is needed, such as mean and variance of a norm
    sum: Finite  # of all terms, before bias and numbers
    value: Finite  # as the network computed it; None: minus infinity, or nothing that was kept
    shown: Finite  # computed again, in double precision
    difference: Finite
    reads: tuple[Reading, ...]
