"""`glassformer study`: every head of a model over many texts, with intervals; `--show` prints a study."""

import json
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.inputs import (
    add_language,
    add_text_files,
    add_workers,
    open_text_files,
    read_workers,
    require_model,
)
from glassformer.cli.output import show_remaining
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import Message, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from glassformer.studies import Study

POSITION = 76
SHOWN = 3  # failed texts
EDITS = 10  # the strongest; `--json` has all
EXAMPLES = (
    "glassformer study zoo/bert texts.txt --output animals",
    "glassformer study zoo/gpt2 reviews.parquet --column text --loss --output reviews --engine ray",
    "glassformer study ./my-sentence-encoder texts.txt --similarity --output silenced",
    "glassformer study --show animals --json",
    "glassformer study --pool animals plants --output nature",
)


def add_arguments(parser: Parser) -> None:
    """A model and texts, or a study to show."""
    parser.add_argument("model", metavar="MODEL", nargs="?")
    add_text_files(parser)
    parser.add_argument("--show", metavar="FOLDER", type=Path)
    parser.add_argument("--pool", metavar="FOLDER | BUNDLE", nargs="+", type=Path)
    parser.add_argument("--output", metavar="FOLDER", type=Path)
    parser.add_argument("--metric", metavar="NAME", action="append", default=[])
    outcome = parser.add_mutually_exclusive_group()
    outcome.add_argument("--loss", action="store_true")
    outcome.add_argument("--similarity", action="store_true")
    parser.add_argument("--values", action="store_true")
    parser.add_argument("--examples", metavar="N", type=int, default=0)
    parser.add_argument("--shard", metavar="N", type=int)
    add_workers(parser)
    add_language(parser)
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """Study, or show what was found."""
    from glassformer.studies import open_study

    if sum(each is not None for each in (arguments.model, arguments.show, arguments.pool)) > 1:
        raise InputError("cli.study.show_alone")
    if arguments.show is not None:
        found = open_study(arguments.show)
    elif arguments.pool:
        found = _pool(arguments)
    else:
        found = _study(arguments)
    if arguments.json:
        print(json.dumps(_summarise(found), ensure_ascii=False, allow_nan=False))
        return
    print(found)
    for line in (*_list_left_out(found), *_list_failed(found), *_list_heads(found), *_list_effects(found)):
        print(line)


def _study(arguments: Arguments) -> "Study":
    from glassformer.corpus.study import study
    from glassformer.recorders.causes.outcomes import Loss, Similarity

    if arguments.model is None or arguments.texts is None or arguments.output is None:
        raise InputError("cli.study.what")
    files = open_text_files(arguments)
    with _explain_interrupt(arguments.output), show_remaining(message("cli.study.progress")) as report:
        found = study(
            require_model(arguments.model),
            files,
            arguments.output,
            metrics=arguments.metric or None,
            outcome=Loss() if arguments.loss else Similarity() if arguments.similarity else None,
            values=arguments.values,
            examples=arguments.examples,
            target_language=arguments.target_language,
            **read_workers(arguments),
            shard=arguments.shard,
            on_progress=lambda progress: report(progress.texts, progress.total, progress.remaining),
        )
    if found.texts == 0:
        reason = found.table("texts")["reason"][0].as_py()
        raise InputError("cli.study.none_measured", failed=found.failed, reason=reason)
    if not arguments.json:
        for note in (*files.problems.remarks, *_advise(found, arguments.jobs)):
            print(note)
    return found


