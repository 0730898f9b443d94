"""How long a server with very many recordings takes to start, to list, to search and to open one.

In:   a number of recordings: links to one small bundle in a folder, each with a row of its own in the index.
Out:  seconds and megabytes, printed. The bars: a start below 10 s, a page of the list below 0.1 s.

    python benchmarks/library.py [recordings]
"""

import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

from glassformer import bundle
from glassformer.api.index import FILE, FullRow
from glassformer.api.library import Library
from glassformer.recording import from_arrays

MOST_LINKS = 50_000  # to one file
Result = TypeVar("Result")


def main() -> None:
    """Fill a folder, then measure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="glassformer-benchmark-") as name:
        folder = Path(name) / "kept"
        report("fill", lambda: fill(folder, count), count)
        library = report("start", lambda: Library(folder, shipped=None))
        entries = report("list, a page of 200", lambda: library.entries(count=200))
        report("list, the last page", lambda: library.entries("made", "", count - 200, 200))
        report("search", lambda: library.entries(search=f"{count // 2:07d}", count=200))
        report("count", library.count)
        report("open one", lambda: library.get(entries[100].id))
        report("open 1,000", lambda: [library.get(each.id) for each in library.entries(count=1000)])
        descriptors = Path("/proc/self/fd")
        if descriptors.exists():
            status = Path("/proc/self/status").read_text()
            memory = int(status.partition("VmRSS:")[2].split()[0]) / 1000
            print(json.dumps({"descriptors": len(list(descriptors.iterdir())), "memory MB": round(memory)}))
        library.close()


def fill(folder: Path, count: int) -> None:
    """A library of one recording, then links to its file and copies of its row."""
    library = Library(folder, shipped=None)
    part = library.new_partial_path()
    bundle.save(from_arrays(np.eye(4)[None], ["a", "b", "c", "d"]), part)
    id = library.adopt(part)
    first = library.path(id)
    library.close()
    with sqlite3.connect(folder / FILE) as database:
        row = FullRow(*database.execute("SELECT * FROM recordings").fetchone())
    database.close()
    rows = []
    for number in range(1, count):
        name, its_id = f"{number:016x}.bundle", f"recording-{number:07d}"
        if number % MOST_LINKS == 0:
            first = Path(shutil.copy2(first, folder / f"f{number:015x}"))
        (folder / name).hardlink_to(first)
        entry, words = row.entry.replace(id, its_id), f"{its_id} {row.words}"
        rows.append(replace(row, id=its_id, entry=entry, path=name, added=float(number), words=words))
    with sqlite3.connect(folder / FILE) as database:
        marks = ", ".join("?" * len(astuple(row)))
        database.executemany(f"INSERT INTO recordings VALUES ({marks})", map(astuple, rows))
    database.close()


def report(what: str, work: Callable[[], Result], count: int = 1) -> Result:
    """Do it once and print how long it took."""
    start = perf_counter()
    result = work()
    print(json.dumps({"what": what, "seconds": round(perf_counter() - start, 4), "times": count}), flush=True)
    return result


if __name__ == "__main__":
    main()
