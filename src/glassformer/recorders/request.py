"""What `record` asks of a recorder, checked, and what it gets back.

In:   arguments of `record`, as a person gives them.
Out:  `Request`; `Run`, what one pass over the text showed. `record` makes a Recording with its evidence
      from it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import InputError
from glassformer.messages import Message
from glassformer.model.generate import Forced
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.call import Kernel
from glassformer.recorders.comparison import Comparison
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.outputs import Wanted
from glassformer.recorders.store import ArrayStore
from glassformer.recording import AttentionMap, Generation, Output, Step, Tokens
from glassformer.registry import suggestion
from glassformer.text.tokenizer import Encoding

if TYPE_CHECKING:
    from glassformer.recorders.batch import Batch

WANTS = ("statistics", "weights", "scores", "queries", "keys", "values", "hidden", "output", "logits")
TRACES = ("trace", "parameters")  # for models with the capability "traces"
LARGEST_MAPS = 8 << 30  # bytes of matrices that one recording may form
COPIES = 4  # of the matrices of a pass that keeps what gradients need: scores, weights, gradients of both
USUAL = ("weights", "output")  # what is kept by default; statistics always are

OnStep = Callable[[Step | None], None]  # gets each step of a generation, and None when the text is finished


@dataclass(frozen=True, slots=True)
class Request:
    """One recording to be made; everything that does not depend on the library has been checked."""

    source: Encoding | Mapping[str, Any]  # tokens, or a model's own inputs by name
    target: Encoding | None
    decode: GenerationSettings | None
    want: frozenset[str]
    edits: tuple[Edit, ...]
    kernel: Kernel | None  # None: as the length of the text needs
    keep: ArrayStore  # where large arrays go
    model_hash: str
    prefix: tuple[int, ...] = ()  # the first tokens of what the model writes
    on_step: OnStep | None = None
    forced: Forced | None = None  # the first tokens that it writes, among its steps
    targets: tuple[int, ...] = ()  # ids of outputs that are scored at every position
    second_text: str | None = None  # of `source`; reference texts of edits are read with it

    @property
    def wanted(self) -> Wanted:
        """What is kept of logits."""
        return Wanted("logits" in self.want, self.targets)


@dataclass(slots=True)
class Run:
    """What one pass over the text showed, and how it was looked at."""

    source: Tokens
    target: Tokens | None
    maps: Sequence[AttentionMap]
    kernel: Message
    comparison: Comparison
    hidden: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    output: Output | None = None
    generation: Generation | None = None
    architecture: Mapping[str, Any] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[Message] = ()


class Recorder(Protocol):
    """Runs one model and collects what is wanted; the model is left exactly as found."""

    def run(self, request: Request) -> Run:
        """One pass over one text, after generating it where that is asked for."""

    def check(self, request: Request) -> int:
        """Refuse a text that this model cannot read, before any pass; the tokens of its longer side."""

    def run_together(self, requests: Sequence[Request]) -> "Batch | None":
        """One pass over texts that have equally many tokens, without edits and without writing.

        None: this model, or what is wanted, cannot be recorded so.
        """

    def measure(
        self,
        request: Request,
        edits: Sequence[Sequence[Edit]],
        positions: Sequence[int] | None,
        *,
        together: bool = True,
    ) -> Tensor:
        """Logits (row, position, vocabulary) or (row, class): of a pass without edits, then of one with each
        of these. Nothing is generated: an encoder-decoder needs a target. `positions` None: all of them.
        `together`: as one batch where that is possible, otherwise one pass after the other."""

    def read_sides(self, request: Request) -> tuple[Tokens | None, Tokens | None]:
        """Source and target (from its start token on) without a pass; None: not text, or not written yet."""

    def differentiate(
        self, request: Request, edits: Sequence[Edit], positions: Sequence[int] | None
    ) -> Tensor:
        """Logits as of `measure`, of one pass with edits that keeps what gradients need: those of what edits
        turn into tensors that require them; parameters have none. Refuses texts whose maps fill memory."""


def check_gradients(tokens: int, heads: int, layers: int) -> None:
    """Refuse a pass whose weights, scores and their gradients no memory holds."""
    check_size("recorders.estimates.too_long", tokens, heads * COPIES, layers)


def check_size(code: str, tokens: int, heads: int, layers: int) -> None:
    """Refuse matrices that no memory holds, with a code that says what to do, before they are formed."""
    size = 4 * heads * tokens**2 * layers
    if size > LARGEST_MAPS:
        raise InputError(code, tokens=tokens, size=size / 2**30, limit=LARGEST_MAPS >> 30)


def check_want(want: Collection[str]) -> frozenset[str]:
    """The wanted things as a set; an unknown word is an error that offers the nearest one."""
    words = (want,) if isinstance(want, str) else want
    if not isinstance(words, Collection):
        raise InputError("record.want_not_words", seen=repr(want))
    for word in words:
        if word not in (*WANTS, *TRACES):
            nearest = suggestion(str(word), (*WANTS, *TRACES))
            raise InputError("record.unknown_want", word=str(word), nearest=nearest)
    return frozenset(words)


def check_computing(kernel: Kernel | None, keep: ArrayStore | None) -> None:
    """Refuse a kernel of which there is none, and a store that cannot be called."""
    if kernel not in (None, *get_args(Kernel)):
        raise InputError("record.unknown_kernel", seen=repr(kernel))
    if keep is not None and not callable(keep):
        raise InputError("record.keep_not_callable", kind=type(keep).__name__)


def check_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, if they are some; a single one has to be in a list, too."""
    if isinstance(edits, str) or not isinstance(edits, Iterable):
        raise InputError("record.edits_not_a_list", seen=repr(edits))
    for edit in edits:
        if not isinstance(edit, Edit):
            raise InputError("record.not_an_edit", seen=repr(edit))
    return tuple(edits)