def _advise(study: "Study", jobs: int) -> "Iterator[Message]":
    """How more of the processes would have had something to do."""
    texts, size = study.texts + study.failed, study.manifest["settings"]["shard"]
    shards = -(-texts // size)
    if shards < min(jobs, texts):
        yield message("cli.study.few_shards", shards=shards, jobs=jobs, size=-(-texts // jobs))


@contextmanager
def _explain_interrupt(folder: Path) -> "Iterator[None]":
    """Say what is kept where a study is interrupted, and how it goes on."""
    from glassformer.studies import open_study

    try:
        yield
    except KeyboardInterrupt:
        with suppress(InputError):  # nothing is there yet
            print(open_study(folder), file=sys.stderr)
            print(message("cli.study.goes_on"), file=sys.stderr)
        raise


def _pool(arguments: Arguments) -> "Study":
    """Studies as one, or recordings as a study; a folder that is no study stands for the bundles in it."""
    from glassformer.corpus.study import study_recordings
    from glassformer.studies import is_study, pool_studies

    if arguments.output is None:
        raise InputError("cli.study.pool_where")
    if any(map(is_study, arguments.pool)):
        return pool_studies(arguments.pool, arguments.output)
    bundles = [bundle for each in arguments.pool for bundle in sorted(each.glob("*.bundle")) or [each]]
    metrics, values = arguments.metric or None, arguments.values
    return study_recordings(bundles, arguments.output, metrics=metrics, values=values)


def _list_left_out(study: "Study") -> "Iterator[Message]":
    """The first lines and files that could not be read."""
    left_out = study.manifest["left_out"]
    for line in left_out["first"]:
        yield message("text.problem.listed", problem=line)
    if more := left_out["count"] - len(left_out["first"]):
        yield message("text.problem.more", count=more)


def _list_failed(study: "Study") -> "Iterator[Message]":
    """A few of the texts that could not be measured, with the reasons."""
    if study.failed:
        texts = study.table("texts")
        for row in texts.filter(texts["failed"]).slice(0, SHOWN).to_pylist():
            yield message("cli.study.failed_text", number=row["text"], reason=row["reason"])


def _list_heads(study: "Study") -> "Iterator[Message]":
    """Of each metric the heads with the smallest and the largest value."""
    metrics: dict[str, list[dict[str, Any]]] = {}
    for row in _read(study, "heads"):
        metrics.setdefault(row["metric"], []).append(row)
    for name, rows in metrics.items():
        ordered = sorted(rows, key=lambda row: row["value"])
        yield message("cli.study.metric", name=name, least=_name(ordered[0]), most=_name(ordered[-1]))


def _list_effects(study: "Study") -> "Iterator[Message]":
    """The outcome without edits, and the edits that change it most."""
    effects = _read(study, "effects")
    for row in effects:
        if not row["edit"]:
            given = {"value": row["value"], "interval": _describe_interval(row, "interval")}
            yield message("cli.study.unedited", outcome=row["outcome"], **given)
    rows = [row for row in effects if row["edit"]]
    for row in sorted(rows, key=lambda row: -abs(row["value"]))[:EDITS]:
        given = {"value": row["value"], "interval": _describe_interval(row, "interval_of_change")}
        yield message("cli.study.effect", edit=row["edit"], outcome=row["outcome"], **given)
    if len(rows) > EDITS:
        yield message("cli.study.more_edits", count=len(rows) - EDITS)


def _name(row: dict[str, Any]) -> Message:
    place = f"{row['stack']}.{row['kind']}.{row['layer']}"
    interval = _describe_interval(row, "interval")
    return message("cli.study.head", place=place, head=row["head"], value=row["value"], interval=interval)


def _describe_interval(row: "Mapping[str, Any]", name: str) -> Message:
    if row["low"] != row["low"]:  # NaN: of fewer than two texts
        return message("cli.study.no_interval")
    return message(f"cli.study.{name}", low=row["low"], high=row["high"])


def _read(study: "Study", name: str) -> list[dict[str, Any]]:
    """The rows of a table that have a value; none where there is no such table yet."""
    if not (study.folder / f"{name}.parquet").exists():
        return []
    return [row for row in study.table(name).to_pylist() if row["value"] == row["value"]]


def _summarise(study: "Study") -> dict[str, object]:
    tables = {}
    for name in ("heads", "effects"):
        if (study.folder / f"{name}.parquet").exists():
            rows = study.table(name).to_pylist()
            tables[name] = [
                {key: None if value != value else value for key, value in row.items()} for row in rows
            ]  # NaN is not JSON
    return {**study.manifest, **tables}
