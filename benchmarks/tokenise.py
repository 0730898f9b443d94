"""How long it takes to tokenise a large text for training, at first and from the cache, and how much memory.

    python benchmarks/tokenise.py novels.txt [--model zoo/gpt2] [--characters 65000000]

The text is repeated, or cut, to as many characters. Each measurement is a process of its own: seconds,
seconds of all processors, and how much the process grew above what it had before the first file was opened.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def measure(model: str, path: str) -> dict[str, float]:
    """Read and tokenise a text as training does."""
    from glassformer.tasks.task import build_task
    from glassformer.text.opening import open_tokenizer
    from glassformer.weights.hub import find_folder

    tokenizer = open_tokenizer(find_folder(model))
    tokenizer.encode("warm")
    table = {"name": "language_modelling", "path": Path(path).name, "folder": str(Path(path).parent)}
    before, start, used = read_memory("VmRSS"), time.perf_counter(), time.process_time()
    task = build_task(table | {"held_out": 1e-6}, tokenizer)
    tokens = task.examples("train").tokens
    return {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - used,
        "peak_mb_above": (read_memory("VmHWM") - before) / 1e3,
        "tokens": tokens or 0,
    }


def read_memory(name: str) -> int:
    """A line of /proc/self/status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


def main() -> None:
    """Measure the first reading, then the next one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--model", default="zoo/gpt2")
    parser.add_argument("--characters", type=int, default=65_000_000)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inner:
        print(json.dumps(measure(arguments.model, str(arguments.text))))
        return
    with tempfile.TemporaryDirectory() as folder:
        text = arguments.text.read_text(encoding="utf-8")
        path = Path(folder) / "text.txt"
        path.write_text(
            (text * (arguments.characters // len(text) + 1))[: arguments.characters], encoding="utf-8"
        )
        environment = os.environ | {"GLASSFORMER_CACHE": f"{folder}/cache"}
        for name in ("first", "cached"):
            command = [sys.executable, __file__, str(path), "--model", arguments.model, "--inner"]
            answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            found = json.loads(answer.stdout)
            print(name, "  ".join(f"{key} {value:,.1f}" for key, value in found.items()))


if __name__ == "__main__":
    main()
