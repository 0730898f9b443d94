"""What a server needs to start training: types of requests and answers, and the interface of a trainer.

In:   recipes as tables, or as the text of a TOML file; names of runs.
Out:  `Trainer`, which the application asks, and the types that cross HTTP. Nothing here trains.
"""

from typing import Annotated, Literal, Protocol

from pydantic import Field, JsonValue

from glassformer.schema import MessageField, RequestModel, ResponseModel

Tables = dict[str, JsonValue]  # of a recipe, by name; what is no table is refused with a sentence
TypeName = Literal[  # "pairs": a list of texts and of lists of texts
    "integer", "number", "flag", "text", "choice", "null",
    "texts", "pairs", "integers", "numbers", "columns", "tables",
]  # fmt: skip
# What a text stands for: a file or folder below the data folder, a model, the name of a split or of a device.
Use = Literal["plain", "data", "folder", "model", "split", "device", "action"]
TrainingState = Literal["starting", "running", "stopping", "ended", "failed"]

RunName = Annotated[str, Field(max_length=255, description="of a run: letters, digits, '-', '_' and '.'")]
Changes = Annotated[dict[str, JsonValue], Field(description='by full name: {"train.steps": 1000}')]


class RecipeField(ResponseModel):
    """One setting of a recipe."""

    name: str
    types: tuple[TypeName, ...]  # a value is of one of them
    choices: tuple[str, ...] = ()
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    default: JsonValue = None
    required: bool = False
    use: Use = "plain"
    main: bool = False  # whether it is one of the few that matter first
    help: MessageField | None = None
    fields: tuple["RecipeField", ...] = ()  # of each of the tables in a list of tables


class RecipeTable(ResponseModel):
    """One table of a recipe: [train]."""

    name: str
    help: MessageField
    kinds: dict[str, tuple[RecipeField, ...]]  # by the value of `chosen_by`; one kind, "": the same for all
    chosen_by: str | None = None  # the setting that decides which fields there are
    default: str = ""  # the kind where the setting is left out


class RecipeSchema(ResponseModel):
    """Everything that a recipe may say over HTTP."""

    tables: tuple[RecipeTable, ...]
    fork: tuple[str, ...]  # tables that may change when a run is forked


class ShippedRecipe(ResponseModel):
    """A recipe that comes with Glassformer."""

    name: str
    title: str  # its first line
    tables: Tables


class RunRecipe(ResponseModel):
    """The settings of a run, and the steps that it can be forked at."""

    id: str
    tables: Tables
    steps: tuple[int, ...]


class DataFile(ResponseModel):
    """A file below the data folder."""

    path: str
    bytes: int


class DataFiles(ResponseModel):
    """What can be learnt from."""

    files: tuple[DataFile, ...]
    more: bool  # whether there are others


class Training(ResponseModel):
    """A run that this server starts, trains or has trained."""

    id: str
    state: TrainingState
    started: float  # seconds since 1970
    problem: MessageField | None  # why it failed


class TrainingOverview(ResponseModel):
    """Whether this server trains, and what it trains now."""

    allowed: bool
    why_not: MessageField | None
    most: int  # runs at the same time
    runs: tuple[Training, ...]


class StartRequest(RequestModel):
    """A new run: a recipe as tables or as TOML, and changes to it."""

    name: RunName
    recipe: Tables | None = None
    toml: Annotated[str, Field(max_length=100_000)] | None = None
    changes: Changes = Field(default_factory=dict)


class CheckRequest(RequestModel):
    """A recipe that is being written."""

    recipe: Tables


class ResumeRequest(RequestModel):
    """A run that continues; only settings on which no loss depends can change."""

    changes: Changes = Field(default_factory=dict)


class ForkRequest(RequestModel):
    """A new run that begins as a copy of another one at one of its steps."""

    name: RunName
    step: Annotated[int, Field(ge=0, le=2**53)] | None = None  # None: the newest checkpoint
    changes: Changes = Field(default_factory=dict)


class Fault(ResponseModel):
    """What is wrong with a recipe, and where."""

    field: str  # "train.steps"; empty: the whole
    message: MessageField


class CheckedRecipe(ResponseModel):
    """A recipe as it would be trained."""

    toml: str
    faults: tuple[Fault, ...]
    parameters: int | None  # of the network, estimated; None: unknown, as the network is one of the hub
    memory: int | None  # bytes, estimated
    disk: int | None


class Trainer(Protocol):
    """Starts and ends training in processes of their own. Errors are `ApiError`s of the status 4xx."""

    most: int  # runs at the same time

    def schema(self) -> RecipeSchema:
        """What a recipe may say."""
        ...

    def recipes(self) -> list[ShippedRecipe]:
        """Recipes to begin with."""
        ...

    def recipe_of(self, id: str) -> RunRecipe:
        """The settings of a run."""
        ...

    def data(self, search: str) -> DataFiles:
        """Files below the data folder whose path has a text in it."""
        ...

    def check(self, request: CheckRequest) -> CheckedRecipe:
        """What is wrong with a recipe, and what it would take; nothing is started or written."""
        ...

    def trainings(self) -> list[Training]:
        """What is trained now, and what this server has trained lately."""
        ...

    def start(self, request: StartRequest) -> Training:
        """Begin a new run."""
        ...

    def resume(self, id: str, request: ResumeRequest) -> Training:
        """Continue a run from its newest checkpoint."""
        ...

    def fork(self, id: str, request: ForkRequest) -> Training:
        """Begin a new run at a checkpoint of another one."""
        ...

    def stop(self, id: str) -> Training:
        """End the step, write a checkpoint, stop; after some time the process is killed."""
        ...

    def remove(self, id: str) -> None:
        """Delete a run that is not trained."""
        ...
