"""`study`: one model over many texts, shard by shard, so that it can be killed at any moment and go on.

In:   a model that `load` opens, texts, what to measure, a folder.
Out:  a `Study`. A shard is a fixed run of texts; sums of shards are added in order, so that neither
      interruptions nor the engine change the result. Memory does not grow with the texts.
"""

import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from glassformer import bundle
from glassformer.corpus.measuring import (
    Measuring,
    Part,
    Settings,
    Shard,
    Tell,
    choose_metrics,
    identify,
    measure_recordings,
    measure_shard,
    prepare_shard,
)
from glassformer.corpus.sources import TextFiles
from glassformer.corpus.workers import Workers
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.recorders.causes.outcomes import Outcome
from glassformer.recorders.causes.sweep import read_rows
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.many import MOST_TOKENS, MOST_TOKENS_GPU, Text, check_texts, record_many
from glassformer.recording import Recording
from glassformer.runlog.alive import try_lock
from glassformer.studies import Study
from glassformer.studies.files import (
    FORMAT,
    MANIFEST,
    STATE,
    load_arrow,
    read_manifest,
    remove_unfinished,
    write_json,
    write_table,
)
from glassformer.studies.moments import RESAMPLES
from glassformer.studies.study import State, check_settings, finish_study
from glassformer.text.files import Problems
from glassformer.text.identity import identify_tokenizer
from glassformer.text.languages import find_language

SHARD = 1024  # texts
SHARD_OF_EFFECTS = 16  # each is read once for every edit, so that 1,024 would take an hour
SHOWN = 60  # characters of a text in an error
SWITCH = 2e-5  # seconds
AHEAD = 2  # shards that are read or measured while one is added up, on a GPU

Numbered = list[tuple[int, Text]]


class Progress(NamedTuple):
    """How far a study is.

    >>> seen = []
    >>> _ = gf.study("zoo/bert", ["The cat sleeps."], metrics=["entropy"], on_progress=seen.append)
    >>> seen[0].texts, seen[0].total, seen[0].remaining
    (1, 1, 0.0)
    """

    texts: int  # read, those that failed included
    total: int | None  # None: not known
    tokens: int
    seconds: float  # since this call began
    remaining: float | None  # seconds, if it goes on as fast


