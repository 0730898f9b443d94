"""The files of a study's folder, each written beside its place and moved there: whole, or not there.

In:   tables as columns, sums, and what a study is about.
Out:  `study.json`, `state.npz`, Parquet tables; the same read back.

    study.json           the model, the settings, how far the study is
    state.npz            all sums, after the last shard that is finished
    texts/NNNNN.parquet  one row for each text of a shard
    values/NNNNN.parquet one row for each text, head and metric of a shard, where they are asked for
    heads.parquet        one row for each head and metric: what the study found
    effects.parquet      one row for each edit, where there are some
    examples/            recordings of the first texts, where they are asked for
"""

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from glassformer.errors import InputError

FORMAT = 2
MANIFEST = "study.json"
STATE = "state.npz"


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Whole or not at all, whatever happens meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:  # a full disk: a partial file would go on taking room
        beside.unlink(missing_ok=True)
        if error.errno is not None and error.filename is None:  # a failed write does not name its file
            error.filename = str(path)
        raise


def remove_unfinished(folder: Path) -> None:
    """Remove what a process that was killed had written beside the files of a study."""
    for path in (*folder.glob(".*"), *folder.glob("*/.*")):
        if _UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)


_UNFINISHED = re.compile(rf"\.({re.escape(MANIFEST)}|{re.escape(STATE)}|\w+\.parquet)\.\d+")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """What a study is about, for people, too."""
    text = json.dumps(content, ensure_ascii=False, indent=2)
    write_file(path, lambda beside: beside.write_text(text + "\n", encoding="utf-8"))


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a study is about; refuses a folder that is none."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("study.not_a_study", folder=folder) from error
    if not isinstance(content, dict) or type(content.get("format")) is not int:
        raise InputError("study.not_a_study", folder=folder)
    if content["format"] != FORMAT:
        seen, known = content["format"], FORMAT
        raise InputError("study.other_format", folder=folder, seen=seen, known=known)
    left_out = content.setdefault("left_out", {"count": 0, "first": []})  # earlier versions wrote none
    if any(type(content.get(name)) is not kind for name, kind in _MANIFEST.items()) or any(
        type(left_out.get(name)) is not kind for name, kind in _LEFT_OUT.items()
    ):
        raise InputError("study.not_a_study", folder=folder)
    return content


_MANIFEST = {"model": str, "model_hash": str, "settings": dict, "complete": bool, "digest": str}
_MANIFEST |= dict.fromkeys(("texts", "failed", "tokens"), int)
_MANIFEST["left_out"] = dict
_LEFT_OUT = {"count": int, "first": list}  # lines and files that could not be read: how many, and which


def write_state(folder: Path, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Arrays by name, and what they are about."""
    memory = BytesIO()
    np.savez(memory, about=np.array(json.dumps(about)), **arrays)
    write_file(folder / STATE, lambda beside: beside.write_bytes(memory.getbuffer()))


def read_state(folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Arrays by name, and what they are about; None where nothing has been finished yet."""
    path = folder / STATE
    if not path.exists():
        return None
    with explain_damage(path), path.open("rb") as file, np.load(file) as content:
        arrays = {name: content[name] for name in content.files}
        about = json.loads(str(arrays.pop("about")))
    return arrays, about


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Say which file of a study cannot be read."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError, zlib.error) as error:
        raise InputError("study.damaged", path=path, reason=str(error)[:200]) from error


def write_table(path: Path, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
    """A Parquet file of these columns."""
    arrow, parquet = load_arrow()
    table = arrow.table(dict(columns))
    write_file(path, lambda beside: parquet.write_table(table, beside, write_page_checksum=True))


def read_tables(paths: Sequence[Path], columns: Sequence[str]) -> Any:
    """These columns of Parquet files as one table of pyarrow; damaged files are refused."""
    arrow, parquet = load_arrow()
    found = []
    for path in paths:
        with explain_damage(path):
            table = parquet.read_table(path, page_checksum_verification=True)
            table.validate(full=True)
            found.append(table.select(columns))
    return arrow.concat_tables(found)


def load_arrow() -> tuple[Any, Any]:
    """pyarrow, which is installed on request, and its module for Parquet."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError("study.no_pyarrow") from error
