"""`record_many`: many texts through one model, in batches of texts that have equally many tokens.

In:   a model that `load` opens and any iterable of texts, which is read as it is used.
Out:  a Recording for each, in the order given. A text that cannot be recorded is left out and listed.

Nothing is padded: texts of one batch have the same length, so no text sees anything of another, and whatever
masks and positions a model has work as they do for one text. The first batch of a model of transformers is
compared with a pass of its first text alone; a model that mixes the texts of a batch runs them one by one.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import torch

from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.loaded.reading import Inputs
from glassformer.messages import Message
from glassformer.recorders.batch import Batch
from glassformer.recorders.call import Kernel
from glassformer.recorders.causes.outcomes import Token, find_targets
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.maps import SUMS
from glassformer.recorders.record import find_recorder, finish_run, make_request, run_request
from glassformer.recorders.request import TRACES, USUAL, Request, check_computing, check_want
from glassformer.recording import Recording
from glassformer.text.languages import find_language
from glassformer.text.tokenizer import Encoding

WINDOW = 512  # texts that are sorted by length at a time
MOST_TOKENS = 4096  # of a batch
MOST_TOKENS_GPU = 32768  # the same on a GPU, which waits for Python between small batches
MOST_WEIGHTS = 1 << 22  # of one head over a batch, so that matrices stay small

Text = Inputs | tuple[Inputs, Inputs]
T = TypeVar("T")


class FailedText(NamedTuple):
    """A text that could not be recorded."""

    number: int  # among the texts given, from 0
    reason: Message


class PreparedText(NamedTuple):
    """A text that the model can read."""

    number: int
    request: Request
    lengths: tuple[int, ...]  # of source and target; texts of one batch have the same
    tokens: int  # of the longer side


def record_many(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    texts: Iterable[Text],
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    want: Collection[str] = USUAL,
    targets: Sequence[Token] = (),
    edits: Sequence[Edit] = (),
    kernel: Kernel | None = None,
) -> "Recordings":
    """Record many texts, several at a time; each is recorded as `record` would, as far as rounding explains.

    Arguments:
        texts: any iterable, which is read a few hundred texts ahead. Each is what `record` takes as `inputs`,
            or a pair: (source, target) for an encoder-decoder, (text, second text) for models that read two.
        model, tokenizer, device, target_language, want, targets, edits, kernel: see `record`.

    Returns an iterator over pairs: the number of a text, from 0, and its recording, in the order given. A
    text that cannot be recorded (empty, too long, of unknown tokens) is left out; when the iterator is used
    up, its `failed` lists the numbers of such texts with the reasons. Anything that concerns all texts, such
    as an unknown word in `want` or an unknown language, is an error at once.

    An encoder-decoder whose texts have no target writes one text after another; edits are made one text
    after another, too.

    >>> texts = ["The cat sleeps.", "", "The dog barks at the moon."]
    >>> recordings = gf.record_many("zoo/bert", texts)
    >>> [(number, len(recording.source)) for number, recording in recordings]
    [(0, 7), (2, 10)]
    >>> [failed.number for failed in recordings.failed]
    [1]
    """
    if isinstance(texts, str):
        raise InputError("record.many.not_texts")
    texts = check_texts(texts)
    loaded = load(model, tokenizer, device=device)
    loaded.require("records")
    wanted, chosen = check_want(want), find_targets(loaded, targets)
    if chosen or "logits" in wanted:
        wanted |= {"output"}
    if wanted & set(TRACES):
        loaded.require("traces")
    check_computing(kernel, None)
    if target_language is not None:
        find_language(loaded.tokenizer, target_language)
    reader = TextReader(
        loaded,
        target_language,
        lambda request: replace(request, want=wanted, targets=chosen, kernel=kernel),
        edits,
    )
    return Recordings(reader, enumerate(texts))


def check_texts(texts: Iterable[T]) -> Iterable[T]:
    """The same texts, a column of pyarrow as a list.

    A table is refused, of which the names of the columns, or rows with all their fields, would be read.
    """
    names = texts if isinstance(texts, Mapping) else getattr(texts, "column_names", None)
    if names is None and hasattr(texts, "shape"):
        names = getattr(texts, "columns", None)
    if names is not None:
        column = next(iter(names), "text")
        raise InputError("record.many.table", kind=type(texts).__name__, column=repr(column))
    found: Iterable[T] = texts.to_pylist() if hasattr(texts, "to_pylist") else texts
    return found


@dataclass(slots=True)
class TextReader:
    """Turns texts into requests; those that cannot be read are listed."""

    model: LoadedModel
    target_language: str | None = None
    complete: Callable[[Request], Request] = lambda request: request
    edits: Sequence[Edit] = ()
    failed: list[FailedText] = field(default_factory=list)
    model_hash: str = ""

    def __post_init__(self) -> None:
        self.model_hash = self.model.identity.hash()

    def read(self, number: int, text: Text) -> PreparedText | None:
        """A request, and how long its sides are; None: listed as failed."""
        try:
            source, target, second = self.divide(text)
            request = make_request(
                self.model,
                source,
                target,
                second_text=second,
                target_language=self.target_language,
                edits=self.edits,
                model_hash=self.model_hash,
            )
            request = self.complete(request)
            tokens = find_recorder(self.model).check(request)
        except GlassformerError as error:
            self.failed.append(FailedText(number, error.message))
            return None
        return PreparedText(number, request, _measure_sides(request), tokens)

    def read_all(self, texts: Sequence[tuple[int, Text]]) -> list[PreparedText]:
        """Those of some texts that can be read; their tokens are found together, by all cores."""
        found = self._encode([text for _, text in texts])
        made = (self.read(number, found.get(at, text)) for at, (number, text) in enumerate(texts))
        return [each for each in made if each is not None]

    def _encode(self, texts: Sequence[Text]) -> dict[int, Encoding]:
        """By place: the tokens of those that are text alone; none where one of them cannot be read."""
        plain = {at: text for at, text in enumerate(texts) if isinstance(text, str)}
        if self.model.reads != "text" or self.model.tokenizer is None or not plain:
            return {}
        try:
            found = self.model.tokenizer.encode_many(list(plain.values()))
        except GlassformerError:
            return {}
        return dict(zip(plain, found, strict=True))

    def divide(self, text: Text) -> tuple[Inputs, Inputs | None, str | None]:
        """Source, target and second text."""
        if not isinstance(text, tuple) or len(text) != 2 or isinstance(text[0], int):
            return text, None, None  # ids may come as a tuple
        first, second = text
        if self.model.shape == "encoder-decoder":
            return first, second, None
        if not isinstance(second, str):
            raise InputError("record.many.pair", name=self.model.name)
        return first, None, second


def _measure_sides(request: Request) -> tuple[int, ...]:
    if not isinstance(request.source, Encoding):
        return ()
    target = () if request.target is None else (len(request.target),)
    return (len(request.source), int(any(request.source.segments)), *target)


def make_batches(texts: Iterable[PreparedText], most_tokens: int = MOST_TOKENS) -> list[list[PreparedText]]:
    """Texts of one length together, no more than fit; short ones first."""
    groups: dict[tuple[int, ...], list[PreparedText]] = {}
    for each in texts:
        groups.setdefault(each.lengths, []).append(each)
    batches = []
    for lengths in sorted(groups):
        group = groups[lengths]
        longest = max(1, group[0].tokens)
        most = most_tokens // longest
        if SUMS not in group[0].request.want:  # matrices may be formed
            most = min(most, MOST_WEIGHTS // longest**2)
        size = max(1, most) if lengths else 1
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    return batches


def run_batch(model: LoadedModel, texts: Sequence[PreparedText]) -> Batch | None:
    """One pass over some texts of one length; None: they have to run one by one.

    An error may be that of a single text. Too little memory of a GPU is raised.
    """
    if texts[0].request.edits or not texts[0].lengths:
        return None
    try:
        return find_recorder(model).run_together([each.request for each in texts])
    except torch.OutOfMemoryError:
        raise
    except (GlassformerError, RuntimeError):
        return None


def run_batches(
    model: LoadedModel, batches: Iterable[Sequence[PreparedText]]
) -> Iterator[tuple[Sequence[PreparedText], Batch | None]]:
    """Each batch after its pass; one that a GPU has no memory for is halved, and so are those after it."""
    most: int | None = None  # tokens of a batch that there was memory for
    waiting = deque(batches)
    while waiting:
        texts = waiting.popleft()
        tokens = len(texts) * texts[0].tokens
        if len(texts) > 1 and most is not None and tokens > most:
            middle = len(texts) // 2
            waiting.extendleft((texts[middle:], texts[:middle]))
            continue
        batch, full = None, False
        try:
            batch = run_batch(model, texts)
        except torch.OutOfMemoryError:
            full = True
        if full:  # only here has the exception, and with it the tensors of the pass, been freed
            torch.cuda.empty_cache()
        if full and len(texts) > 1:
            most = tokens // 2
            waiting.appendleft(texts)
        else:
            yield texts, batch


@dataclass(slots=True)
class Recordings(Iterator[tuple[int, Recording]]):
    """What `record_many` returns: numbers and recordings, in the order of the texts."""

    reader: TextReader
    texts: Iterator[tuple[int, Text]]
    _ready: Iterator[tuple[int, Recording]] = field(default_factory=lambda: iter(()))

    @property
    def failed(self) -> list[FailedText]:
        """Texts that could not be recorded, among those seen so far."""
        return sorted(self.reader.failed)

    def __next__(self) -> tuple[int, Recording]:
        while True:
            found = next(self._ready, None)
            if found is not None:
                return found
            window = list(islice(self.texts, WINDOW))
            if not window:
                raise StopIteration
            prepared = (self.reader.read(number, text) for number, text in window)
            self._ready = iter(sorted(self._record(filter(None, prepared)), key=lambda pair: pair[0]))

    def _record(self, texts: Iterable[PreparedText]) -> Iterator[tuple[int, Recording]]:
        model = self.reader.model
        for texts_of_one_length, batch in run_batches(model, make_batches(texts)):
            for place, each in enumerate(texts_of_one_length):
                try:
                    if batch is None:
                        recording = run_request(model, each.request, self.reader.target_language)
                    else:
                        recording = finish_run(model, each.request, batch.read(place))
                except GlassformerError as error:
                    self.reader.failed.append(FailedText(each.number, error.message))
                    continue
                yield each.number, recording
