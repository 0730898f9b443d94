"""Some texts of a study through a model: the work of one task.

In:   texts with their numbers, the metrics, edits and outcome of a study.
Out:  `Shard`: sums over the texts, what became of each, and their values where these are asked for.

Statistics need no maps: texts of one length run as one batch, whose maps are one map with many heads, and a
metric that reads no tokens measures all of them at once. The same texts give the same numbers wherever they
run, with the same libraries on the same kind of processor.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.corpus.sums import SUMMED, add_rows
from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.reading import as_tokens
from glassformer.messages import Message
from glassformer.metrics import METRICS, Metric
from glassformer.metrics.parameters import settle
from glassformer.recorders.batch import Batch
from glassformer.recorders.causes.outcomes import Outcome
from glassformer.recorders.causes.sweep import sweep
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.many import FailedText, PreparedText, Text, TextReader, make_batches, run_batches
from glassformer.recorders.maps import SUMS
from glassformer.recorders.record import run_request
from glassformer.recorders.request import Request
from glassformer.recorders.statistics.device import DeviceMap
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.studies import Moments, draw_weights
from glassformer.studies.moments import RESAMPLES
from glassformer.studies.study import State
from glassformer.text.tokenizer import Encoding

Numbers = NDArray[np.float64]
Chosen = tuple[tuple[Metric, dict[str, Any]], ...]

LONGEST_WRITTEN = 4096  # characters of a list of settings; of longer ones a digest is kept
TOLD_EVERY = 2048  # tokens, of all passes together


class Part(NamedTuple):
    """How far a shard is."""

    texts: int = 0  # that were measured
    tokens: int = 0
    work: float = 0.0  # the same in texts of average length: short ones are measured first


Tell = Callable[[Part], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is measured of each text; all of it can be pickled."""

    metrics: Mapping[str, Mapping[str, Any]]
    edits: tuple[Edit | tuple[Edit, ...], ...] | None = None  # None: every head silenced, with an outcome
    outcome: Outcome | None = None
    target_language: str | None = None
    values: bool = False
    resamples: int = RESAMPLES
    most_tokens: int = 4096  # of a batch

    def describe(self) -> dict[str, Any]:
        """For a person and for the next call, which has to be the same."""
        return {
            "metrics": as_data(self.metrics),
            "edits": as_data(self.edits),
            "outcome": as_data(self.outcome),
            "target_language": self.target_language,
            "values": self.values,
            "resamples": self.resamples,
        }


def as_data(given: Any) -> Any:
    """Settings as JSON that differs where they do: classes with all fields, long lists as digests."""
    if is_dataclass(given) and not isinstance(given, type):
        found = {each.name: as_data(getattr(given, each.name)) for each in fields(given)}
        return {"class": type(given).__qualname__, **found}
    if isinstance(given, Mapping):
        return {str(name): as_data(each) for name, each in given.items()}
    given = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(given, list | tuple):
        items = [as_data(each) for each in given]
        written = json.dumps(items)
        long = {"length": len(items), "sha256": sha256(written.encode()).hexdigest()}
        return items if len(written) <= LONGEST_WRITTEN else long
    return given if given is None or isinstance(given, str | int | float) else repr(given)


class TextRow(NamedTuple):
    """What became of a text."""

    number: int
    tokens: int
    reason: Message | None  # why it has no values


@dataclass(slots=True)
class Shard:
    """What a task found; `state` holds sums over its texts."""

    state: State
    rows: list[TextRow]
    values: Numbers | None  # (text, column), NaN where there is none


def choose_metrics(
    metrics: Iterable[str] | Mapping[str, Mapping[str, Any]] | None,
) -> dict[str, dict[str, Any]]:
    """Metrics of heads by name with their parameters; by default all that need statistics alone."""
    if metrics is None:
        return {name: {} for name in METRICS if _is_plain(METRICS[name])}
    if isinstance(metrics, str):
        raise InputError("study.metrics_not_a_list", seen=metrics)
    given = metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics}
    for name, parameters in given.items():
        if METRICS[name].measure_map is None:
            raise InputError("study.not_of_heads", name=name)
        settle(name, METRICS[name].parameters, dict(parameters))
    return {name: dict(parameters) for name, parameters in given.items()}


