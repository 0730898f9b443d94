"""What the server needs to run models: the protocol of a workbench, and the schema of requests and jobs.

In:   a JobRequest, checked field by field.
Out:  Job and its Events; the workbench that implements the protocol may use torch, this package does not.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from pydantic import Field

from glassformer.api.edits import AnyEdit
from glassformer.config import Reads, Shape
from glassformer.lessons.schema import Topic, TopicResult
from glassformer.recorders.edits import Edit, FirstLayers, ScaleScores
from glassformer.recorders.edits.edit import Count
from glassformer.recording.branch import LONGEST_NAME
from glassformer.schema import MessageField, RequestModel, ResponseModel

State = Literal["queued", "running", "done", "failed", "cancelled"]
Stage = Literal["queued", "loading", "tokenising", "running", "statistics", "saving"]
Want = Literal["weights", "scores", "queries", "keys", "values", "hidden", "output", "trace", "parameters"]
EventName = Literal["progress", "step", "done", "failed", "cancelled"]

LAST_EVENTS: tuple[EventName, ...] = ("done", "failed", "cancelled")  # after one of these no other comes

Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=2_000_000)]  # the server's own limit is lower and has its own sentence


class DecodeRequest(RequestModel):
    """How a model writes."""

    method: Literal["greedy", "sampling", "beam"] = "greedy"
    max_new_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    beams: Annotated[int, Field(ge=1, le=64)] | None = None
    temperature: Annotated[float, Field(gt=0, le=100)] | None = None
    top_k: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Count | None = None


class BranchRequest(RequestModel):
    """Where to leave the recording `parent`, and what changes from there on."""

    step: Annotated[int, Field(ge=0, lt=1_000_000)] = 0
    token: Count | None = None  # id of what is written at this step
    text: Annotated[str, Field(min_length=1, max_length=200)] | None = None  # the same as a text
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None  # 0: the likeliest token
    seed: Count | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None  # steps altogether
    edits: Annotated[tuple[AnyEdit, ...], Field(max_length=100)] = ()  # that act from this step on
    node: Annotated[int, Field(ge=0, lt=1_000_000)] | None = None  # a hypothesis of a beam search, instead
    name: Annotated[str, Field(max_length=LONGEST_NAME)] = ""


class JobRequest(RequestModel):
    """One run of a model: what it reads, what is kept, what is changed."""

    kind: Literal["record", "generate"]
    model: Name
    task: Name | None = None
    sequence: Literal["text", "random", "task", "media"] = "text"
    text: Text | None = None
    second_text: Text | None = None
    target: Text | None = None
    length: Annotated[int, Field(ge=1, le=1_000_000)] | None = None  # in tokens; longer texts are cut
    seed: Count | None = None  # of a random sequence; number of the sample of a task
    media: Name | None = None  # id of a picture or a sound that was sent before, to /api/inputs
    media_of: Name | None = None  # id of a recording whose picture or sound is read again
    source_language: Name | None = None
    target_language: Name | None = None
    layers: Annotated[int, Field(ge=1, le=10_000)] | None = None  # run only the first so many
    multiplier: float | None = None  # of scores; 1 leaves them as they are
    want: Annotated[tuple[Want, ...], Field(max_length=100)] | None = None  # None: what fits the length
    edits: Annotated[tuple[AnyEdit, ...], Field(max_length=1000)] = ()
    decode: DecodeRequest | None = None
    listed: bool = True  # False: made by a view for its own use; it can be opened, but is in no list
    parent: Name | None = None  # id of the recording that this run is derived from
    prefix: Annotated[tuple[Count, ...], Field(max_length=100_000)] | None = None  # ids of the first tokens
    branch: BranchRequest | None = None  # go on from a step of the parent, with its text and settings

    def read_edits(self) -> list[Edit]:
        """All changes of the model, as recorders take them; InputError where one cannot be."""
        edits = [edit.to_edit() for edit in self.edits]
        if self.layers is not None:
            edits.append(FirstLayers(self.layers))
        if self.multiplier is not None and self.multiplier != 1:
            edits.append(ScaleScores(self.multiplier))
        return edits


class PlayRequest(RequestModel):
    """A topic of the playground that is run as a job, step by step."""

    kind: Literal["play"] = "play"
    topic: Name
    parameters: dict[str, bool | int | float | str]  # every one of them, checked

    @property
    def model(self) -> str:
        """What a list of jobs shows."""
        return f"playground/{self.topic}"

    @property
    def listed(self) -> bool:
        """Whether a recording comes of it."""
        return False


class Job(ResponseModel):
    """A run as it stands."""

    id: str
    kind: Literal["record", "generate", "play", "effects", "patching"]
    state: State
    stage: Stage
    share: float | None  # of the stage, 0 to 1, where it is known
    detail: str | None
    recording: str | None  # its id in the library, once done
    code: str | None = None
    message: MessageField | None = None  # why it failed
    model: str
    created: float  # seconds since 1970
    listed: bool = True  # whether what it makes is in the list of recordings
    parent: str | None = None  # id of the recording that it is derived from
    prefix: tuple[int, ...] | None = None  # ids of the tokens that the generated text begins with
    owner: str | None = None  # whose it is, on a server with users
    position: int | None = None  # how many jobs are before it, while it waits
    wait: float | None = None  # about how many seconds it has to wait, where that is known


class Event(ResponseModel):
    """Something that happened to a job; `data` is what the page gets as JSON."""

    name: EventName
    data: dict[str, Any]


class Drawing(ResponseModel):
    """What drawings should look like for a model: those that it was trained on."""

    dark: bool = False  # light lines on a dark ground
    fill: Annotated[float, Field(gt=0, le=1)] | None = None  # of the side that the lines take; None: as drawn


class ModelDescription(ResponseModel):
    """A model that can be chosen."""

    name: str
    label: str
    family: str
    shape: Shape
    tasks: dict[str, MessageField]  # by name: what a person reads
    layers: int | None  # that can be run one by one
    heads: int | None
    width: int | None
    vocabulary: int | None
    languages: tuple[str, ...]
    max_tokens: int | None
    parameters: int | None
    origin: Literal["zoo", "folder", "hub"]
    note: MessageField | None
    decoder_layers: int | None = None  # of encoder-decoders, whose `layers` are those of the encoder
    pivot_language: str | None = None  # a translator that knows only ways from and into this language
    one_pair: bool = False  # translates from its first language into its last, and nothing else
    title: MessageField | None = None  # what it is, in a few words
    needs: MessageField | None = None  # before it can run: a download of so many bytes
    samples: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # texts for its task, by language
    reads: Reads = "text"
    drawing: Drawing | None = None  # what a drawing should look like, where that is known
    # Of the last layer: the head that is shown first where people draw or speak.
    head: Annotated[int, Field(ge=0)] | None = None
    sample_rate: int | None = None  # of a sound, in samples per second
    max_seconds: float | None = None  # of a sound


class Sight(ResponseModel):
    """A place worth looking at, as in the page's address."""

    title: MessageField
    selection: dict[str, str]


