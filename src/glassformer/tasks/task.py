"""What a task is: examples, batches, a loss and scores; and how one is found by its name.

In:   the table `[task]` of a recipe, and a tokenizer.
Out:  a `Task`, which a training loop asks for batches and losses, and for scores of held-out text.

The order of things: `task = build_task(table, tokenizer)`; a network from a checkpoint or from
`ModelConfig(**(task.network_settings() | your settings))`; `task.accept(network.config)`; then
`task.examples(…).lengths` and `task.collate` for a `Loader`, `TaskModule(task, network)` for the loss, and
`task.evaluate(network, "dev")`.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.config import NetworkConfig
from glassformer.errors import ConfigurationError
from glassformer.messages import Message
from glassformer.model.generate import at_inference
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import Network as Network
from glassformer.model.transformer import Transformer
from glassformer.registry import Registry
from glassformer.runlog.samples import Sample
from glassformer.settings import read_settings
from glassformer.tasks.scores import SCORES
from glassformer.text.batches import Batch, BatchSettings, Indices, plan_batches
from glassformer.text.cache import Arrays, ArrayWriter, Meta, hash_file, load_or_build
from glassformer.text.identity import identify, identify_code, identify_tokenizer
from glassformer.text.prefetch import prefetch
from glassformer.text.tokenizer import Tokenizer
from glassformer.text.vocabulary import Style

Split = str  # "train", "dev", "test", or whatever the files are called

PROBED = 8  # examples in a probe batch
EVALUATION = BatchSettings(tokens=16384, shuffle=False, prefetch=2)

Measured = tuple[Tensor, ...]  # what is found in one batch
Result = TypeVar("Result")


class Together(Protocol):
    """The processes that evaluate together."""

    @property
    def rank(self) -> int:
        """The number of this one."""

    @property
    def world(self) -> int:
        """How many there are."""

    def gather_lists(self, mine: list[Result]) -> list[list[Result]]:
        """The lists of all processes, by rank; every process must ask for it."""


class Task(ABC):
    """A thing to learn. Nothing in it depends on global random state: a seed decides its batches."""

    labels: tuple[str, ...] = ()  # names of classes, tags or numbers, to be saved with the network
    settings_kind: ClassVar[type[Any]]  # the frozen dataclass behind the table `[task]`
    style: ClassVar[Style]  # of its vocabulary, see `text.vocabulary`
    words: ClassVar[bool] = True  # whether its network reads or writes words; otherwise there is no tokenizer
    # settings that change nothing about what is read and tokenised
    not_read: ClassVar[frozenset[str]] = frozenset(
        {"folder", "label_smoothing", "word_dropout", "class_weights"}
    )
    compares: ClassVar[bool] = False  # whether `evaluate` has answers and references for `own_scores`
    best: ClassVar[tuple[str, Literal["lowest", "highest"]]] = ("loss", "lowest")  # which score decides

    tokenizer: Tokenizer  # None where there are no words

    def __init__(self, settings: Any, tokenizer: Tokenizer | None, *, seed: int = 0) -> None:
        self.settings = settings
        self.tokenizer = tokenizer  # type: ignore[assignment]
        self.seed = seed
        self.config: NetworkConfig | None = None
        self.scores: tuple[str, ...] = ()  # of plug-ins, see `own_scores`
        self.together: Together | None = None  # other processes that evaluate, too
        self._examples: dict[Split, TaskExamples] = {}
        self._sampled: dict[tuple[Split, int], list[tuple[str, str]]] = {}  # texts of samples, read once

    # What a vocabulary can be made of, before there is a tokenizer

    @classmethod
    @abstractmethod
    def texts(cls, settings: Any) -> Iterator[str]:
        """All text of the training split."""

    @classmethod
    def tags(cls, settings: Any) -> tuple[str, ...]:  # noqa: ARG003 - most tasks have none
        """Tokens that the vocabulary must have as wholes, such as the names of languages."""
        return ()

    # The network that it needs

    @abstractmethod
    def network_settings(self) -> dict[str, Any]:
        """Settings of `ModelConfig` that follow from task and data: vocabulary, special ids, head …"""

    def accept(self, config: NetworkConfig) -> None:
        """Take special ids and longest length from the network to be trained; refuse one that will not do."""
        if self.words and config.vocabulary_size < self.tokenizer.size:
            raise ConfigurationError(
                "tasks.small_vocabulary", size=self.tokenizer.size, known=config.vocabulary_size
            )
        self.config = config
        self._examples.clear()

    def special_id(self, name: Literal["padding_id", "start_id", "end_id"]) -> Any:
        """A special token: that of the network, once it is known."""
        return self.network_settings()[name] if self.config is None else getattr(self.config, name)

    def longest(self) -> int:
        """How many tokens an example may have, given the settings and the network, once it is known."""
        most: int = self.settings.max_length
        return most if self.config is None else min(most, self.config.max_length)

    # Batches

    def examples(self, split: Split) -> "TaskExamples":
        """The examples of a split, read once."""
        if split not in self._examples:
            self._examples[split] = self.read(split)
        return self._examples[split]

    def has_split(self, split: Split) -> bool:
        """Whether there is anything to read for a split."""
        return split in self._examples

    def describe_held_out(self) -> list[Message]:
        """How files that have all splits are divided; empty where each split has files of its own."""
        return []

    def describe_loss(self) -> list[Message]:
        """What a person should know about the training loss, such as weights of classes."""
        return []

    def prepare(self, network: Network) -> None:  # noqa: B027 - most need nothing
        """Fill what a new head of the network takes from the data; it is not learnt."""

    def count_classes(self, split: Split) -> dict[str, int]:  # noqa: ARG002 - most have none
        """How many labels of a split each class has; empty where there are no classes."""
        return {}

    @classmethod
    def source_files(cls, settings: Any, split: Split) -> list[Path]:  # noqa: ARG003 - a task may read none
        """The files that are read for a split."""
        return []

    def identity(self, split: Split = "train") -> str:
        """A digest of the examples of a split: two runs with the same one learn from the same data."""
        return identify(self.examples(split).arrays())

    @abstractmethod
    def read(self, split: Split) -> "TaskExamples":
        """Read and tokenise a split."""

    def load_or_build(
        self,
        split: Split,
        files: Sequence[Path],
        build: Callable[[ArrayWriter], Meta],
        also: Mapping[str, Any] | None = None,
    ) -> tuple[Arrays, Meta]:
        """What `build` writes about a split, made once for the same files, tokenizer, settings and `also`."""
        if not all(file.is_file() for file in files):
            missing = next((file for file in files if not file.exists()), None)
            if missing is not None:
                hash_file(missing)  # says that it is missing
            return load_or_build(None, build)  # a pipe cannot be read twice
        settings = {name: value for name, value in asdict(self.settings).items() if name not in self.not_read}
        folder = Path(getattr(self.settings, "folder", ".")).expanduser()  # a label may be a folder in it
        key = {
            "code": identify_code(type(self)),
            "split": split,
            "settings": settings,
            "tokenizer": identify_tokenizer(self.tokenizer),
            "files": [(os.path.relpath(file, folder), hash_file(file)) for file in files],
            "also": dict(also or {}),
        }
        arrays, meta = load_or_build(key, lambda writer: build(writer) | {"folder": str(folder)})
        return arrays, _move_paths(meta, meta["folder"], str(folder))

    @abstractmethod
    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        """These examples as a batch; drawn things depend on seed, epoch and index alone."""

    def probe(self, split: Split = "dev") -> Batch:
        """A small batch that is always the same: what the monitor looks at during training."""
        lengths = self.examples(split).lengths
        middle = np.argsort(lengths, kind="stable")[len(lengths) // 2 :][:PROBED]  # of usual length
        return self.collate(split, middle, 0)

    @cached_property
    def _ordinary(self) -> NDArray[np.bool_]:
        roles = self.tokenizer.roles
        others = [roles[role] for role in ("unknown", "mask") if role in roles]
        return ~np.isin(np.arange(self.tokenizer.size), [*self.tokenizer.special_ids, *others])

    def ordinary_ids(self) -> NDArray[np.int64]:
        """All tokens that stand for text: not special, not unknown, not a mask."""
        return np.flatnonzero(self._ordinary)

    def is_ordinary(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Where tokens stand for text."""
        return self._ordinary[ids]

    # Learning

    @abstractmethod
    def loss(self, network: Network, batch: Batch) -> Tensor:
        """The loss summed over the `batch.count` labels that count, in nats.

        Sums over batches, divided by the sum of their counts, are the mean over all of them, however the
        batches were spread over steps and processes.
        """

    def score_names(self) -> tuple[str, ...]:
        """All that `evaluate` can give here."""
        return ("loss", "perplexity")

    @abstractmethod
    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """Scores on a split, or on `limit` examples all over it; `loss` (nats, unsmoothed) is among them."""

    def generation(self) -> GenerationSettings | None:
        """How the network writes when nothing else is asked for; it is saved with it. None: as others do."""
        return None

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:  # noqa: ARG002
        """What the network writes or guesses for so many examples, always the same ones, without chance."""
        return []

    def mean_loss(
        self, network: Network, split: Split, limit: int | None, sum_loss: Callable[[Network, Batch], Tensor]
    ) -> float:
        """The mean over all labels of a split, given the loss of a batch, summed over its labels."""

        def measure(batch: Batch) -> Measured:
            return sum_loss(network, batch).double(), torch.tensor(batch.count)

        measured = self.measure_batches(network, split, limit, measure)
        return sum(float(loss) for loss, _ in measured) / sum(int(count) for _, count in measured)

    def measure_batches(
        self, network: Network, split: Split, limit: int | None, measure: Callable[[Batch], Measured]
    ) -> list[Measured]:
        """What `measure` finds in each batch of a split, in their order, on the CPU.

        Processes that train together each take a part of the batches; all get all results.
        """
        device = find_device(network)
        with at_inference(network):
            found = [measure(batch.to(device)) for batch in self.load(split, limit)]
        return self.share([tuple(part.cpu() for part in parts) for parts in found])

    def share(self, mine: list[Result]) -> list[Result]:
        """The results of all processes, in order, given those of this one: every so-manieth."""
        if self.together is None:
            return mine
        lists = self.together.gather_lists(mine)
        return [lists[place % len(lists)][place // len(lists)] for place in range(sum(map(len, lists)))]

    def mine(self, parts: Sequence[Result]) -> Sequence[Result]:
        """The parts of the work that this process does."""
        return parts if self.together is None else parts[self.together.rank :: self.together.world]

    def own_scores(self, answers: Sequence[Any], references: Sequence[Any]) -> dict[str, float]:
        """The scores of plug-ins that a recipe asks for."""
        return {name: float(SCORES[name].compute(answers, references)) for name in self.scores}

    def load(self, split: Split, limit: int | None = None) -> Iterator[Batch]:
        """Every example of a split once, or `limit` of them, short ones first: for evaluation.

        Where several processes evaluate together, the batches of this one.
        """
        lengths = self.examples(split).lengths
        chosen = np.arange(len(lengths))
        if limit is not None and limit < len(lengths):
            chosen = np.linspace(0, len(lengths) - 1, limit).astype(np.int64)

        budget = max(EVALUATION.tokens, int(lengths.max(initial=1)))
        plan = plan_batches(lengths[chosen], replace(EVALUATION, tokens=budget))
        batches = (self.collate(split, chosen[indices], 0) for indices in self.mine(plan))
        yield from prefetch(batches, EVALUATION.prefetch)


class TaskExamples:
    """The examples of a split, and what was left out of them."""

    lengths: Indices  # of each example, the tokens of its longer side
    notes: tuple[Message, ...] = ()  # for a person: lines skipped, texts too long
    keys: NDArray[np.uint64] | None = None  # (row, text) of what was read, see `sources.hash_text`
    unit: Literal["row", "line"] = "row"  # what has a key
    tokens: int | None = None  # in all; None: the sum of the lengths

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Everything that is learnt from, by name; kinds of examples add their tokens and labels."""
        return {"lengths": self.lengths}


class TaskModule(nn.Module):
    """A task around its network, so that wrappers for several processes see one module with one forward."""

    def __init__(self, task: Task, network: Network) -> None:
        super().__init__()
        self.task = task
        self.network = network

    def forward(self, batch: Batch) -> Tensor:
        """The loss of a batch, summed over the labels that count."""
        return self.task.loss(self.network, batch)


def _move_paths(value: Any, before: str, now: str, name: str = "") -> Any:
    """Parameters of notes that name files, where the same files are in another folder now."""
    if isinstance(value, dict):
        return {name: _move_paths(each, before, now, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_move_paths(each, before, now) for each in value]
    if name in ("path", "other") and Path(value).is_relative_to(before):
        return str(Path(now) / Path(value).relative_to(before))
    return value


TASKS: Registry[type[Task]] = Registry("task", "glassformer.tasks")


def read_task(table: Mapping[str, Any]) -> tuple[type[Task], Any]:
    """The kind of task that a table names, and its settings."""
    if "name" not in table:
        raise ConfigurationError("tasks.no_name", known=tuple(TASKS))
    kind = TASKS[str(table["name"])]
    return kind, read_settings(kind.settings_kind, {key: table[key] for key in table if key != "name"})


def build_task(table: Mapping[str, Any], tokenizer: Tokenizer | None, *, seed: int = 0) -> Task:
    """A task from its table, such as {"name": "classification", "path": "polarity/{split}.tsv.gz"}."""
    kind, settings = read_task(table)
    return kind(settings, tokenizer, seed=seed)


def known_settings(kind: type[NetworkConfig], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that a kind of configuration has: a recurrent network has no head to choose."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in settings.items() if name in names}


def require_transformer(network: Network) -> Transformer:
    """The network, if it is a Transformer: recurrent ones can only translate."""
    if not isinstance(network, Transformer):
        raise ConfigurationError("tasks.recurrent_only_translates")
    return network


def find_device(network: nn.Module) -> torch.device:
    """Where a network's parameters are."""
    return next(network.parameters()).device
