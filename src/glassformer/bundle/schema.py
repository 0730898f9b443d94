"""The description in a bundle, as a schema: the type and the bounds of every number, text, list and object.

In:   JSON that anyone may have written.
Out:  nothing; or a BundleError that names the first fields that are wrong.

Whatever passes here is small enough for every reader: no number that a loop counts to is larger than a
network can be, no name is longer than a list of names can show. Numbers inside arrays are checked elsewhere:
by the types of `recording` when a file is opened, by `scan` when it comes from a stranger.
"""

from typing import Annotated, Any, Literal, TypeVar, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, TypeAdapter, ValidationError

from glassformer.errors import BundleError
from glassformer.recording.arrays import LARGEST_COUNT
from glassformer.recording.media import HIGHEST_RATE, MOST_PIXELS
from glassformer.schema import LONGEST_LIST, LONGEST_TEXT, describe_faults

LONGEST_NAME = 4_096  # characters: also of a path
MOST_LAYERS = 10_000  # as in config.py
MOST_STEPS = 1_000_000  # of a generation, and nodes of its beam search
MOST_TOKENS = 16_000_000
MOST_MAPS = 200_000
LONGEST_TOKEN = 1_000_000  # characters
DEEPEST = 8  # messages in messages

Item = TypeVar("Item")
Key = TypeVar("Key")


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


def _check_length(text: str) -> str:
    """Tokens may hold half a surrogate pair, which pydantic's own limits refuse."""
    if len(text) > LONGEST_TOKEN:
        raise ValueError(f"longer than {LONGEST_TOKEN} characters")
    return text


def _check_lengths(texts: list[str]) -> list[str]:
    if texts:
        _check_length(max(texts, key=len))
    return texts


