"""The worker process itself: `python -m glassformer.workbench.worker`, started by process.py and nobody else.

In:   lines of JSON on stdin: jobs, and the wish that one be stopped. The end of stdin is our end.
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

from glassformer.errors import GlassformerError
from glassformer.workbench.reporter import JobReporter, StoppedError

SLACK = 2 << 30  # bytes of stacks and tables that are counted as data, though hardly touched


def main() -> None:
    """Run jobs until stdin ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("--loaded", type=int, required=True)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us
    pipe = _take_stdout()
    _limit_memory(arguments.memory)
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    stopped: set[str] = set()
    threading.Thread(target=_listen, args=(tasks, stopped), daemon=True).start()

    from glassformer.workbench.runner import Runner, flush_denormals  # imports torch, which takes a while

    flush_denormals()
    runner = Runner(arguments.loaded)
    while True:
        task = tasks.get()
        reporter = JobReporter(task["job"], pipe, stopped)
        try:
            (runner.play if "topic" in task else runner.run)(task, reporter)
            reporter.send("done")
        except StoppedError:
            reporter.send("cancelled")
        except Exception as error:  # whatever a model may raise is one sentence to the person who ran it
            sentence, code = _explain(error)
            if code == "out_of_memory":
                runner.forget()
            reporter.send("failed", sentence=sentence, code=code)


def _listen(tasks: "queue.Queue[dict[str, Any]]", stopped: set[str]) -> None:
    """Hear what is said; when nobody is there any more to say it, end."""
    for line in sys.stdin.buffer:
        with suppress(ValueError):
            message = json.loads(line)
            if message["do"] == "run":
                tasks.put(message)
            else:
                stopped.add(message["job"])
    os._exit(0)


def _take_stdout() -> BinaryIO:
    """Stdout for our own lines only: what libraries print there goes to stderr from now on."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _limit_memory(size: int) -> None:
    """Let an allocation that is too large fail, where the system can; the keeper watches the rest."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    limit = size + SLACK
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or limit < most:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def _explain(error: Exception) -> tuple[str, str]:
    """A sentence for a person, and a code for a program."""
    if isinstance(error, GlassformerError):
        return str(error), "refused"
    text = str(error)
    if isinstance(error, MemoryError) or "allocate memory" in text or "out of memory" in text:
        return "There is not enough memory for this run; shorten the text, or ask for less.", "out_of_memory"
    first = text.splitlines()[0] if text else ""
    return f"The model failed: {type(error).__name__}: {first}. Try another text or another model.", "failed"


if __name__ == "__main__":
    main()
