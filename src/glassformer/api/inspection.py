"""A file of a stranger looked at in a process of its own, within limits of time and memory.

In:   the path of a file that may be a bundle.
Out:  Facts, what the list of recordings says about it; or a BundleError.

Parsing is done where it can be ended: a file that takes too long or too much memory ends that process, and
the server goes on. The process starts with the first file and stays for the next one.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from glassformer import bundle
from glassformer.api.description import find_shape
from glassformer.bundle.scan import scan
from glassformer.config import Shape
from glassformer.errors import BundleError, GlassformerError, RecordingError
from glassformer.messages import Message, literal, message
from glassformer.recording import Recording, Tokens
from glassformer.recording.visible import make_excerpt
from glassformer.schema import MessageField, ResponseModel, replace_surrogates

MEMORY = (
    192 << 20
)  # bytes that one file may take, beside what the process has at its start; then in the server, too
SECONDS = 50.0  # that one file may take; less than a response may
_SMALL = 256 << 20  # bytes of a process that may go on
_EXCERPT = 120  # characters
_LONGEST_MODEL = 200  # characters of a model's name in a list


class Facts(ResponseModel):
    """What a list says about a recording."""

    model: str
    shape: Shape
    excerpt: str
    title: MessageField  # where nobody gave one
    source_tokens: int
    target_tokens: int | None
    mark: MessageField | None = None  # that its model was edited


def list_facts(recording: Recording) -> Facts:
    """What a list says about a recording, cut to what a list can show."""
    excerpt = make_excerpt(recording.source.text or " ".join(recording.source.texts[:40]), _EXCERPT)
    model = replace_surrogates(recording.model)
    return Facts(
        model=model if len(model) <= _LONGEST_MODEL else model[:_LONGEST_MODEL] + "…",
        shape=find_shape(recording),
        excerpt=excerpt,
        title=_make_title(recording.source, excerpt or model),
        source_tokens=len(recording.source),
        target_tokens=None if recording.target is None else len(recording.target),
        mark=recording.evidence.mark,
    )


def _make_title(source: Tokens, otherwise: str) -> Message:
    """Of a picture or a sound without words, what it is: names of patches say nothing."""
    if not source.text and source.picture is not None:
        return message("api.picture_title", rows=source.picture.rows, columns=source.picture.columns)
    if not source.text and source.sound is not None:
        return message("api.sound_title", seconds=source.sound.seconds)
    return literal(otherwise)


class Inspector:
    """Looks at files one at a time, in a process that is replaced when it was ended."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY, small: int = _SMALL) -> None:
        self.seconds = seconds
        self.memory = memory
        self.small = small
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def inspect(self, path: Path) -> Facts:
        """The facts of a bundle; BundleError where it is none, or takes more than the limits."""
        with self._lock:
            answer = self._ask({"path": str(path.resolve())})
        if answer is None:
            raise BundleError("bundle.too_much", path=path, seconds=self.seconds, memory=self.memory / 2**20)
        if "error" in answer:
            raise BundleError(Message.from_json(answer["error"]).replace(str(path.resolve()), str(path)))
        return Facts.model_validate(answer["facts"])

    def close(self) -> None:
        """End the process; the next file starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """The answer of the process; None where it ended or was ended."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "glassformer.api.inspection", str(self.memory), str(self.small)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                    "RUST_BACKTRACE": "0",  # with 1, pydantic-core hangs when an allocation fails
                },
                start_new_session=True,  # Ctrl-C is for the server
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        limit = threading.Timer(self.seconds, process.kill)
        limit.start()
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            answer = dict(json.loads(process.stdout.readline()))
            if answer.pop("last"):
                self.close()  # it is ending: the next file needs another process
            return answer
        except (OSError, ValueError):
            self.close()
            return None
        finally:
            limit.cancel()


INSPECTOR = Inspector()  # shared by all libraries of this process
atexit.register(INSPECTOR.close)


def main() -> None:
    """Answer questions from stdin until it ends."""
    memory, small = map(int, sys.argv[1:])
    _limit_memory(memory)
    for line in sys.stdin.buffer:
        path = Path(json.loads(line)["path"])
        try:
            answer: dict[str, Any] = {"facts": _inspect(path).model_dump(mode="json")}
        except GlassformerError as error:
            answer = {"error": error.message.to_json()}
        except MemoryError:
            os._exit(1)
        answer["last"] = _read_memory("VmRSS") > small
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
        if answer["last"]:
            return  # what it has taken goes back to the system


def _inspect(path: Path) -> Facts:
    recording = bundle.open(path)
    try:
        scan(recording)
    except RecordingError as error:
        fault = message("bundle.fault.impossible", reason=error.message)
        raise BundleError("bundle.unreadable", path=path, fault=fault) from error
    return list_facts(recording)


def _limit_memory(size: int) -> None:
    """Let an allocation that is too large fail, where the system can."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    with suppress(ValueError, OSError):
        limit = _read_memory("VmData") + size
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _read_memory(field: str) -> int:
    """Bytes, as the system counts them; 0 where it does not say."""
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition(f"{field}:")[2].split()[0])
    return 0


if __name__ == "__main__":
    main()