# Plain values

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
AnyText = Annotated[str, AfterValidator(_check_length)]
Count = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
Integer = Annotated[int, Field(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]
Layer = Annotated[int, Field(ge=0, lt=MOST_LAYERS)]
StepIndex = Annotated[int, Field(ge=0, lt=MOST_STEPS)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Setting = Annotated[str, Field(max_length=LONGEST_NAME)] | bool | Integer | Number | None
Texts = Annotated[list[str], Field(max_length=MOST_TOKENS), AfterValidator(_check_lengths)]


class _Infinite(_Part):
    float_: Literal["nan", "inf", "-inf"] = Field(alias="float")


class _Array(_Part):
    array: Annotated[str, Field(max_length=LONGEST_NAME)]


class _TokensNumber(_Part):
    tokens: Count


Float = Number | _Infinite
Pairs = Annotated[list[Annotated[tuple[Key, Item], Strict(False)]], Field(max_length=MOST_TOKENS)]


class _Arrays(_Part):
    pairs: Annotated[Pairs[Name, _Array], Field(max_length=MOST_MAPS)]


class _Settings(_Part):
    pairs: Annotated[Pairs[Name, Setting], Field(max_length=LONGEST_LIST)]


class _Versions(_Part):
    pairs: Annotated[Pairs[Name, Name], Field(max_length=LONGEST_LIST)]


class _Vocabulary(_Part):
    pairs: Pairs[Integer, AnyText]


# Messages

_Single = Union[bool, Integer, Number, AnyText, None, "_MessageBody"]


class _MessageBody(_Part):
    code: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    parameters: Annotated[
        dict[str, _Single | Annotated[list[_Single], Field(max_length=LONGEST_LIST)]],
        Field(max_length=LONGEST_LIST),
    ] = Field(default_factory=dict)
    default: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None


class _Message(_Part):
    message: _MessageBody


Text = Annotated[AnyText, Field(min_length=1)] | _Message  # in files of version 1 a string
TextList = Annotated[list[Text], Field(max_length=10 * LONGEST_LIST)]


# The types of a recording


class _PictureFields(_Part):
    pixels: _Array
    rows: Annotated[int, Field(ge=1, le=MOST_PIXELS)]
    columns: Annotated[int, Field(ge=1, le=MOST_PIXELS)]
    cells: _Array


class _Picture(_Part):
    type: Literal["Picture"]
    fields: _PictureFields


class _SpokenWordFields(_Part):
    text: Name
    start: Seconds
    end: Seconds


class _SpokenWord(_Part):
    type: Literal["SpokenWord"]
    fields: _SpokenWordFields


class _SoundFields(_Part):
    samples: _Array
    rate: Annotated[int, Field(ge=1, le=HIGHEST_RATE)]
    spans: _Array
    words: Annotated[list[_SpokenWord], Field(max_length=LONGEST_LIST)] = Field(default_factory=list)


class _Sound(_Part):
    type: Literal["Sound"]
    fields: _SoundFields


class _TokensFields(_Part):
    side: Literal["source", "target"]
    texts: Texts
    ids: _Array
    offsets: _Array | None
    text: str | None
    special: _Array
    words: _Array | None
    picture: _Picture | None = None
    sound: _Sound | None = None


class _Tokens(_Part):
    type: Literal["Tokens"]
    fields: _TokensFields


class _EvidenceFields(_Part):
    model: Name
    model_hash: Name
    kernel: Text
    dtype: Name
    exact: bool
    largest_error: Float | None
    reference: Text | None
    edits: TextList
    versions: _Versions
    notes: TextList


class _Evidence(_Part):
    type: Literal["Evidence"]
    fields: _EvidenceFields


class _StatisticsFields(_Part):
    entropy: _Array
    peak: _Array
    peak_key: _Array
    above: _Array
    log_sum_exp: _Array
    distance: _Array
    allowed: _Array
    mass: _Array
    thumbnail_mean: _Array
    thumbnail_max: _Array
    rows: _Array
    threshold: Annotated[float, Field(ge=0, lt=1)]
    content: Literal["weights", "signed"] = "weights"


class _Statistics(_Part):
    type: Literal["HeadStatistics"]
    fields: _StatisticsFields


class _FactorsFields(_Part):
    queries: _Array
    keys: _Array
    log_sum_exp: _Array
    scale: Number
    bias: _Array | None
    distance_bias: _Array | None
    causal: bool
    window: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None
    offset: Integer
    key_mask: _Array | None
    softcap: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    sink: _Array | None


class _Factors(_Part):
    type: Literal["Factors"]
    fields: _FactorsFields


class _PyramidFields(_Part):
    level: Annotated[int, Field(ge=0, lt=32)]
    mean: _Array
    maximum: _Array


class _Pyramid(_Part):
    type: Literal["Pyramid"]
    fields: _PyramidFields


class _Pyramids(_Part):
    pairs: Annotated[Pairs[Count, _Pyramid], Field(max_length=MOST_MAPS)]


class _MapFields(_Part):
    stack: Name
    layer: Layer
    kind: Literal["self", "cross"]
    step: StepIndex | None
    query: _TokensNumber
    key: _TokensNumber
    statistics: _Statistics
    dense: _Array | None
    factors: _Factors | None
    sink_weights: _Array | None
    dense_scores: _Array | None
    queries: _Array | None
    keys: _Array | None
    values: _Array | None
    scale: Number | None
    pyramids: _Pyramids
    dtype: Name
    relaxed: Text | None


class _Map(_Part):
    type: Literal["AttentionMap"]
    fields: _MapFields


class _TargetScoresFields(_Part):
    ids: _Array
    logits: _Array
    log_probabilities: _Array
    ranks: _Array


class _TargetScores(_Part):
    type: Literal["TargetScores"]
    fields: _TargetScoresFields


class _OutputFields(_Part):
    stack: Name
    ids: _Array
    log_probabilities: _Array
    vocabulary: _Vocabulary
    kind: Literal["tokens", "classes", "tags", "numbers"]
    logits: _Array | None = None
    targets: _TargetScores | None = None
    numbers: Annotated[list[Float], Field(max_length=LONGEST_LIST)] = Field(default_factory=list)


class _Output(_Part):
    type: Literal["Output"]
    fields: _OutputFields


class _AlternativeFields(_Part):
    token: Count
    text: AnyText
    log_probability: Float


class _Alternative(_Part):
    type: Literal["Alternative"]
    fields: _AlternativeFields


class _StepFields(_Part):
    index: StepIndex
    token: Count
    text: AnyText
    log_probability: Float
    alternatives: Annotated[list[_Alternative], Field(max_length=LONGEST_LIST)]
    beam: Count
    parent: StepIndex | None
    score: Float | None


class _Step(_Part):
    type: Literal["Step"]
    fields: _StepFields


_Item = Setting | Annotated[list[Setting], Field(max_length=MOST_STEPS)]


class _Choices(_Part):
    """Settings of a generation, or the fields of an edit."""

    pairs: Annotated[
        Pairs[Name, _Item | Annotated[list[_Item], Field(max_length=MOST_STEPS)]],
        Field(max_length=LONGEST_LIST),
    ]


ChoicesList = Annotated[list[_Choices], Field(max_length=LONGEST_LIST)]


class _GenerationFields(_Part):
    steps: Annotated[list[_Step], Field(max_length=MOST_STEPS)]
    nodes: Annotated[list[_Step], Field(max_length=MOST_STEPS)]
    method: Name
    forced: Annotated[list[StepIndex], Field(max_length=MOST_STEPS)] = Field(default_factory=list)
    settings: ChoicesList = Field(default_factory=list)
    edits: ChoicesList = Field(default_factory=list)


class _Generation(_Part):
    type: Literal["Generation"]
    fields: _GenerationFields


class _BranchFields(_Part):
    parent: Name
    step: StepIndex
    token: Count | None
    name: Annotated[str, Field(max_length=LONGEST_NAME)]


class _Branch(_Part):
    type: Literal["Branch"]
    fields: _BranchFields


class _RecordingFields(_Part):
    model: Name
    evidence: _Evidence
    source: _TokensNumber
    target: _TokensNumber | None
    maps: Annotated[list[_Map], Field(max_length=MOST_MAPS)]
    hidden: _Arrays
    output: _Output | None
    generation: _Generation | None
    architecture: _Settings | None = None
    trace: _Arrays | None = None
    branch: _Branch | None = None


class _Recording(_Part):
    type: Literal["Recording"]
    fields: _RecordingFields


class Description(_Part):
    """Everything in a bundle that is not an array."""

    tokens: Annotated[list[_Tokens], Field(max_length=MOST_MAPS)]
    content: _Recording


_READER = TypeAdapter(Description)


def check_description(description: Any) -> None:
    """Refuse a description that does not follow the schema."""
    try:
        _READER.validate_python(description)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True, include_input=False)
        raise BundleError("bundle.description.not_in_schema", faults=describe_faults(details)) from None
