"""Types of the playground: topics with their parameters, and results with their figures. Without torch.

In:   nothing; the workbench fills these types and the page draws them.
Out:  `Topic`, `TopicResult`, and the figures: matrix, bars, lines, points, table, numbers. Every text of ours
      is a `Message`; a label that is a word of the example itself is a plain string.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from glassformer.schema import MessageField as Text
from glassformer.schema import ResponseModel

FILE = Path(__file__).with_name("defaults.json")

Value = bool | int | float | str
Number = float | None  # None: nothing there (masked, minus infinity, not measured)
Row = tuple[Number, ...]


class Choice(ResponseModel):
    """One of several values of a parameter."""

    value: str
    label: Text


class Parameter(ResponseModel):
    """Something to change. The first parameter of a topic is the one that the page makes large."""

    name: str
    label: Text
    kind: Literal["choice", "integer", "number", "flag", "text"]
    default: Value
    by_language: dict[str, str] = Field(default_factory=dict)  # text: the page's default in a language
    minimum: float | None = None  # integer, number: the ends of the slider
    maximum: float | None = None
    step: float | None = None
    choices: tuple[Choice, ...] = ()
    max_length: int | None = None  # text: characters
    # shown only while each of these parameters has one of these values
    needs: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class Topic(ResponseModel):
    """One page of the playground."""

    name: str
    title: Text
    question: Text  # what it answers, in one line
    change: Text  # what to change
    see: Text  # what is to be seen
    why: Text  # and why it is so
    parameters: tuple[Parameter, ...]
    streams: bool = False  # it can also be run as a job that reports each step (`POST /api/playground/…`)
    formula: str | None = None
    measured: bool = False  # its numbers are measured on the machine that runs it: they do not ship


class Axis(ResponseModel):
    """The labels beside or below a figure."""

    title: Text | None = None
    labels: tuple[str, ...] = ()


class BaseFigure(ResponseModel):
    """What all figures have."""

    kind: str
    id: str
    title: Text
    note: Text | None = None


class Matrix(BaseFigure):
    """Numbers in rows and columns, drawn as colours."""

    kind: Literal["matrix"] = "matrix"
    rows: Axis
    columns: Axis
    values: tuple[Row, ...]
    scale: Literal["sequential", "diverging", "flags"]  # flags: 1 allowed, 0 not
    low: float  # the ends of the colours; diverging: low = -high
    high: float
    mark: tuple[tuple[int, int], ...] = ()  # cells to outline: (row, column)


class Series(ResponseModel):
    """Numbers that belong together."""

    name: Text
    values: Row
    dashed: bool = False  # what theory says, beside what was measured


class Bars(BaseFigure):
    """Groups of bars: one group for each label, one bar for each series."""

    kind: Literal["bars"] = "bars"
    labels: tuple[str, ...]
    label_title: Text | None = None
    value_title: Text
    series: tuple[Series, ...]
    high: float | None = None  # the end of the scale, where it should not move


class Lines(BaseFigure):
    """Curves over one x axis."""

    kind: Literal["lines"] = "lines"
    x: tuple[float, ...]
    x_title: Text
    y_title: Text
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    series: tuple[Series, ...]  # values as many as x; None leaves a gap
    mark: float | None = None  # the x to point at


class Arrow(ResponseModel):
    """A vector from the origin of a plane."""

    label: str
    x: float
    y: float
    group: int  # arrows of one group have one colour


class Points(BaseFigure):
    """Vectors in a plane, the same unit on both axes."""

    kind: Literal["points"] = "points"
    arrows: tuple[Arrow, ...]
    groups: tuple[Text, ...]
    reach: float  # the plane goes from -reach to reach


class Table(BaseFigure):
    """Rows to read. A cell that is a number is shown as one."""

    kind: Literal["table"] = "table"
    columns: tuple[Text, ...]
    rows: tuple[tuple[str | float | Text | None, ...], ...]
    marked: tuple[int, ...] = ()  # rows to emphasise


class Measure(ResponseModel):
    """One number with a name."""

    name: Text
    value: Number
    unit: str | None = None
    good: bool | None = None  # whether it is what one would want; None: neither


class Numbers(BaseFigure):
    """A few numbers, large."""

    kind: Literal["numbers"] = "numbers"
    items: tuple[Measure, ...]


Figure = Annotated[Matrix | Bars | Lines | Points | Table | Numbers, Field(discriminator="kind")]


class Range(ResponseModel):
    """How far a whole number can go here, and what its values are called."""

    maximum: int
    labels: tuple[str, ...] = ()


class TopicResult(ResponseModel):
    """What a topic computed from one set of parameters."""

    topic: str
    parameters: dict[str, Value]  # all of them, as they were used
    found: Text  # what these numbers show, in one sentence
    figures: tuple[Figure, ...]
    ranges: dict[str, Range] = Field(default_factory=dict)  # parameters that the text or the model limits
    model: str | None = None  # whose numbers they are, where a model of the zoo was used
    seconds: float | None = None  # that it took; None: computed before, and shipped


class Defaults(ResponseModel):
    """What can be shown where nothing can be computed: every topic, and what its defaults give."""

    topics: tuple[Topic, ...]
    results: dict[str, TopicResult]  # by the topic's name; without those that are measured


@cache
def read_defaults() -> Defaults:
    """What ships: defaults.json, written by `python -m glassformer.workbench.lesson_defaults`."""
    return Defaults.model_validate_json(FILE.read_bytes())