def _is_plain(metric: Metric) -> bool:
    return metric.measure_map is not None and metric.needs == "statistics"


def identify(texts: Sequence[tuple[int, Text]]) -> str:
    """A digest of some texts and their numbers."""
    digest = sha256()
    for number, text in texts:
        digest.update(f"{number}:".encode() + as_bytes(text) + b"\n")
    return digest.hexdigest()


def as_bytes(text: Text) -> bytes:
    """A text, a pair or token ids, for digests."""
    return repr(_as_plain(text)).encode("utf-8", "surrogatepass")


def _as_plain(given: Any) -> Any:
    """Arrays as lists, also inside pairs: NumPy leaves out the middle of long ones."""
    if hasattr(given, "tolist"):
        return given.tolist()
    if type(given) not in (list, tuple) or set(map(type, given)) == {int}:  # ids of a long text, as they are
        return given
    return type(given)(map(_as_plain, given))


def measure_shard(
    model: LoadedModel, texts: Sequence[tuple[int, Text]], settings: Settings, tell: Tell | None = None
) -> Shard:
    """Some texts, from reading to sums; `tell` is called about every 2,048 tokens, before the last ones."""
    return prepare_shard(model, texts, settings).run(tell)


def prepare_shard(model: LoadedModel, texts: Sequence[tuple[int, Text]], settings: Settings) -> "Measuring":
    """Read some texts; `run` then measures them and adds up what they give."""
    measuring = Measuring(model.name, settings, texts)
    measuring.reader = reader = TextReader(model, settings.target_language, _ask(settings))
    measuring.prepared = reader.read_all(texts)
    return measuring


def measure_recordings(recordings: Sequence[tuple[int, Recording]], settings: Settings) -> Shard:
    """The same of recordings that exist."""
    measuring = Measuring(
        recordings[0][1].model, settings, [(at, _read_text(each)) for at, each in recordings]
    )
    chosen = measuring.choose()
    for number, each in recordings:
        measuring.heads[number] = measuring.read_maps(each.maps, chosen)
    sides = {number: (each.source, each.target or ()) for number, each in recordings}
    tokens = {number: max(map(len, both)) for number, both in sides.items()}
    return measuring.add_up(tokens, ())


def _read_text(recording: Recording) -> Text:
    """What identifies the text of a recording: its tokens."""
    source = recording.source.ids.tolist()
    return source if recording.target is None else (source, recording.target.ids.tolist())


