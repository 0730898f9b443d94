"""`atlas`: what every head of a model does, over many texts.

In:   a model that `load` opens, and texts, some with trees, links or mentions.
Out:  `Atlas`. Texts are read a few at a time, and memory grows by a few numbers a head for each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

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
from glassformer.corpus.atlas.costs import Growth, can_cost, collect, measure_cost
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
from glassformer.corpus.atlas.examples import choose_examples
from glassformer.corpus.atlas.measuring import (
    LEAST_TEXTS,
    Column,
    Where,
)
from glassformer.corpus.atlas.profile import MEASURES
from glassformer.corpus.atlas.reading import Findings, gather, read_texts, try_out
from glassformer.corpus.atlas.texts import (
    MarkedText,
    as_marked,
    place_marks,
    repeat_tokens,
    tell_tales,
)
from glassformer.corpus.sources import TextFiles
from glassformer.corpus.workers import Run, Workers
from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.metrics.scores import Numbers
from glassformer.place import Place
from glassformer.text.files import Problems

COST_TEXTS = 24
BUNDLES = 3
PROBES = 16  # random sequences that are read twice, for induction
PROBED = 24  # their length
SHOWN = 8  # the same in an example

Progress = Callable[[int, int], None]  # how much is done, of how much


def atlas(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    texts: Iterable[Any] | Path,
    *,
    name: str | None = None,
    examples: Iterable[Any] | None = None,
    cost_texts: int = COST_TEXTS,
    bundles: int = BUNDLES,
    target_language: str | None = None,
    tokenizer: Any = None,
    device: str | None = None,
    engine: str = "local",
    jobs: int = 1,
    address: str | None = None,
    gpus: float = 0.0,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Atlas:
    """Find out what every head of a model does, over a corpus, with chance levels and intervals.

    Arguments:
        model, tokenizer, device: see `load`. On other processes or machines: a name or a path that can be
            opened there.
        texts: strings; sentences of `read_conllu`, for syntactic relations; pairs of `read_alignments`, for
            word alignment; (text, translation); or `MarkedText`, for mentions of the same thing. Or the path
            of a file or folder of texts (CoNLL-U with its trees), or a `TextFiles`.
        name: what to call the texts; None: as the file or folder, or "texts".
        examples: texts among which examples are chosen; None: short ones of the corpus, and constructed ones.
        cost_texts: how many texts every head is silenced on, one after the other; 0: none.
        bundles: how many examples are kept.
        target_language: what to translate into, where the vocabulary names languages ("fr").
        engine, jobs, address, gpus: as for `study`. Results are the same.
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
    if isinstance(texts, Path):
        texts = TextFiles(texts, trees=True)
    workers = Workers(engine, jobs, address, gpus)
    loaded = workers.load(model, tokenizer, device)
    loaded.require("records")
    if loaded.reads != "text" or loaded.vocabulary_size is None:
        raise InputError("atlases.reads_no_text", model=loaded.name)
    given = as_marked(texts)
    if not given:
        raise InputError("atlases.no_texts")
    if cost_texts < 0:
        raise InputError("atlases.negative_costs", number=cost_texts)
    report = _count(on_progress, len(given) + min(len(given), cost_texts))
    with workers.open(loaded, model, device) as run:
        reading = _read_all(run, [*given, *make_probes(loaded, given, seed)], target_language, seed, report)
        if not reading.profiles:
            error = reading.error or ""
            raise InputError("atlases.nothing_read", model=loaded.name, texts=len(given), error=error)
        chosen = choose_rows(len(reading.read), cost_texts) if can_cost(loaded) else ()
        costs = _measure_costs(run, [reading.read[number] for number in chosen], target_language, report)
    judged = judge(reading, seed)
    damaged = texts.problems if isinstance(texts, TextFiles) else Problems()
    notes = tuple(_note_missing(reading, judged, costs, damaged, wanted=cost_texts > 0))
    shown = [*_repeat(loaded, given, 2, SHOWN, seed), *(() if examples is None else as_marked(examples))]
    candidates = reading.candidates if examples is None else []
    candidates = [*candidates, *try_out(loaded, shown, target_language)]
    short = [each for each in candidates if each.short]
    recordings, edges = choose_examples(short, judged.types, bundles)
    if name is None:
        name = Path(texts.path).name if isinstance(texts, TextFiles) else "texts"
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
        notes=notes,
    )
    return Atlas(body, recordings=tuple(recordings))


def _read_all(
    run: Run, texts: Sequence[MarkedText], language: str | None, seed: int, report: Callable[[], None]
) -> Findings:
    """Measure texts of the corpus and constructed ones, some at a time."""
    found = Findings()
    given: list[int] = []  # texts of the corpus in each task

    def divide() -> Iterator[tuple[Any, ...]]:
        for number, together in enumerate(gather(texts)):
            given.append(sum(each.probe is None for each in together))
            yield together, language, (seed, number)

    for number, part in enumerate(run(read_texts, divide())):
        found.add(part)
        for _ in range(given[number]):
            report()
    return found


def _measure_costs(
    run: Run, texts: Sequence[MarkedText], language: str | None, report: Callable[[], None]
) -> list[Growth]:
    """Text by text, what silencing each head costs; texts that cannot be read are left out."""
    found = []
    for growth in run(measure_cost, ((text, language) for text in texts)):
        report()
        found += [growth] if growth else []
    return found


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


def judge(reading: Findings, seed: int) -> Judged:
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
    """Which heads (head,) do what a detector looks for, beyond chance, guesses, rivals and a fixed offset."""
    found, nulls = np.array(column.scores), np.array(column.nulls)
    passed = (found.mean(axis=0) - nulls.mean(axis=0) >= column.kind.threshold) & (p <= SIGNIFICANT)
    if column.rivals:
        rivals = np.array(column.rivals)
        passed &= found.mean(axis=0) - rivals.mean(axis=0) >= column.kind.threshold
        passed &= compare_with_chance(found, rivals) <= SIGNIFICANT
    if any(column.guess_rates):
        passed &= compare_with_chance(found, np.array(column.guess_rates)[:, None]) <= SIGNIFICANT
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


def _note_missing(
    reading: Findings, judged: Judged, costs: Sequence[Growth], damaged: Problems, *, wanted: bool
) -> Iterator[Message]:
    """What was not measured: texts, costs, detectors that found nothing to look for."""
    if damaged.count:
        yield message("atlases.damaged", count=damaged.count, first=damaged.first[0].as_message())
    if reading.skipped and reading.error is not None:
        yield message("atlases.left_out", count=reading.skipped, reason=reading.error)
    if not costs:
        yield message("atlases.no_costs" if wanted else "atlases.costs_unwanted")
    measured = {each.family for each in judged.detectors}
    missing = [name_family(family) for family in DETECTORS if family not in measured]
    if missing:
        yield message("atlases.not_measured", detectors=tuple(missing), texts=LEAST_TEXTS)


def _write_heads(
    reading: Findings,
    judged: Judged,
    costs: Sequence[Growth],
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
