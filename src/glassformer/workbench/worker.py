"""The worker process itself: `python -m glassformer.workbench.worker`, started by process.py.

In:   lines of JSON on stdin: jobs, and requests to cancel one. The process exits at the end of stdin.
Out:  lines of JSON on stdout: progress, steps, and how each job ended.
"""

import argparse
import json
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from glassformer.errors import GlassformerError, is_out_of_memory
from glassformer.messages import Message, message
from glassformer.workbench.reporter import JobReporter, StoppedError

SLACK = 2 << 30  # bytes of stacks and tables that are counted as data, though hardly touched


def main() -> None:
    """Run jobs until stdin ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("--loaded", type=int, required=True)
    parser.add_argument("--device")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent process
    pipe = _take_stdout()
    _limit_memory(arguments.memory)
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    stopped: set[str] = set()
    threading.Thread(target=_listen, args=(tasks, stopped), daemon=True).start()

    from glassformer.workbench.runner import Runner, flush_denormals  # imports torch, which takes a while

    flush_denormals()
    runner = Runner(arguments.loaded, arguments.device)
    while True:
        task = tasks.get()
        reporter = JobReporter(task["job"], pipe, stopped)
        try:
            act = runner.play if "topic" in task else runner.measure if "measure" in task else runner.run
            act(task, reporter)
            reporter.send("done", **runner.measure_memory())
        except StoppedError:
            reporter.send("cancelled", **runner.measure_memory())
        except Exception as error:  # a model may raise anything
            text, code = _explain(error)
            if code == "out_of_memory":
                runner.forget()
            reporter.send("failed", message=text.to_json(), code=code, **runner.measure_memory())


def _listen(tasks: "queue.Queue[dict[str, Any]]", stopped: set[str]) -> None:
    """Read lines from stdin; exit at the end of stdin."""
    for line in sys.stdin.buffer:
        with suppress(ValueError):
            order = json.loads(line)
            if order["do"] == "run":
                tasks.put(order)
            else:
                stopped.add(order["job"])
    os._exit(0)


def _take_stdout() -> BinaryIO:
    """Stdout for our own lines only: what libraries print there goes to stderr from now on."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _limit_memory(size: int) -> None:
    """Let an allocation that is too large fail, where the system can; local.py watches the rest."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    limit = size + SLACK
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or limit < most:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def _explain(error: Exception) -> tuple[Message, str]:
    """A message for a person, and a code for programs."""
    if isinstance(error, GlassformerError):
        return error.message, "refused"
    if is_out_of_memory(error):
        return message("workbench.failed.memory"), "out_of_memory"
    text = str(error)
    first = text.splitlines()[0] if text else ""
    return message("workbench.failed.model", kind=type(error).__name__, reason=first), "failed"


if __name__ == "__main__":
    main()
