"""One opened model: a network, its tokenizer, its name, and what it can do.

In:   a network of ours or a model of transformers (native.py and transformers.py make one of each).
Out:  `LoadedModel`. Verbs, recorders, the command line and the worker take it, ask for capabilities and call
      its methods; none of them needs to know which library runs the network.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

import torch
from torch import Tensor, nn

from glassformer.config import Head, Reads, Shape
from glassformer.errors import InputError
from glassformer.loaded.identity import Identity
from glassformer.loaded.perceiving import Percept
from glassformer.loaded.reading import Inputs, Reader
from glassformer.messages import Message
from glassformer.model.generate import GREEDY
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Hypothesis
from glassformer.place import name_term
from glassformer.text.languages import find_language, list_languages
from glassformer.text.opening import wrap_tokenizer
from glassformer.text.tokenizer import Encoding, Tokenizer

if TYPE_CHECKING:
    from glassformer.recording import Recording, Step

Result = TypeVar("Result")
Capability = Literal[
    "records",  # has attention that can be recorded
    "reads_text",  # has a tokenizer for what it reads
    "reads_pictures",
    "hears",  # reads sound
    "generates",  # continues a text
    "translates",  # reads a text, picture or sound and writes a text: translation, summaries, captions
    "classifies",  # one label for a text, picture or sound
    "tags",  # one label for each word
    "predicts_numbers",  # one number for a text, or several
    "fills",  # guesses masked tokens
    "traces",  # every step of a pass can be recorded, not only attention
    "edits",  # can be recorded with changes: a head silenced, an edge cut
    "gradients",  # can be differentiated
]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)

# How to generate: in our names or those of transformers, or a `transformers.GenerationConfig`.
Decode = GenerationSettings | Mapping[str, Any] | Any | None


class LoadedModel(ABC):
    """What `load` returns. `capabilities` says what it can do; `network` is the torch module itself.

    >>> model = gf.load("zoo/gpt2")
    >>> model.can("generates"), model.can("translates")
    (True, False)
    >>> model.record("The cat").map(layer=-1).shape  # (head, query, key)
    (8, 2, 2)
    """

    library: ClassVar[Literal["native", "transformers"]]  # whose code runs the network
    packages: ClassVar[tuple[str, ...]] = ("torch", "numpy")  # whose versions belong to the evidence
    takes_named_inputs: ClassVar[bool] = False  # beside tokens: pixels, sound, masks of its own

    def __init__(
        self,
        network: nn.Module,
        tokenizer: Any = None,
        *,
        name: str | None = None,
        generation: GenerationSettings = GREEDY,
        labels: Sequence[str] = (),
        notes: Sequence[Message] = (),
    ) -> None:
        """Without a tokenizer a model takes token ids, which are displayed as numbers."""
        self.network = network
        self.name = name or type(network).__name__
        self.tokenizer: Tokenizer | None = None if tokenizer is None else wrap_tokenizer(tokenizer)
        self.generation = generation  # how it generates by default
        self.labels = tuple(labels)  # names of its classes, tags or numbers
        self.notes = tuple(notes)  # for the evidence of every recording
        self.reader = Reader(self.name, self.tokenizer)
        self.identity = Identity(network)
        self.cache: dict[object, Any] = {}  # what other packages compute once for each model

    def __repr__(self) -> str:
        return f"LoadedModel({self.name!r}: {self.describe()})"

    # What it is

    @abstractmethod
    def describe(self) -> str:
        """The network in a few words."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Which stacks there are."""

    @property
    @abstractmethod
    def head(self) -> Head:
        """What the network predicts."""

    @property
    def reads(self) -> Reads:
        """What its encoder, or its only stack, is given."""
        return "text"

    @property
    @abstractmethod
    def limit(self) -> int | None:
        """The longest text in tokens, special ones included; None: there is no limit."""

    @property
    @abstractmethod
    def vocabulary_size(self) -> int | None:
        """How many tokens the network knows; None: it does not read text."""

    @property
    @abstractmethod
    def start_id(self) -> int | None:
        """The token that a decoder reads first."""

    @property
    @abstractmethod
    def end_ids(self) -> frozenset[int]:
        """The tokens that end a text."""

    @property
    @abstractmethod
    def special_ids(self) -> frozenset[int]:
        """Padding, start and end, as the configuration names them."""

    @property
    def traces(self) -> bool:
        """Whether every step of a pass can be recorded."""
        return False

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return next(self.network.parameters()).device

    @property
    def millions(self) -> float:
        """How many parameters it has, in millions."""
        return sum(parameter.numel() for parameter in self.network.parameters()) / 1e6

    @property
    def size(self) -> int:
        """Bytes of its parameters."""
        return sum(each.numel() * each.element_size() for each in self.network.parameters())

    def to(self, device: str | torch.device) -> None:
        """Move the network."""
        self.network.to(device)

    # What it can do

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What can be asked of it."""
        has: dict[Capability, bool] = {
            "records": True,
            "edits": True,
            "traces": self.traces,
            "reads_text": self.tokenizer is not None and self.reads == "text",
            "reads_pictures": self.reads == "picture",
            "hears": self.reads == "sound",
            "generates": self.head == "language" and self.shape == "decoder",
            "translates": self.head == "language" and self.shape == "encoder-decoder",
            "classifies": self.head == "classes",
            "tags": self.head == "tags",
            "predicts_numbers": self.head == "numbers",
            "fills": self.head == "masked",
            "gradients": all(each.is_floating_point() for each in self.network.parameters()),
        }
        return frozenset(capability for capability, there in has.items() if there)

    def can(self, capability: Capability) -> bool:
        """Whether it has a capability."""
        return capability in self.capabilities

    def require(self, *capabilities: Capability) -> None:
        """InputError where it lacks one of these capabilities."""
        for capability in capabilities:
            if not self.can(capability):
                code = f"loaded.cannot.{capability}"
                raise InputError(code, name=self.name, shape=name_term(self.shape))

    def read_settings(self, decode: Decode) -> GenerationSettings | None:
        """How to generate, from any form of `Decode`; what cannot be honoured is refused by its name."""
        if decode is None or isinstance(decode, GenerationSettings):
            return decode
        if isinstance(decode, Mapping):
            return GenerationSettings.from_mapping(decode)
        if not hasattr(decode, "to_diff_dict"):
            raise InputError("loaded.not_settings", seen=repr(decode))
        translates, end = self.shape == "encoder-decoder", min(self.end_ids, default=None)
        return GenerationSettings.from_transformers(decode, encoder_decoder=translates, end_id=end)

    def require_tokenizer(self) -> Tokenizer:
        """Its tokenizer; InputError where it has none."""
        if self.tokenizer is None:
            raise InputError("loaded.cannot.reads_text", name=self.name)
        return self.tokenizer

    # What it does

    def record(  # noqa: PLR0913 - the same arguments as `glassformer.record`
        self,
        inputs: Inputs,
        target: Inputs | None = None,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        second_text: str | None = None,
        decode: Decode = None,
        prefix: Sequence[int] = (),
        forced: Sequence[int] = (),
        on_step: "Callable[[Step | None], None] | None" = None,
        want: Collection[str] = ("weights", "output"),
        targets: Sequence[str | int] = (),
        edits: Sequence[Any] = (),
        kernel: Literal["exact", "fast"] | None = None,
        keep: Any = None,
    ) -> "Recording":
        """Run the network once on a text and record it: `glassformer.record` with this model."""
        import glassformer  # the recorders stand above this package

        return glassformer.record(
            self,
            inputs,
            target,
            source_language=source_language,
            target_language=target_language,
            second_text=second_text,
            decode=decode,
            prefix=prefix,
            forced=forced,
            on_step=on_step,
            want=want,
            targets=targets,
            edits=edits,
            kernel=kernel,
            keep=keep,
        )

    def read_source(
        self, inputs: Inputs, second_text: str | None = None, target_language: str | None = None
    ) -> Encoding:
        """What the network is given to read, look at or listen to; see `Reader.read_source`."""
        if self.reads == "text":
            return self.reader.read_source(inputs, second_text, target_language)
        if second_text is not None:
            raise InputError("loaded.reading.second_text_beside_ids")
        return self.perceive(inputs)

    def perceive(self, inputs: Any) -> Percept:
        """A picture or a sound as the network is given it."""
        raise InputError("loaded.reading.no_text", name=self.name, kind=type(inputs).__name__)

    def begin_target(self, target_language: str | None) -> tuple[int, ...]:
        """Token ids that a target starts with: its language, where the source has no place to name it."""
        if self.reads == "text":
            return ()
        if target_language is None:
            known = [] if self.tokenizer is None else list_languages(self.tokenizer)
            if known:  # without one the text would be in no particular language
                raise InputError("text.no_language.needed", name=self.name, known=known)
            return ()
        return (find_language(self.tokenizer, target_language),)

    def read_prompt(self, text: str, target_language: str | None = None) -> list[int]:
        """Token ids of a text to continue or to translate."""
        tokenizer = self.require_tokenizer()
        ids = list(tokenizer.encode(text).ids)
        if self.shape != "decoder":
            named = [] if target_language is None else [find_language(tokenizer, target_language)]
            return [*named, *ids]
        if target_language is not None:
            raise InputError("loaded.decoder_has_no_language", name=self.name)
        if not ids and self.start_id is not None:
            ids = [self.start_id]
        return ids[: self.find_prompt_end(ids)]

    def find_prompt_end(self, ids: Sequence[int]) -> int:
        """How many tokens of a prompt are continued: its end token is not the end of the text."""
        return len(ids) - int(len(ids) > 1 and ids[-1] in self.end_ids)

    @abstractmethod
    def generate(
        self, prompts: Sequence[Sequence[int]], settings: GenerationSettings | None = None
    ) -> list[tuple[Hypothesis, ...]]:
        """For each prompt (none of them empty) its answers, best first; settings None: as the model does."""

    def stream(
        self, prompt: Sequence[int], settings: GenerationSettings | None = None
    ) -> Iterator[list[int]]:
        """The tokens of one answer as they are chosen; here all of them at the end."""
        yield list(self.generate([prompt], settings)[0][0].words)

    def write_words(
        self,
        percepts: Sequence[Percept],
        settings: GenerationSettings | None = None,  # noqa: ARG002 - models that look or listen do it
        target_language: str | None = None,  # noqa: ARG002
    ) -> list[tuple[Hypothesis, ...]]:
        """For each picture or sound its captions or transcripts, best first."""
        raise InputError("loaded.reading.no_text", name=self.name, kind=type(percepts[0]).__name__)

    def classify_percepts(self, percepts: Sequence[Percept]) -> list[list[float]]:
        """For each picture or sound the probability of every label."""
        raise InputError("loaded.reading.no_text", name=self.name, kind=type(percepts[0]).__name__)

    @abstractmethod
    def classify(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """For each row of token ids the probability of every label."""

    @abstractmethod
    def tag(self, rows: Sequence[Sequence[int]]) -> list[Tensor]:
        """For each row of token ids the probabilities (token, label)."""

    @abstractmethod
    def predict_numbers(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """For each row of token ids the numbers that the model says of it."""

    @abstractmethod
    def fill(self, rows: Sequence[Sequence[int]], gaps: Sequence[Sequence[int]]) -> list[Tensor]:
        """For each row of token ids the logits (gap, vocabulary) at the positions `gaps`."""


def in_order(found: Mapping[int, Result]) -> list[Result]:
    """Results by number, from batches in any order, as a list."""
    return [found[number] for number in range(len(found))]