@dataclass(slots=True)
class Measuring:
    """The work of one shard."""

    name: str  # of the model
    settings: Settings
    texts: Sequence[tuple[int, Text]]
    reader: TextReader | None = None  # None: recordings, which exist already
    prepared: Sequence[PreparedText] = ()
    head_keys: tuple[tuple[Any, ...], ...] = ()
    effect_keys: tuple[tuple[Any, ...], ...] = ()
    heads: dict[int, Numbers] = field(default_factory=dict)  # by text: totals, counts, values (3, column)
    effects: dict[int, Numbers] = field(default_factory=dict)  # by text: (edit,)
    counted: dict[int, int] = field(default_factory=dict)  # by text: patches and the like, after the pass

    def choose(self) -> Chosen:
        return tuple(
            (METRICS[name], settle(name, METRICS[name].parameters, dict(parameters)))
            for name, parameters in self.settings.metrics.items()
        )

    def run(self, tell: Tell | None = None) -> Shard:
        """Passes over all texts, then sums."""
        self.measure(tell)
        return self.finish()

    def finish(self) -> Shard:
        """Sums over the texts that were measured."""
        assert self.reader is not None
        tokens = {each.number: each.tokens or self.counted.get(each.number, 0) for each in self.prepared}
        return self.add_up(tokens, self.reader.failed)

    def measure(self, tell: Tell | None = None) -> None:
        """One pass after the other."""
        chosen, reader, prepared = self.choose(), self.reader, self.prepared
        assert reader is not None
        model = reader.model
        pace = _Pace(tell, len(self.texts), sum(each.tokens for each in prepared))
        if chosen:
            waiting: list[_WaitingSums] = []  # on a GPU, which computes while later batches are prepared
            for group, batch in run_batches(model, make_batches(prepared, self.settings.most_tokens)):
                if batch is None:
                    self._measure_alone(group, chosen, reader)
                elif all(isinstance(each, DeviceMap) for each in batch.maps):
                    waiting.append(self._add_up_there(group, batch, chosen))
                else:
                    self._measure_together(group, batch, chosen)
                if self.settings.outcome is None:  # otherwise nearly all of the work is still to come
                    tokens = sum(each.tokens for each in group)
                    pace.step(len(group), tokens, passes=1)
            for sums in waiting:
                if not sums.read(self.heads):
                    self._measure_alone(sums.group, chosen, reader)
        if self.settings.outcome is not None:
            failed = {each.number for each in reader.failed}
            self._sweep([each for each in prepared if each.number not in failed], reader, pace)

    def _measure_together(self, group: Sequence[PreparedText], batch: Batch, chosen: Chosen) -> None:
        """Metrics that read no tokens, or marks of them, measure all texts at once, others text by text."""
        maps = [each for each in batch.maps if each.place.step is None]
        texts = len(group)
        parts: list[Numbers] = []  # (3, text, head)
        marks: dict[tuple[Any, ...], NDArray[np.bool_]] = {}  # (head, key), the same for layers alike
        for each in maps:
            own: list[AttentionMap] = []
            for metric, settled in chosen:
                if not metric.reads_tokens:
                    given = settled
                    if metric.marks is not None:
                        alike = (metric.name, each.stack, each.kind, each.shape)
                        if alike not in marks:
                            marks[alike] = _mark_keys(metric.marks, batch, each)
                        given = {**settled, "marked": marks[alike]}
                    parts.append(_read(metric, each, given).reshape(3, texts, -1))
                    continue
                own = own or [batch.take(number, [each])[0] for number in range(texts)]
                parts.append(np.stack([_read(metric, one, settled) for one in own], axis=1))
        self._name_heads(maps, [each.heads // texts for each in maps], chosen)
        joined = np.concatenate(parts, axis=2)  # (3, text, column)
        for at, text in enumerate(group):
            self.heads[text.number] = joined[:, at]

    def _add_up_there(self, group: Sequence[PreparedText], batch: Batch, chosen: Chosen) -> "_WaitingSums":
        """Where statistics are tensors: sums of all texts and layers at once, not waited for."""
        maps: list[Any] = list(batch.maps)  # each a DeviceMap
        texts, names = len(group), [metric.name for metric, _ in chosen]
        marks = next((metric.marks for metric, _ in chosen if metric.marks is not None), None)
        alike: dict[tuple[Any, ...], list[int]] = {}
        for at, each in enumerate(maps):
            alike.setdefault((*each.place[:2], each.shape, each.statistics.sink is None), []).append(at)
        parts: dict[int, torch.Tensor] = {}  # by map: (2, metric, head)
        valid: list[torch.Tensor] = []
        for numbers in alike.values():
            some = [maps[at] for at in numbers]
            device = some[0].statistics.allowed.device
            marked = None
            if marks is not None:
                found = self._mark_keys(marks, group, batch, some[0])
                marked = torch.from_numpy(found).to(device)
            sums, fine = add_rows(some, names, marked)
            parts |= {at: sums[:, place] for place, at in enumerate(numbers)}
            valid.append(fine)
        self._name_heads(maps, [each.heads // texts for each in maps], chosen)
        whole = [
            parts[at].reshape(2, len(names), texts, -1).transpose(1, 2).flatten(2) for at in range(len(maps))
        ]  # (2, text, column) each
        largest = {metric.name for metric, _ in chosen if metric.rule == "maximum"}
        maxima = np.array([key[-1] in largest for key in self.head_keys])
        return _WaitingSums(group, torch.cat(whole, dim=2), torch.stack(valid).all(), maxima)

    def _mark_keys(
        self,
        marks: Callable[[Tokens], NDArray[np.bool_]],
        group: Sequence[PreparedText],
        batch: Batch,
        one: DeviceMap,
    ) -> NDArray[np.bool_]:
        """As `_mark_keys`; where a model reads one text, by its tokens alone, which is faster."""
        sides = [each.request.source for each in group if isinstance(each.request.source, Encoding)]
        assert self.reader is not None
        if self.reader.model.shape == "encoder-decoder" or {len(each) for each in sides} != {one.shape[2]}:
            return _mark_keys(marks, batch, one)
        found = [marks(as_tokens("source", replace(each, offsets=None, words=None))) for each in sides]
        return np.repeat(np.stack(found), one.heads // len(group), axis=0)

    def _measure_alone(self, group: Sequence[PreparedText], chosen: Chosen, reader: TextReader) -> None:
        for each in group:
            try:
                request = replace(each.request, kernel=None, want=each.request.want - {SUMS})
                recording = run_request(reader.model, request, self.settings.target_language)
                self.heads[each.number] = self.read_maps(recording.maps, chosen)
                sides = [side for side in (recording.source, recording.target) if side is not None]
                self.counted[each.number] = max(map(len, sides))
            except GlassformerError as error:
                reader.failed.append(FailedText(each.number, error.message))

    def read_maps(self, found: Sequence[AttentionMap], chosen: Chosen) -> Numbers:
        maps = [each for each in found if each.place.step is None]
        self._name_heads(maps, [each.heads for each in maps], chosen)
        return read_maps(maps, chosen)

    def _name_heads(
        self, maps: Sequence[AttentionMap | DeviceMap], heads: Sequence[int], chosen: Chosen
    ) -> None:
        keys = tuple(name_columns(maps, heads, chosen))
        if self.head_keys and keys != self.head_keys:
            raise InputError("study.other_maps", name=self.name)
        self.head_keys = keys

    def _sweep(self, texts: Iterable[PreparedText], reader: TextReader, pace: "_Pace") -> None:
        """What each edit does to the outcome, in passes of one text each."""
        outcome, given = self.settings.outcome, dict(self.texts)
        assert outcome is not None
        for number, _, _, tokens in texts:
            try:
                source, target, second = reader.divide(given[number])
                found = sweep(
                    reader.model,
                    source,
                    target,
                    outcome=outcome,
                    edits=self.settings.edits,
                    target_language=self.settings.target_language,
                    second_text=second,
                )
            except GlassformerError as error:
                self.heads.pop(number, None)
                reader.failed.append(FailedText(number, error.message))
                continue
            said = outcome.as_message().text("en")
            plain = ("", said, *_NO_HEAD)
            self.effect_keys = (plain, *((_name_edit(row), said, *_find_head(row)) for row in found.edits))
            self.effects[number] = np.array([found.baseline, *found.effects])
            pace.step(1, tokens, passes=1 + len(found.effects))

    def add_up(self, tokens: Mapping[int, int], failed: Sequence[FailedText]) -> Shard:
        """Sums over the texts that did not fail."""
        reasons = {each.number: each.reason for each in failed}
        rows = [TextRow(number, tokens.get(number, 0), reasons.get(number)) for number, _ in self.texts]
        kept = [(number, text) for number, text in self.texts if number not in reasons]
        state = State(
            shards=1,
            texts=len(kept),
            failed=len(reasons),
            tokens=sum(tokens[number] for number, _ in kept),
            head_keys=self.head_keys,
            effect_keys=self.effect_keys,
        )
        weights = np.array([draw_weights(as_bytes(text), at, self.settings.resamples) for at, text in kept])
        values = None
        if self.heads and kept:
            totals, counts, values = np.stack([self.heads[number] for number, _ in kept], axis=1)
            state.heads = Moments.of_texts(totals, counts, values, weights)
        if self.effects and kept:
            effects = np.stack([self.effects[number] for number, _ in kept])
            state.effects = Moments.of_texts(effects, np.ones_like(effects), effects, weights)
        return Shard(state, rows, values if self.settings.values else None)


@dataclass(slots=True)
class _Pace:
    """Reports now and then how far a shard is; its end is reported when it is kept."""

    tell: Tell | None
    all_texts: int
    all_tokens: int
    texts: int = 0
    tokens: int = 0
    since: int = 0  # tokens of all passes since it was told last

    def step(self, texts: int, tokens: int, passes: int) -> None:
        """Some texts were measured."""
        self.texts += texts
        self.tokens += tokens
        self.since += tokens * passes
        if self.tell is not None and self.since >= TOLD_EVERY and self.tokens < self.all_tokens:
            self.since = 0
            self.tell(Part(self.texts, self.tokens, self.all_texts * self.tokens / self.all_tokens))


@dataclass(frozen=True, slots=True)
class _WaitingSums:
    """Sums of a batch that may still be computed on a GPU."""

    group: Sequence[PreparedText]
    sums: torch.Tensor  # (2, text, column) totals and counts
    valid: torch.Tensor  # () whether the statistics can be trusted
    maxima: NDArray[np.bool_]  # (column,) whose value is the total

    def read(self, heads: dict[int, Numbers]) -> bool:
        """Wait for them and put in totals, counts and values (3, column) of each text; False: not valid."""
        if not bool(self.valid):
            return False
        totals, counts = self.sums.cpu().numpy()
        values = np.full(totals.shape, np.nan)
        np.divide(totals, np.where(self.maxima, 1.0, counts), out=values, where=counts > 0)
        for at, text in enumerate(self.group):
            heads[text.number] = np.stack([totals[at], counts[at], values[at]])
        return True


def read_maps(maps: Sequence[AttentionMap], chosen: Chosen) -> Numbers:
    """Totals, counts and values (3, column) of the maps of one text."""
    return np.concatenate(
        [_read(metric, each, settled) for each in maps for metric, settled in chosen], axis=1
    )


def name_columns(
    maps: Sequence[AttentionMap | DeviceMap], heads: Sequence[int], chosen: Chosen
) -> Iterator[tuple[Any, ...]]:
    """Stack, kind, layer, head and metric of each column."""
    for each, count in zip(maps, heads, strict=True):
        for metric, _ in chosen:
            for head in range(count):
                yield (*each.place[:3], head, metric.name)


def _mark_keys(
    marks: Callable[[Tokens], NDArray[np.bool_]], batch: Batch, attention_map: AttentionMap | DeviceMap
) -> NDArray[np.bool_]:
    """Marks of the keys of each text, for all of its heads (head, key)."""
    place, (heads, queries, keys) = attention_map.place, attention_map.shape
    found = [marks(row.axes.find(place, queries, keys)[1]) for row in batch.rows]
    return np.repeat(np.stack(found), heads // len(batch.rows), axis=0)


def _read(metric: Metric, attention_map: AttentionMap, settled: dict[str, Any]) -> Numbers:
    """Totals, counts and values (3, head) of one map; largest values are averaged over texts."""
    assert metric.measure_map is not None
    part = metric.measure_map(attention_map, settled)
    assert part.totals is not None
    assert part.counts is not None
    counts = part.counts if metric.rule == "mean" else (part.counts > 0).astype(np.float64)
    return np.stack([part.totals, counts, part.values])


def _ask(settings: Settings) -> Callable[[Request], Request]:
    """What a request of the study records: statistics on the fast path, weights where a metric reads them."""
    given = settings.metrics.items()
    weights = any(parameters or METRICS[name].needs == "weights" for name, parameters in given)
    summed = not weights and settings.metrics.keys() <= SUMMED.keys()
    want = frozenset({"weights"} if weights else {SUMS} if summed else {"statistics"})

    def complete(request: Request) -> Request:
        return replace(request, want=want, kernel="fast" if weights else None)

    return complete


_NO_HEAD = (None, None, None, None)  # stack, kind, layer, head


def _find_head(edit: Edit | Sequence[Edit]) -> tuple[Any, ...]:
    """Where the head is that is changed; nothing where several are, or something else."""
    edits = (edit,) if isinstance(edit, Edit) else edit
    found = tuple(getattr(edits[0], name, None) for name in ("stack", "kind", "layer", "head"))
    return found if len(edits) == 1 and None not in found else _NO_HEAD


def _name_edit(edit: Edit | Sequence[Edit]) -> str:
    """For tables, which are in English wherever they are written."""
    edits = (edit,) if isinstance(edit, Edit) else edit
    return " + ".join(each.as_message().text("en") for each in edits)