class Preset(ResponseModel):
    """A text worth looking at, and what to look at in it."""

    id: str
    title: MessageField
    point: MessageField
    model: str
    task: str
    text: str
    second_text: str | None = None
    target: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    selection: dict[str, str] | None = None
    also: tuple[Sight, ...] = ()  # the places that the point speaks of, where there are several
    recording: str | None = None  # a shipped recording that shows it without a model


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What a worker process takes, in bytes."""

    device: str
    memory: int
    models: int  # of the memory
    gpu_memory: int  # as of its last job
    busy: bool


@runtime_checkable
class Workbench(Protocol):
    """Whoever runs models for the page. Methods answer at once; impossible requests raise ApiError.

    They are called from the event loop, so none may wait for a model: `submit` only puts in the queue.
    """

    @property
    def keeps_jobs(self) -> bool:
        """Whether jobs that wait or run when the server ends are queued by the next one."""

    def models(self) -> Sequence[ModelDescription]: ...

    def presets(self) -> Sequence[Preset]: ...

    def submit(self, request: JobRequest, owner: str | None = None) -> Job:
        """Queue a run. Refuses (429, "queue_full") when too many wait."""

    def job(self, id: str) -> Job:
        """Refuses (404, "no_job") an unknown id."""

    def jobs(self) -> Sequence[Job]: ...

    def cancel(self, id: str) -> Job: ...

    def events(self, id: str) -> AsyncIterator[Event]:
        """What happens, from the start (past steps are repeated); ends after one of LAST_EVENTS."""

    def warm_up(self) -> None:
        """Start the worker process in the background, so that the first run need not wait for it."""

    def measure_workers(self) -> Sequence[WorkerState]:
        """What each worker process that runs takes."""

    def close(self) -> None:
        """End the worker process. Idempotent."""


@runtime_checkable
class Playground(Protocol):
    """A workbench that also runs topics of the playground; impossible requests raise ApiError."""

    def topics(self) -> Sequence[Topic]:
        """All pages; answers at once."""

    def play(self, name: str, given: Mapping[str, str]) -> TopicResult:
        """Run a topic and wait for what comes of it: not for the event loop. Refuses (429, "busy")."""

    def start_play(self, name: str, given: Mapping[str, str], owner: str | None = None) -> Job:
        """Queue a topic that tells each step; its last event `done` carries the `play`. Answers at once."""
