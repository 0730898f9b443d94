"""`Study`: what one model does over many texts.

In:   a folder that `gf.study` wrote.
Out:  its tables, for pyarrow or pandas; several studies pooled into one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.studies.files import (
    FORMAT,
    MANIFEST,
    STATE,
    explain_damage,
    read_manifest,
    read_state,
    read_tables,
    write_json,
    write_state,
    write_table,
)
from glassformer.studies.moments import Moments

if TYPE_CHECKING:
    import pandas

HEAD_KEYS = ("stack", "kind", "layer", "head", "metric")
EFFECT_KEYS = ("edit", "outcome", "stack", "kind", "layer", "head")  # of which head, if of one
NUMBERS = ("texts", "value", "low", "high", "mean", "mean_low", "mean_high", "deviation", "least", "most")
TABLES = {
    "heads": (*HEAD_KEYS, *NUMBERS),
    "effects": (*EFFECT_KEYS, *NUMBERS),
    "texts": ("text", "tokens", "failed", "reason"),
    "values": ("text", *HEAD_KEYS, "value"),
}
LONGEST_SHOWN = 200  # characters of a setting
MOST_LISTED = 20  # lines and files that could not be read, of a pool


@dataclass(slots=True)
class State:
    """How far a study is: sums over all shards before `shards`."""

    shards: int = 0
    digest: str = ""  # of all texts so far
    texts: int = 0
    failed: int = 0
    tokens: int = 0
    head_keys: tuple[tuple[Any, ...], ...] = ()  # as HEAD_KEYS
    effect_keys: tuple[tuple[Any, ...], ...] = ()  # as EFFECT_KEYS
    heads: Moments | None = None
    effects: Moments | None = None

    def add(self, other: "State", folder: Path) -> None:
        """The texts of another part of the same study, or of another study of the same model."""
        for name, keys in (("heads", "head_keys"), ("effects", "effect_keys")):
            found = getattr(other, name)
            if found is None:
                continue
            if getattr(self, name) is None:
                setattr(self, keys, getattr(other, keys))
                setattr(self, name, Moments.of_none(len(found.texts), len(found.resampled_texts)))
            if getattr(self, keys) != getattr(other, keys):
                raise InputError("study.other_heads", folder=folder)
            getattr(self, name).add(found)
        for name in ("shards", "texts", "failed", "tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def save(self, folder: Path) -> None:
        about = {name: getattr(self, name) for name in _PLAIN}
        parts = {"heads": self.heads, "effects": self.effects}
        arrays = {
            f"{part}/{name}": array
            for part, moments in parts.items()
            if moments is not None
            for name, array in moments.arrays().items()
        }
        write_state(folder, arrays, about)

    @classmethod
    def open(cls, folder: Path) -> "State":
        found = read_state(folder)
        if found is None:
            return cls()
        arrays, about = found
        with explain_damage(folder / STATE):
            state = cls(**{name: about[name] for name in _PLAIN})
            state.head_keys, state.effect_keys = (
                tuple(map(tuple, each)) for each in (state.head_keys, state.effect_keys)
            )
            for part in ("heads", "effects"):
                own = {
                    name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(part)
                }
                setattr(state, part, Moments(**own) if own else None)
        return state


_PLAIN = ("shards", "digest", "texts", "failed", "tokens", "head_keys", "effect_keys")


@dataclass(frozen=True, slots=True, repr=False)
class Study:
    """One model over many texts; the tables are described in docs/how-to/corpus.md.

    >>> study = gf.study("zoo/bert", ["The cat sleeps.", "A dog barks at the moon."], metrics=["entropy"])
    >>> study.texts, study.failed
    (2, 0)
    >>> study.frame("heads").columns.tolist()[:7]
    ['stack', 'kind', 'layer', 'head', 'metric', 'texts', 'value']
    """

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def model(self) -> str:
        return str(self.manifest["model"])

    @property
    def complete(self) -> bool:
        """Whether all texts were read; otherwise the same call goes on with it."""
        return bool(self.manifest["complete"])

    @property
    def texts(self) -> int:
        """That were measured."""
        return int(self.manifest["texts"])

    @property
    def failed(self) -> int:
        """Texts that could not be measured; the table "texts" says why."""
        return int(self.manifest["failed"])

    @property
    def tokens(self) -> int:
        return int(self.manifest["tokens"])

    @property
    def left_out(self) -> int:
        """Lines and files that could not be read as text; `manifest["left_out"]` lists the first of them."""
        return int(self.manifest["left_out"]["count"])

    def has(self, name: str) -> bool:
        """Whether there is such a table: effects of an outcome, values, heads of a finished study."""
        return (self.folder / f"{name}.parquet").exists() or any((self.folder / name).glob("[0-9]*.parquet"))

    def paths(self, name: str) -> list[Path]:
        """The Parquet files of a table: "heads", "effects", "texts" or "values"."""
        if name not in TABLES:
            raise InputError("study.unknown_table", name=name, known=tuple(TABLES))
        single = self.folder / f"{name}.parquet"
        found = [single] if single.exists() else sorted((self.folder / name).glob("[0-9]*.parquet"))
        if not found:
            raise InputError("study.no_table", name=name, folder=self.folder)
        return found

    def table(self, name: str = "heads") -> Any:
        """A table of pyarrow."""
        return read_tables(self.paths(name), TABLES[name])

    def frame(self, name: str = "heads") -> "pandas.DataFrame":
        """The same for pandas."""
        if find_spec("pandas") is None:
            raise InputError("study.no_pandas")
        return self.table(name).to_pandas()

    def __str__(self) -> str:
        code = "study.summary" if self.complete else "study.summary_incomplete"
        counts: dict[str, Any] = {"texts": self.texts, "failed": self.failed, "tokens": self.tokens}
        lines = [message(code, model=self.model, folder=self.folder, **counts)]
        if self.left_out:
            lines.append(message("study.left_out", count=self.left_out))
        return "\n".join(map(str, lines))

    __repr__ = __str__


def is_study(folder: str | Path) -> bool:
    """Whether `open_study` finds a study there."""
    return (Path(folder) / MANIFEST).is_file()


def open_study(folder: str | Path) -> Study:
    """A study that `gf.study` wrote, finished or not.

    >>> study = gf.study("zoo/bert", ["The cat sleeps."], "cats", metrics=["entropy"])
    >>> gf.open_study("cats").texts
    1
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if not manifest["complete"]:  # totals are written at the end; until then they are in the sums
        state = State.open(folder)
        manifest |= {"texts": state.texts, "failed": state.failed, "tokens": state.tokens}
    return Study(folder, manifest)


