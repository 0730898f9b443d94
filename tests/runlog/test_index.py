"""The index of one log: what is added is found, also after a kill between two writes."""

import shutil
from pathlib import Path

import pytest

from glassformer.runlog import index as indexes
from glassformer.runlog.index import LogIndex
from glassformer.runlog.lines import parse_scalars


def lines(*steps: int) -> bytes:
    return b"".join(b'{"step": %d, "loss": %d.5}\n' % (step, step) for step in steps)


def read(log: Path, folder: Path) -> list[float]:
    index = LogIndex(log, folder, parse_scalars, writable=False)
    series, _ = index.read(("loss",), slice(0, 1), None, None, 1000)
    index.close()
    return series.mean[:, 0].tolist()


def test_a_kill_after_any_write_of_the_index_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "ROWS", 2)
    log, folder = tmp_path / "log", tmp_path / "index"
    copies: list[Path] = []

    def note(function: str) -> None:
        """Keep a copy of the index as it is before each call, as a kill at this moment would leave it."""
        original = getattr(indexes.os, function)

        def call(*arguments: object) -> object:
            if folder.is_dir():
                copies.append(shutil.copytree(folder, tmp_path / f"copy-{len(copies)}"))
            return original(*arguments)

        monkeypatch.setattr(indexes.os, function, call)

    index = LogIndex(log, folder, parse_scalars, writable=True)
    for function in ("pwrite", "ftruncate"):
        note(function)
    size = 0
    for part in (
        lines(1, 2, 3),
        lines(4, 5, 6, 7, 8),
        lines(5, 6),
        b'{"step": 6, "dev": 1}\n',
        lines(3, 4, 5),
    ):
        with log.open("ab") as file:
            file.write(part)
        index.add(part, size)
        size += len(part)
    index.close()
    monkeypatch.undo()
    assert len(copies) > 20
    for copy in (folder, *copies):
        assert read(log, copy) == [1.5, 2.5, 3.5, 4.5, 5.5]


def test_lines_that_somebody_else_wrote_are_read_from_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    index = LogIndex(log, tmp_path / "index", parse_scalars, writable=True)
    log.write_bytes(lines(1, 2, 3))
    index.add(lines(3), len(lines(1, 2)))
    index.close()
    assert read(log, tmp_path / "index") == [1.5, 2.5, 3.5]
