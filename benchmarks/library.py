"""How long a server with very many recordings takes to start, to list, to search and to open one.

In:   a number of recordings. Each is a small bundle with a text of its own, put into a folder and its index.
Out:  seconds and megabytes, printed. The bars: a start below 10 s, a page of the list below 0.1 s.

    python benchmarks/library.py [recordings]
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

from glassformer import bundle
from glassformer.api.inspection import list_facts
from glassformer.api.library import Library
from glassformer.recording import from_arrays

MARK = "recording 0000000"
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
    """Bundles that differ in their text alone, taken into a library that is closed again."""
    recording = from_arrays(np.eye(4)[None], ["a", "b", "c", MARK])
    library = Library(folder, shipped=None)
    path = folder / ".first"
    bundle.save(recording, path)
    template, facts = path.read_bytes(), list_facts(recording)
    path.unlink()
    for number in range(count):
        mark = f"recording {number:07d}"
        part = library.new_partial_path()
        part.write_bytes(template.replace(MARK.encode(), mark.encode()))
        library.adopt(part, facts=facts.model_copy(update={"excerpt": mark}))
    library.close()


def report(what: str, work: Callable[[], Result], count: int = 1) -> Result:
    """Do it once and print how long it took."""
    start = perf_counter()
    result = work()
    print(json.dumps({"what": what, "seconds": round(perf_counter() - start, 4), "times": count}), flush=True)
    return result


if __name__ == "__main__":
    main()