def finish_study(folder: Path, manifest: Mapping[str, Any], state: State) -> Study:
    """Write the tables of a study whose texts have all been read."""
    for name, keys, names in (
        ("heads", state.head_keys, HEAD_KEYS),
        ("effects", state.effect_keys, EFFECT_KEYS),
    ):
        moments = getattr(state, name)
        if moments is not None:
            columns = {each: [key[at] for key in keys] for at, each in enumerate(names)}
            counted = {"texts": moments.texts.astype(np.int64)}
            write_table(folder / f"{name}.parquet", {**columns, **counted, **moments.describe()})
    counts = {"texts": state.texts, "failed": state.failed, "tokens": state.tokens, "digest": state.digest}
    done = {**manifest, **counts, "complete": True}
    write_json(folder / MANIFEST, done)
    return Study(folder, done)


def pool_studies(studies: Iterable[Study | str | Path], folder: str | Path) -> Study:
    """Several finished studies of one model, with the same settings, as one; their texts count alike.

    >>> cats = gf.study("zoo/bert", ["The cat sleeps."], metrics=["entropy"])
    >>> dogs = gf.study("zoo/bert", ["A dog barks at the moon."], metrics=["entropy"])
    >>> gf.pool_studies([cats, dogs], "both").texts
    2
    """
    opened = [each if isinstance(each, Study) else open_study(each) for each in studies]
    folder = Path(folder)
    _check_pool(opened, folder)
    state = State()
    for each in opened:
        state.add(State.open(each.folder), each.folder)
    pooled = [part for each in opened for part in _list_parts(each)]
    state.digest = sha256("".join(part["digest"] for part in pooled).encode()).hexdigest()
    first = opened[0].manifest
    read_by = next((known for each in opened if (known := each.manifest.get("tokenizer"))), None)
    manifest = {"format": FORMAT, "model": opened[0].model, "model_hash": first["model_hash"]}
    manifest |= {"tokenizer": read_by, "settings": first["settings"], "pooled": pooled}
    kept = [each.manifest["left_out"] for each in opened]
    listed = [line for each in kept for line in each["first"]]
    manifest["left_out"] = {"count": sum(each["count"] for each in kept), "first": listed[:MOST_LISTED]}
    _copy_tables(opened, folder)
    state.save(folder)
    return finish_study(folder, manifest, state)


def check_settings(code: str, folder: Path, seen: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse a study whose settings differ from those that are known; the error names the first."""
    for name in dict.fromkeys((*known, *seen)):
        if seen.get(name) != known.get(name):
            one, other = (str(each.get(name))[:LONGEST_SHOWN] for each in (seen, known))
            raise InputError(code, folder=folder, name=name, seen=one, known=other)


def _check_pool(studies: Sequence[Study], folder: Path) -> None:
    if not studies:
        raise InputError("study.nothing_to_pool")
    if folder.exists() and any(folder.iterdir()):
        raise InputError("study.folder_in_use", folder=folder)
    for each in studies:
        if not each.complete:
            raise InputError("study.pool_incomplete", folder=each.folder)
        first = studies[0].manifest
        if each.manifest["model_hash"] != first["model_hash"]:
            raise InputError(
                "study.pool_weights", folder=each.folder, seen=each.model, known=studies[0].model
            )
        check_settings("study.pool_setting", each.folder, each.manifest["settings"], first["settings"])
    tokenizers = {known: each for each in studies if (known := each.manifest.get("tokenizer"))}
    if len(tokenizers) > 1:  # recordings, and models that are given ids, have none
        raise InputError("study.pool_tokenizer", folder=[*tokenizers.values()][1].folder)
    digests = [part["digest"] for each in studies for part in _list_parts(each)]
    if len(set(digests)) < len(digests):
        raise InputError("study.pool_twice")


def _list_parts(study: Study) -> Sequence[Mapping[str, str]]:
    """The studies that a pooled one was made of; of any other, itself."""
    own = {"model": study.model, "digest": study.manifest["digest"]}
    return study.manifest.get("pooled") or [own]


def _copy_tables(studies: Sequence[Study], folder: Path) -> None:
    """Texts and their values, numbered through."""
    before = shard = 0
    for each in studies:
        paths = each.paths("texts")
        for path in paths:
            for name in ("texts", "values"):
                source = each.folder / name / path.name
                if source.exists():
                    table = read_tables([source], TABLES[name]).to_pydict()
                    table["text"] = [number + before for number in table["text"]]
                    write_table(folder / name / f"{shard:05}.parquet", table)
            shard += 1
        before += each.texts + each.failed