def study(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    texts: Iterable[Text] | Path,
    folder: str | Path | None = None,
    *,
    metrics: Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    edits: Sequence[Edit | Sequence[Edit]] | None = None,
    outcome: Outcome | None = None,
    values: bool = False,
    examples: int = 0,
    target_language: str | None = None,
    tokenizer: Any = None,
    device: str | None = None,
    engine: str = "local",
    jobs: int = 1,
    address: str | None = None,
    gpus: float = 0.0,
    shard: int | None = None,
    most_tokens: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Study:
    """Measure every head of a model over many texts; each number has a 95 % interval over the texts.

    Arguments:
        model, tokenizer, device, target_language: see `record`. On other processes or machines: a name or a
            path that can be opened there.
        texts: any iterable of texts or pairs (see `record_many`), a `TextFiles`, or the path of a file or
            folder. It has to give the same texts again when a study goes on.
        folder: where the study is kept; the same call with the same folder goes on with a study that was
            interrupted, and refuses other settings, weights or texts. None: a new temporary folder.
        metrics: names of metrics of heads, or a mapping from names to parameters; by default all that need
            statistics alone. () measures none.
        edits, outcome: what each edit does to an outcome, see `sweep`. With an outcome and no edits, every
            head is silenced, one after the other.
        values: also keep one row for each text, head and metric.
        examples: keep the recordings of so many texts.
        engine, jobs, address, gpus: "local" with 1 job runs in this process; more run in processes, "ray" on
            a cluster, with so many GPUs for each task. Results are the same.
        shard: texts that are measured, and kept, together; by default 1,024, with an outcome 16. An
            interruption loses those that are under way.
        most_tokens: of a batch; by default 4,096, on a GPU 32,768.
        on_progress: called with a `Progress` after each shard; in this process also within one, about every
            2,048 tokens.

    A text that cannot be measured is counted and listed in the table "texts", with the reason.

    >>> study = gf.study("zoo/bert", ["The cat sleeps.", "", "A dog barks at the moon."], metrics=["entropy"])
    >>> study.frame("heads")[["value", "low", "high"]].shape  # one row for each head
    (48, 3)
    >>> study.frame("texts")["failed"].tolist()
    [False, True, False]
    """
    load_arrow()
    if shard is None:
        shard = SHARD if outcome is None else SHARD_OF_EFFECTS
    if isinstance(texts, str):
        raise InputError("study.single_text", text=texts[:SHOWN])
    given: Iterable[Text] = TextFiles(texts) if isinstance(texts, Path) else check_texts(texts)
    if not isinstance(given, Iterable) or shard < 1 or jobs < 1 or examples < 0:
        raise InputError("study.wrong_call", shard=shard, jobs=jobs, examples=examples)
    _refuse_inside(given, folder)
    workers = Workers(engine, jobs, address, gpus)
    loaded = workers.load(model, tokenizer, device)
    loaded.require("records")
    if most_tokens is None:
        on_gpu = "cuda" in (loaded.device.type, str(device).partition(":")[0])
        most_tokens = MOST_TOKENS_GPU if on_gpu else MOST_TOKENS
    settings = Settings(
        choose_metrics(metrics),
        None if edits is None else tuple(each if isinstance(each, Edit) else tuple(each) for each in edits),
        outcome,
        target_language,
        values,
        RESAMPLES,
        most_tokens,
    )
    if (edits is not None and outcome is None) or not (settings.metrics or outcome):
        raise InputError("study.nothing_to_measure")
    _check_asked(loaded, settings)
    read_by = None if loaded.tokenizer is None else identify_tokenizer(loaded.tokenizer)
    about = {"model": loaded.name, "model_hash": loaded.identity.hash(), "tokenizer": read_by}
    described = {**settings.describe(), "shard": shard, "examples": examples, "most_tokens": most_tokens}
    if workers.elsewhere:
        run: Any = _Elsewhere(workers, loaded, model, device, settings)
    else:
        run = _InProcess(loaded, settings)
    with _hold(folder) as place:
        driver = _Driver(
            place, _begin(place, about, described), _count(given), on_progress, settings.values, given
        )
        first = list(islice(given, examples))
        whole = chain(first, given) if iter(given) is given else given  # an iterator is read once only
        done = driver.run(whole, shard, run)
        _keep_examples(place, loaded, first, target_language)
    return done


def study_recordings(
    recordings: Iterable[Recording | str | Path],
    folder: str | Path | None = None,
    *,
    metrics: Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    values: bool = False,
) -> Study:
    """Pool recordings of one model, or bundles that were saved, into a study: no model runs.

    >>> recordings = [gf.record("zoo/bert", text) for text in ("The cat sleeps.", "A dog barks.")]
    >>> gf.study_recordings(recordings, metrics=["entropy", "previous_token"]).texts
    2
    """
    load_arrow()
    settings = Settings(choose_metrics(metrics), values=values)
    opened = (each if isinstance(each, Recording) else bundle.open(Path(each)) for each in recordings)
    first = next(opened, None)
    if first is None:
        raise InputError("study.nothing_to_pool")

    def check(recording: Recording) -> Recording:
        if recording.evidence.model_hash != first.evidence.model_hash:
            raise InputError("study.other_model", seen=recording.model, known=first.model)
        return recording

    about = {"model": first.model, "model_hash": first.evidence.model_hash, "tokenizer": None}
    described = {**settings.describe(), "shard": SHARD, "examples": 0, "most_tokens": MOST_TOKENS}
    with _hold(folder) as place:
        driver = _Driver(place, _begin(place, about, described), None, None, values)
        return driver.run((check(each) for each in (first, *opened)), SHARD, _InProcess(None, settings))


@contextmanager
def _hold(folder: str | Path | None) -> Iterator[Path]:
    """The folder of a study, for this process alone until the study ends; None: a new one."""
    place = Path(tempfile.mkdtemp(prefix="glassformer-study-")) if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    try:
        number = os.open(place, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        yield place
        return
    try:
        if not try_lock(number):
            raise InputError("study.in_use", folder=place)
        yield place
    finally:
        os.close(number)


def _begin(folder: Path, about: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """The manifest of a new study, or that of one that goes on; refuses what is another study."""
    manifest = {"format": FORMAT, **about, "settings": settings, "complete": False}
    manifest |= {"texts": 0, "failed": 0, "tokens": 0, "digest": "", "left_out": _list_left_out(())}
    remove_unfinished(folder)
    found = manifest if {path.name for path in folder.iterdir()} <= {MANIFEST} else read_manifest(folder)
    if found is manifest or State.open(folder).texts == 0:  # nothing that other settings could contradict
        tables = (path for name in ("texts", "values") for path in folder.glob(f"{name}/[0-9]*.parquet"))
        for path in (folder / STATE, *tables):
            path.unlink(missing_ok=True)
        write_json(folder / MANIFEST, manifest)
        return manifest
    check_settings("study.other_setting", folder, found["settings"], settings)
    if found["model_hash"] != about["model_hash"]:
        raise InputError("study.other_weights", folder=folder, seen=found["model"], given=about["model"])
    if found.get("tokenizer") != about["tokenizer"]:
        raise InputError("study.other_tokenizer", folder=folder)
    return found


def _check_asked(model: LoadedModel, settings: Settings) -> None:
    """Refuse at once what no text could be measured with."""
    if settings.outcome is not None:
        if not isinstance(settings.outcome, Outcome):
            raise InputError("recorders.causes.not_an_outcome", seen=repr(settings.outcome))
        model.require("edits")
        settings.outcome.check(model)
    if settings.edits is not None:
        read_rows(settings.edits)
    if settings.target_language is not None:
        find_language(model.tokenizer, settings.target_language)


def _refuse_inside(texts: Iterable[Any], folder: str | Path | None) -> None:
    """Refuse a study inside the folder of its texts: its own tables would be texts, too."""
    if folder is None or not isinstance(texts, TextFiles):
        return
    place, source = Path(folder).resolve(), Path(texts.path).resolve()
    if source.is_dir() and place.is_relative_to(source):
        raise InputError("study.inside", folder=folder, texts=texts.path)


def _list_left_out(texts: Iterable[Any]) -> dict[str, Any]:
    """Lines and files that could not be read: how many, and which the first are."""
    problems = texts.problems if isinstance(texts, TextFiles) else Problems()
    return {"count": problems.count, "first": [each.as_message().text("en") for each in problems.first]}


def _count(texts: Iterable[Any]) -> int | None:
    if isinstance(texts, TextFiles):
        return texts.count()
    return len(texts) if isinstance(texts, Sized) else None


@dataclass(slots=True)
class _InProcess:
    """Measures one shard after the other, here."""

    model: LoadedModel | None
    settings: Settings

    def measure(
        self, shards: Iterator[tuple[int, Any]], tell: Tell | None = None
    ) -> Iterator[tuple[int, Shard]]:
        if self.model is None:
            for number, texts in shards:
                yield number, measure_recordings(texts, self.settings)
        elif self.model.device.type == "cuda" and self.settings.outcome is None:
            yield from self._measure_ahead(self.model, shards)
        else:
            for number, texts in shards:
                yield number, measure_shard(self.model, texts, self.settings, tell)

    def _measure_ahead(
        self, model: LoadedModel, shards: Iterator[tuple[int, Any]]
    ) -> Iterator[tuple[int, Shard]]:
        """One thread reads the shard after the next, one measures the next on a GPU, this one adds up."""

        def prepare(texts: Any) -> Measuring:
            return prepare_shard(model, texts, self.settings)

        def measure(reading: Future[Measuring]) -> Measuring:
            shard = reading.result()
            shard.measure()
            return shard

        with (
            _switching_often(),
            ThreadPoolExecutor(1, "glassformer-read") as reader,
            ThreadPoolExecutor(1, "glassformer-measure") as runner,
        ):
            waiting: deque[tuple[int, Future[Measuring]]] = deque()
            for number, texts in shards:
                waiting.append((number, runner.submit(measure, reader.submit(prepare, texts))))
                if len(waiting) > AHEAD:
                    first, running = waiting.popleft()
                    yield first, running.result().finish()
            for first, running in waiting:
                yield first, running.result().finish()


@contextmanager
def _switching_often() -> Iterator[None]:
    """Threads get the interpreter lock back at once.

    Every operation of torch gives it away; a thread that queues kernels would then wait 5 ms for one that
    reads texts, hundreds of times for each batch, while the GPU has nothing to do.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@dataclass(slots=True)
class _Elsewhere:
    """Measures several shards at a time, in other processes; a lost worker's shard is measured again."""

    workers: Workers
    loaded: LoadedModel
    model: str | Path
    device: str | None
    settings: Settings

    def measure(
        self, shards: Iterator[tuple[int, Any]], tell: Tell | None = None
    ) -> Iterator[tuple[int, Shard]]:
        del tell  # of shards under way elsewhere nothing is known until they end
        numbers: deque[int] = deque()

        def announce() -> Iterator[tuple[Any, Settings]]:
            for number, texts in shards:
                numbers.append(number)
                yield texts, self.settings

        with self.workers.open(self.loaded, self.model, self.device) as run:
            for shard in run(measure_shard, announce()):
                yield numbers.popleft(), shard


@dataclass(slots=True)
class _Driver:
    """Reads texts, adds shards up in their order and keeps them."""

    folder: Path
    manifest: dict[str, Any]
    total: int | None
    on_progress: Callable[[Progress], None] | None
    values: bool
    source: Iterable[Any] = ()  # of the texts

    def run(self, texts: Iterable[Any], size: int, measuring: Any) -> Study:
        state = State.open(self.folder)
        if self.manifest["complete"]:
            self._skip(texts, size, state.shards, state.digest, whole=True)
            return Study(self.folder, self.manifest)
        start, began = time.monotonic(), state.texts + state.failed
        remaining = self._skip(texts, size, state.shards, state.digest)
        digests: dict[int, str] = {}

        def announce() -> Iterator[tuple[int, Numbered]]:
            for number, part in enumerate(remaining, state_shards):
                digests[number] = identify(part)
                yield number, part

        def tell(part: Part) -> None:
            self._tell(state, start, began, part)

        state_shards = state.shards
        for number, shard in measuring.measure(announce(), tell):
            self._write_tables(number, shard)  # before the state: they are written again if it is not kept
            state.add(shard.state, self.folder)
            state.digest = _chain(state.digest, digests.pop(number))
            state.save(self.folder)
            self._tell(state, start, began)
        if state.texts + state.failed == 0:
            raise InputError("study.no_texts")
        left_out = _list_left_out(self.source)
        return finish_study(self.folder, {**self.manifest, "left_out": left_out}, state)

    def _skip(
        self, texts: Iterable[Any], size: int, shards: int, digest: str, *, whole: bool = False
    ) -> Iterator[Numbered]:
        """The shards that are not measured yet; those before must be the texts that were measured."""
        parts = _divide(texts, size)
        seen = ""
        for part in islice(parts, shards):
            seen = _chain(seen, identify(part))
        if seen != digest or (whole and next(parts, None) is not None):
            raise InputError("study.other_texts", folder=self.folder)
        return parts

    def _write_tables(self, number: int, shard: Shard) -> None:
        rows = shard.rows
        write_table(
            self.folder / "texts" / f"{number:05}.parquet",
            {
                "text": [row.number for row in rows],
                "tokens": [row.tokens for row in rows],
                "failed": [row.reason is not None for row in rows],
                "reason": ["" if row.reason is None else row.reason.text("en") for row in rows],
            },
        )
        if shard.values is not None:
            write_values(self.folder / "values" / f"{number:05}.parquet", shard)

    def _tell(self, state: State, start: float, began: int, part: Part = Part()) -> None:  # noqa: B008
        if self.on_progress is None:
            return
        texts, seconds = state.texts + state.failed, time.monotonic() - start
        left, work = None, texts + part.work
        if self.total is not None and work > began:
            left = (self.total - work) * seconds / (work - began)
        tokens = state.tokens + part.tokens
        self.on_progress(Progress(texts + part.texts, self.total, tokens, seconds, left))


def write_values(path: Path, shard: Shard) -> None:
    """One row for each text, head and metric of a shard."""
    assert shard.values is not None
    numbers = [row.number for row in shard.rows if row.reason is None]
    keys = shard.state.head_keys
    columns = {
        name: [key[at] for key in keys] * len(numbers)
        for at, name in enumerate(("stack", "kind", "layer", "head", "metric"))
    }
    texts = [number for number in numbers for _ in keys]
    write_table(path, {"text": texts, **columns, "value": shard.values.ravel()})


def _divide(texts: Iterable[Any], size: int) -> Iterator[Numbered]:
    """Runs of texts with their numbers."""
    numbered = enumerate(texts)
    while part := list(islice(numbered, size)):
        yield part


def _chain(before: str, digest: str) -> str:
    return sha256(f"{before}{digest}".encode()).hexdigest()


def _keep_examples(
    folder: Path, model: LoadedModel, texts: Sequence[Text], target_language: str | None
) -> None:
    paths = [folder / "examples" / f"{number:05}.bundle" for number in range(len(texts))]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    if not missing:
        return
    recordings = record_many(model, [texts[number] for number in missing], target_language=target_language)
    for at, recording in recordings:
        path = paths[missing[at]]
        path.parent.mkdir(exist_ok=True)
        recording.save(path)
