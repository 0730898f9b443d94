"""`atlas`: what every head of a model does, over many texts.

In:   a model that `load` opens, and texts, some with trees, links or mentions.
Out:  `Atlas`. Texts are read a few at a time, and memory grows by a few numbers a head for each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.atlases import Atlas
from glassformer.atlases.naming import name_family
from glassformer.atlases.schema import (
    AtlasBody,
    AtlasCorpus,
    AtlasHead,
    AtlasModel,
    AtlasPlace,
    Cluster,
    Cost,
    Detector,
    Example,
    HeadScore,
    Interval,
)
from glassformer.corpus.atlas.clusters import cluster, place_points
from glassformer.corpus.atlas.costs import can_cost, collect, measure_costs
from glassformer.corpus.atlas.detector import DETECTORS
from glassformer.corpus.atlas.estimates import (
    SIGNIFICANT,
    Bounds,
    adjust,
    bootstrap,
    choose_rows,
    compare_with_chance,
    find_baseline,
    tidy,
)
from glassformer.corpus.atlas.examples import Candidate, choose_examples
from glassformer.corpus.atlas.measuring import (
    LEAST_TEXTS,
    Column,
    Slots,
    Table,
    Where,
    find_layers,
    group_words,
)
from glassformer.corpus.atlas.profile import MEASURES, Profile, profile_all
from glassformer.corpus.atlas.texts import (
    MarkedText,
    as_marked,
    place_marks,
    repeat_tokens,
    shuffle,
    tell_tales,
)
from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.messages import Message, message
from glassformer.metrics.scores import Numbers
from glassformer.place import Place
from glassformer.recorders.many import record_many
from glassformer.recording import Recording

COST_TEXTS = 24
BUNDLES = 3
CANDIDATES = 48  # short texts among which examples are chosen
PROBES = 16  # random sequences that are read twice, for induction
PROBED = 24  # their length
SHOWN = 8  # the same in an example
TOGETHER = 1 << 18  # weights of one head, of texts that are read together

Progress = Callable[[int, int], None]  # how much is done, of how much


def atlas(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    texts: Iterable[Any],
    *,
    name: str = "texts",
    examples: Iterable[Any] | None = None,
    cost_texts: int = COST_TEXTS,
    bundles: int = BUNDLES,
    target_language: str | None = None,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Atlas:
    """Find out what every head of a model does, over a corpus, with chance levels and intervals.

    Arguments:
        model, tokenizer, device: see `load`.
        texts: strings; sentences of `read_conllu`, for syntactic relations; pairs of `read_alignments`, for
            word alignment; (text, translation); or `MarkedText`, for mentions of the same thing.
        name: what to call the texts.
        examples: texts among which examples are chosen; None: short ones of the corpus, and constructed ones.
        cost_texts: how many texts every head is silenced on, one after the other; 0: none.
        bundles: how many examples are kept.
        target_language: what to translate into, where the vocabulary names languages ("fr").
        seed: of shuffled words, of random tokens and of the bootstrap.
        on_progress: is told how many texts are done, of how many.

    Every text is read twice: as it is, and with its words in another order; the second reading says what a
    head does at these places by chance. Induction, brackets and coreference are looked for in constructed
    texts, too. A head passes a detector if its score is above chance by the detector's threshold and not by
    luck (adjusted p ≤ 0.05), and above the best fixed offset or the strongest wrong mark where there is
    one; its type is the most specific of these.

    >>> atlas = gf.open_atlas("zoo/gpt2")  # made by gf.atlas("zoo/gpt2", paragraphs)
    >>> atlas.find("induction")[0].type
    'induction'
    """
    loaded = load(model, tokenizer, device=device)
    loaded.require("records")
    if loaded.reads != "text" or loaded.vocabulary_size is None:
        raise InputError("atlases.reads_no_text", model=loaded.name)
    given = as_marked(texts)
    if not given:
        raise InputError("atlases.no_texts")
    if cost_texts < 0:
        raise InputError("atlases.negative_costs", number=cost_texts)
    steps = len(given) + min(len(given), cost_texts)
    reading = Reading(loaded, target_language, seed, _count(on_progress, steps))
    reading.read_all(given)
    reading.read_all(make_probes(loaded, given, seed))
    if not reading.profiles:
        raise InputError("atlases.nothing_read", model=loaded.name, texts=len(given), error=reading.error)
    notes = list[Message]()
    costs = reading.measure_costs(cost_texts) if can_cost(loaded) else []
    if not costs:
        notes.append(message("atlases.no_costs" if cost_texts else "atlases.costs_unwanted"))
    judged = judge(reading, seed)
    notes += _note_missing(judged)
    shown = [*_repeat(loaded, given, 2, SHOWN, seed), *(() if examples is None else as_marked(examples))]
    candidates = reading.candidates if examples is None else []
    candidates = [*candidates, *reading.try_out(shown)]
    short = [each for each in candidates if each.short]
    recordings, edges = choose_examples(short, judged.types, bundles)
    corpus = AtlasCorpus(name=name, texts=len(reading.read), tokens=reading.tokens, skipped=reading.skipped)
    identity = AtlasModel(name=loaded.name, identity=loaded.identity.hash())
    heads = list(_write_heads(reading, judged, costs, edges, seed))
    body = AtlasBody(
        model=identity,
        corpus=corpus,
        places=tuple(
            AtlasPlace(place=place.address, heads=count) for place, count, _, _ in reading.list_places()
        ),
        detectors=judged.detectors,
        heads=tuple(heads),
        clusters=_write_clusters(heads),
        notes=tuple(notes),
    )
    return Atlas(body, recordings=tuple(recordings))


def make_probes(model: LoadedModel, given: Sequence[MarkedText], seed: int) -> list[MarkedText]:
    """Constructed texts: random tokens read twice; and, of a model that reads text, marks and pronouns."""
    probes = _repeat(model, given, PROBES, PROBED, seed)
    if model.can("reads_text"):
        marked = [] if any(each.mentions for each in given) else tell_tales()
        probes += [each for each in (*place_marks(), *marked) if _knows(model, each)]
    return probes


def _knows(model: LoadedModel, text: MarkedText) -> bool:
    """Whether a vocabulary has all words of a constructed text."""
    unknown = model.require_tokenizer().roles.get("unknown")
    encoding = model.reader.read_source(text.text)
    return not any(
        token == unknown and not special
        for token, special in zip(encoding.ids, encoding.special, strict=True)
    )


def _repeat(
    model: LoadedModel, given: Sequence[MarkedText], count: int, length: int, seed: int
) -> list[MarkedText]:
    """Random tokens of the corpus, so that all of them are common ones; framed as its texts are."""
    ids: set[int] = set()
    start: tuple[int, ...] = ()
    end: tuple[int, ...] = ()
    for text in given[:100]:
        try:
            encoding = model.reader.read_source(text.text)
        except GlassformerError:
            continue
        special = np.array(encoding.special)
        words = np.flatnonzero(~special)
        ids |= set(np.array(encoding.ids)[words].tolist())
        if len(words):
            start, end = encoding.ids[: words[0]], encoding.ids[words[-1] + 1 :]
    if len(ids) < 2:
        return []
    found = repeat_tokens(sorted(ids), start, end, count=count, length=length, seed=seed)
    if model.shape == "encoder-decoder":
        return found
    return [MarkedText(each.text, probe="repeats") for each in found]


class Reading:
    """One model over texts: what was measured so far."""

    def __init__(
        self, model: LoadedModel, target_language: str | None, seed: int, report: Callable[[], None]
    ) -> None:
        self.model = model
        self.target_language = target_language
        self.report = report
        self.table = Table()
        self.profiles: dict[Where, Profile] = {}
        self.places: dict[Where, list[tuple[Place, int]]] = {}
        self.candidates: list[Candidate] = []
        self.read: list[MarkedText] = []  # of the corpus
        self.tokens = self.skipped = 0
        self.error: Message | str = ""  # of the last text that could not be read
        self._randomness = np.random.default_rng(seed)

    def read_all(self, texts: Sequence[MarkedText]) -> None:
        """Measure texts, several at a time; those that the model cannot read are counted."""
        for together in _gather(texts):
            found = self._record([(each.text, each.target) for each in together])
            ready = [twin for each in zip(together, found, strict=True) if (twin := self._prepare(*each))]
            shuffled = self._record([(each.source, each.target) for each in ready])
            read = [self._add(*each) for each in zip(ready, shuffled, strict=True)]
            given = sum(text.probe is None for text in together)
            self.skipped += given - sum(read)
            for _ in range(given):
                self.report()

    def try_out(self, texts: Sequence[MarkedText]) -> list[Candidate]:
        """Texts that could be shown, without those that the model cannot read."""
        found = self._record([(each.text, each.target) for each in texts])
        ready = (self._prepare(*each) for each in zip(texts, found, strict=True))
        return [each.candidate for each in ready if each is not None]

    def measure_costs(self, most: int) -> list[dict[tuple[Place, int], float]]:
        """How much the loss grows when a head is silenced, on some of the texts."""
        chosen = [self.read[number] for number in choose_rows(len(self.read), most)] if most else []
        return measure_costs(self.model, chosen, self.target_language, self.report)

    def list_places(self) -> Iterator[tuple[Place, int, Where, int]]:
        """Each place with how many heads it has, and where they begin among those of its stack and kind."""
        for where, places in self.places.items():
            first = 0
            for place, heads in places:
                yield place, heads, where, first
                first += heads

    def _prepare(self, text: MarkedText, recording: Recording | None) -> "Twin | None":
        """A text with its words in another order, and where they stand now; None: it cannot be measured."""
        if recording is None:
            return None
        try:
            candidate = Candidate(recording, find_layers(recording, text))
            source, slots = shuffle(recording.source, group_words(recording.source, text), self._randomness)
            target = target_slots = None
            if recording.target is not None:
                groups = group_words(recording.target, text)
                target, target_slots = shuffle(recording.target, groups, self._randomness)
                target = target[1:]  # without the start token
        except GlassformerError as error:
            self.error = error.message
            return None
        return Twin(text, candidate, source, target, Slots(slots, target_slots)) if candidate.layers else None

    def _add(self, twin: "Twin", shuffled: Recording | None) -> bool:
        """Measure a text; whether it was one of the corpus."""
        if shuffled is None:
            return False
        text, (recording, layers) = twin.text, (twin.candidate.recording, twin.candidate.layers)
        self.table.add(layers, shuffled, twin.slots)
        for where, each in layers.items():
            self.places.setdefault(where, [(one.place, one.heads) for one in each.maps])
        if twin.candidate.short and len(self.candidates) < CANDIDATES * (1 if text.probe is None else 2):
            self.candidates.append(twin.candidate)
        if text.probe is not None:
            return False
        profile_all(self.profiles, layers)
        self.read.append(text)
        self.tokens += len(recording.source) + (0 if recording.target is None else len(recording.target))
        return True

    def _record(self, texts: Sequence[tuple[Any, Any]]) -> list[Recording | None]:
        """Recordings of texts with their targets, None where that fails; ids name their language already."""
        found: list[Recording | None] = [None] * len(texts)
        for written in (True, False):
            numbers = [
                number for number, (source, _) in enumerate(texts) if isinstance(source, str) == written
            ]
            given = [texts[number][0] if texts[number][1] is None else texts[number] for number in numbers]
            language = self.target_language if written else None
            recordings = record_many(self.model, given, target_language=language, want=("weights",))
            for number, recording in recordings:
                found[numbers[number]] = recording
            self.error = recordings.failed[-1].reason if recordings.failed else self.error
        return found


class Twin(NamedTuple):
    """A text that was recorded, and the same one shuffled, to be recorded."""

    text: MarkedText
    candidate: Candidate
    source: NDArray[np.int64]
    target: NDArray[np.int64] | None
    slots: Slots


def _gather(texts: Sequence[MarkedText]) -> Iterator[list[MarkedText]]:
    """Texts that are read together: at most 64, and fewer where they are long."""
    together: list[MarkedText] = []
    room = TOGETHER
    for text in texts:
        tokens = len(text.text) if isinstance(text.text, tuple) else len(text.text) // 4
        if together and (len(together) == 64 or tokens**2 > room):
            yield together
            together, room = [], TOGETHER
        together.append(text)
        room -= tokens**2
    if together:
        yield together


@dataclass(slots=True)
class Judged:
    """What all detectors say of all heads."""

    detectors: tuple[Detector, ...]
    scores: dict[Where, dict[str, list[HeadScore]]] = field(default_factory=dict)
    passed: dict[Where, list[list[str]]] = field(default_factory=dict)  # by head, the most specific first

    @property
    def types(self) -> dict[Where, list[str | None]]:
        """The type of each head."""
        return {
            where: [names[0] if names else None for names in heads] for where, heads in self.passed.items()
        }


def judge(reading: Reading, seed: int) -> Judged:
    """Intervals, chance levels and adjusted p-values of all columns; which detectors each head passes."""
    whole = {key: each for key, each in reading.table.columns.items() if len(each.texts) >= each.least}
    halves = {key: each.divide() for key, each in whole.items()}
    tested = {key: _test(chosen) for key, (chosen, _) in halves.items()}
    columns = {key: scored for key, (_, scored) in halves.items()}
    together = adjust(np.concatenate(list(tested.values()))) if tested else np.zeros(0)
    judged = Judged(_list_detectors(columns))
    ranks = {each.name: DETECTORS[each.family].rank for each in judged.detectors}
    start: int = 0
    for (where, name), column in columns.items():
        scores = bootstrap(np.array(column.scores), seed)
        nulls = bootstrap(np.array(column.nulls), seed)
        heads = len(scores.mean)
        found = together[start : start + heads]
        start += heads
        table = judged.scores.setdefault(where, {})
        table[name] = [_write_score(scores, nulls, found, head, len(column.texts)) for head in range(heads)]
        passed = judged.passed.setdefault(where, [[] for _ in range(heads)])
        selected = _passes(halves[where, name][0], found)
        if halves[where, name][0] is not column:
            selected &= _passes(column, _test(column))
        for row in np.flatnonzero(selected):
            passed[row].append(name)
    for where, names in judged.passed.items():
        table = judged.scores[where]
        for head, each in enumerate(names):
            each.sort(key=lambda name: (-ranks[name], table[name][head].null - table[name][head].mean))
    for where, places in reading.places.items():
        judged.passed.setdefault(where, [[] for _ in range(sum(heads for _, heads in places))])
    return judged


def _test(column: Column) -> Numbers:
    """p-values (head,) of "no better than chance"."""
    return compare_with_chance(np.array(column.scores), np.array(column.nulls))


def _passes(column: Column, p: Numbers) -> np.ndarray:
    """Which heads (head,) do what a detector looks for, beyond chance, luck, rivals and a fixed offset."""
    found, nulls = np.array(column.scores), np.array(column.nulls)
    passed = (found.mean(axis=0) - nulls.mean(axis=0) >= column.kind.threshold) & (p <= SIGNIFICANT)
    if column.rivals:
        rivals = np.array(column.rivals)
        passed &= found.mean(axis=0) - rivals.mean(axis=0) >= column.kind.threshold
        passed &= compare_with_chance(found, rivals) <= SIGNIFICANT
    if any(column.luck):
        passed &= compare_with_chance(found, np.array(column.luck)[:, None]) <= SIGNIFICANT
    baseline = find_baseline(column.guesses)
    if baseline is None:
        return passed
    guessed = np.array([each.get(baseline[0], 0.0) for each in column.guesses])[:, None]
    return passed & (compare_with_chance(np.array(column.scores), guessed) <= SIGNIFICANT)


def _write_score(scores: Bounds, nulls: Bounds, p: Numbers, head: int, texts: int) -> HeadScore:
    return HeadScore(
        mean=tidy(scores.mean[head]),
        low=tidy(scores.low[head]),
        high=tidy(scores.high[head]),
        null=tidy(nulls.mean[head]),
        null_high=tidy(nulls.high[head]),
        texts=texts,
        p=float(f"{p[head]:.3g}"),
    )


def _list_detectors(columns: Mapping[tuple[Where, str], Column]) -> tuple[Detector, ...]:
    """Each detector once, however many stacks it was used on; the most specific first."""
    by_name: dict[str, list[tuple[Where, Column]]] = {}
    for (where, name), column in columns.items():
        by_name.setdefault(name, []).append((where, column))
    found = []
    for name, each in by_name.items():
        column = each[0][1]
        baseline = find_baseline(column.guesses)
        found.append(
            Detector(
                name=name,
                family=column.kind.family,
                detail=column.detail,
                threshold=column.kind.threshold,
                null=column.kind.null,
                baseline=None if baseline is None else tidy(baseline[1]),
                offset=None if baseline is None or column.kind.baseline == "diagonal" else baseline[0],
                applies=tuple(".".join(where) for where, _ in each),
                texts=max(len(column.texts) for _, column in each),
            )
        )
    return tuple(sorted(found, key=lambda each: (-DETECTORS[each.family].rank, each.family, -each.texts)))


def _note_missing(judged: Judged) -> Iterator[Message]:
    """Which detectors found nothing to measure."""
    measured = {each.family for each in judged.detectors}
    missing = [name_family(family) for family in DETECTORS if family not in measured]
    if missing:
        yield message("atlases.not_measured", detectors=tuple(missing), texts=LEAST_TEXTS)


def _write_heads(
    reading: Reading,
    judged: Judged,
    costs: Sequence[dict[tuple[Place, int], float]],
    edges: Mapping[Where, list[tuple[Example, ...]]],
    seed: int,
) -> Iterator[AtlasHead]:
    """The cards, place by place."""
    measures = {
        where: {name: bootstrap(np.array(values), seed) for name, values in each.values.items() if values}
        for where, each in reading.profiles.items()
    }
    listed = list(reading.list_places())
    features = _describe(judged, measures, listed)
    clusters, points = cluster(features), place_points(features)
    number = 0
    for place, heads, where, first in listed:
        spent = bootstrap(collect(costs, place, heads), seed) if costs else None
        for head in range(heads):
            row = first + head
            names = judged.passed[where][row]
            known = {name: each.read(row) for name, each in measures.get(where, {}).items()}
            yield AtlasHead(
                place=place.address,
                head=head,
                type=names[0] if names else None,
                types=tuple(names),
                scores={
                    each.name: judged.scores[where][each.name][row]
                    if each.name in judged.scores.get(where, {})
                    else None
                    for each in judged.detectors
                },
                measures={name: known.get(name) for name in MEASURES},
                by_position=reading.profiles[where].read_positions(row),
                cluster=int(clusters[number]),
                point=tuple(tidy(each) for each in points[number]),
                cost=None if spent is None else _write_cost(spent.read(head), len(costs)),
                examples=edges[where][row],
            )
            number += 1


def _write_cost(interval: Interval, texts: int) -> Cost:
    return Cost(mean=interval.mean, low=interval.low, high=interval.high, texts=texts)


def _describe(
    judged: Judged,
    measures: Mapping[Where, Mapping[str, Bounds]],
    listed: Sequence[tuple[Place, int, Where, int]],
) -> Numbers:
    """(head, family and entropy): what each head does beyond chance, the best of a family's details."""
    families = sorted({each.family for each in judged.detectors})
    names = {each.name: families.index(each.family) for each in judged.detectors}
    rows = []
    for _, heads, where, first in listed:
        for row in range(first, first + heads):
            features = np.zeros(len(families) + 1)
            for name, scores in judged.scores.get(where, {}).items():
                above = scores[row].mean - scores[row].null
                features[names[name]] = max(features[names[name]], above)
            known = measures.get(where, {}).get("entropy")
            features[-1] = 0.0 if known is None else known.mean[row]
            rows.append(features)
    return np.array(rows)


def _write_clusters(heads: Sequence[AtlasHead]) -> tuple[Cluster, ...]:
    found = []
    for number in sorted({each.cluster for each in heads}):
        members = [each for each in heads if each.cluster == number]
        types: dict[str, int] = {}
        for each in members:
            if each.type is not None:
                types[each.type] = types.get(each.type, 0) + 1
        found.append(Cluster(number=number, heads=len(members), types=types))
    return tuple(found)


def _count(on_progress: Progress | None, total: int) -> Callable[[], None]:
    """A function that is called when one more step is done."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(min(done, total), total)

    return step
