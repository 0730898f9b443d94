"""The same tasks on a Ray cluster of two nodes, both on this machine."""

import os
import signal
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine import tasks
from engine.test_local import collect
from glassformer.engine import open_engine
from glassformer.engine.ray_cluster import RayEngine
from glassformer.errors import EngineError

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra `cluster` is not installed"),
    pytest.mark.slow,
    # what Ray's own modules and processes cause
    pytest.mark.filterwarnings("ignore"),
]


def _add_node(cluster: Any, **settings: Any) -> Any:
    """Ray waits 30 seconds for a node, which may be too short on a busy machine."""
    for _ in range(3):
        try:
            return cluster.add_node(**settings)
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    pytest.skip("Ray did not start within its own time limit on this machine")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head and another node, one CPU each."""
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")  # on a busy machine
    # Loopback only; Ray replaces 127.0.0.1 by the address of this machine in its network.
    node = {"num_cpus": 1, "node_ip_address": "127.0.0.2", "object_store_memory": 100 << 20}
    cluster = Cluster()
    try:
        _add_node(cluster, **node, include_dashboard=False)
        other = _add_node(cluster, **node)
        cluster.wait_for_nodes()
        yield cluster, other
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_results_are_the_same_when_a_worker_and_a_node_are_lost(cluster: Any, tmp_path: Path) -> None:
    nodes, other = cluster
    mark = tmp_path / "go"
    with open_engine("ray", address=nodes.address) as engine:
        assert engine.slots == 2
        for number in range(4):
            engine.submit(str(number), tasks.wait_for, str(mark), number)
        engine.submit("wrong", tasks.fail, "no such thing")
        engine.submit("lost", tasks.die_first, str(tmp_path), 99, 9, retries=1)
        by = _running(tmp_path)
        os.kill(next(iter(by.values())), signal.SIGKILL)
        nodes.remove_node(other)
        mark.touch()
        results = collect(engine)
    assert {key: results[key].value for key in "0123"} == {str(n): n * n for n in range(4)}
    with pytest.raises(ValueError, match="no such thing"):
        results["wrong"].get()
    error = results["lost"].error
    assert isinstance(error, EngineError)
    assert error.message.code == "engine.lost"


def _running(folder: Path) -> dict[int, int]:
    """The processes of two tasks, once both run."""
    end = time.monotonic() + 60
    while len(found := list(folder.glob("by-*"))) < 2 or not all(path.read_text() for path in found):
        assert time.monotonic() < end, "two tasks should run at a time"
        time.sleep(0.05)
    return {int(path.name[3:]): int(path.read_text().split()[0]) for path in found}


def test_an_unreachable_cluster_is_an_error() -> None:
    with pytest.raises(EngineError) as error:
        RayEngine("127.0.0.1:1")
    assert error.value.message.code == "engine.no_cluster"
