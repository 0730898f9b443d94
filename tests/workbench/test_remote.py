"""Workers that are Ray actors, without Ray; on a cluster: tests/engine/test_ray.py."""

import queue
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from glassformer.workbench import remote
from glassformer.workbench.remote import Host, RayWorker


class Echo:
    """A worker process that ends each job as its task says."""

    def __init__(self, **_: object) -> None:
        self.news: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def send(self, task: dict[str, Any]) -> None:
        if task["end"] == "done":
            Path(task["path"]).write_bytes(b"a bundle")
        self.news.put({"job": task["job"], "say": task["end"]})

    def receive(self, seconds: float) -> dict[str, Any] | None:
        return self.news.get(timeout=seconds)

    def memory(self) -> int:
        return 1

    def end(self) -> int:
        self.news.put(None)
        return 0


class Here:
    """As much of Ray as a worker uses, in this process."""

    exceptions = SimpleNamespace(RayError=RuntimeError)

    def __init__(self) -> None:
        self.host: Any = None
        self.killed = False

    def remote(self, actor: Any) -> Any:
        def start(*given: Any) -> Any:
            self.host = actor(*given)
            return self

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=start))

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=getattr(self.host, name))

    def get(self, found: Any, timeout: float | None = None) -> Any:
        return found

    def kill(self, host: Any) -> None:
        self.killed = True


def test_no_job_leaves_files_on_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "WorkerProcess", Echo)
    here, parent = Here(), tmp_path / "parent.bundle"
    parent.write_bytes(b"another")
    engine: Any = SimpleNamespace(ray=here)
    worker = RayWorker(engine, offline=True, memory=1, loaded=1, device=None)
    host: Host = here.host
    folder = Path(host._folder.name)
    for end in ("done", "failed", "cancelled"):
        worker.send({"job": end, "end": end, "path": str(tmp_path / end), "parent": str(parent)})
        assert worker.receive(300) == {"job": end, "say": end}
        assert list(folder.iterdir()) == []
        assert worker._paths == {}
    assert (tmp_path / "done").read_bytes() == b"a bundle"
    worker.end()
    assert here.killed
    assert not folder.exists()
