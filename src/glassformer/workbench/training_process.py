"""The process that trains one run for the server: `python -m glassformer.workbench.training_process`.

In:   one line of JSON on stdin: what to train, as `glassformer train` takes it.
Out:  the run. Exit code 0 when it ended by itself or was stopped; 1 after an error, whose message is the last
      line of stdout, as JSON.

The process outlives the server: training goes on when the server ends, and a later one finds it by the file
that each run writes while it is trained.
"""

import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.messages import Message, literal
from glassformer.workbench.process import PROBLEM


def main() -> int:
    """Train what stdin says."""
    # before the loop has its own: a stop while data are read must clean up
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    request: dict[str, Any] = json.loads(sys.stdin.readline())
    try:
        _train(request)
    except GlassformerError as error:
        return _report(error.message)
    except KeyboardInterrupt:
        return 0
    except Exception as error:
        import traceback

        traceback.print_exc()
        return _report(literal(f"{type(error).__name__}: {error}"[:500]))
    return 0


def _train(request: dict[str, Any]) -> None:
    from glassformer.training.recipe import train
    from glassformer.weights.hub import check_download, is_on_hub

    for name in ("model.start", "tokenizer.path"):
        given = request["changes"].get(name)
        if given is not None and (most := request.get("download")) is not None and is_on_hub(given):
            check_download(given, most)
    with tempfile.TemporaryDirectory(prefix="glassformer-recipe-") as folder:
        path = None
        if request["toml"] is not None:
            path = Path(folder, f"{request['name']}.toml")
            path.write_text(request["toml"], encoding="utf-8")
        train(
            path,
            request["changes"],
            resume=request["resume"],
            fork=request["fork"],
            step=request["step"],
            runs=request["runs"],
            name=request["name"],
        )


def _report(problem: Message) -> int:
    sys.stdout.write(json.dumps({PROBLEM: problem.to_json()}) + "\n")
    sys.stdout.flush()
    return 1


if __name__ == "__main__":
    sys.exit(main())
