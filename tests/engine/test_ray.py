"""The same tasks, and the workers of the page, on a Ray cluster of two nodes, both on this machine."""

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import glassformer as gf
from engine import tasks
from engine.test_local import collect
from glassformer import bundle
from glassformer.corpus import study
from glassformer.corpus.atlas import build
from glassformer.engine import open_engine, ray_cluster
from glassformer.engine.local import LocalEngine
from glassformer.engine.ray_cluster import RayEngine, _check_address, _choose_local
from glassformer.errors import EngineError
from ports import hold_port
from tiny_models import build_model
from workbench.conftest import make_request, open_bench, wait_for
from workbench.worker_watching import ENDLESS, wait_for_word

RECIPE = Path(__file__).parents[2] / "recipes" / "first.toml"
pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra `cluster` is not installed"),
    pytest.mark.slow,
    pytest.mark.first,
    # what Ray's own modules and processes cause
    pytest.mark.filterwarnings("ignore"),
]


def _start() -> tuple[Any, Any]:
    """A head and another node, one CPU each. Ray waits 30 seconds for each, too short on a busy machine."""
    from ray.cluster_utils import Cluster

    # Loopback only; Ray replaces 127.0.0.1 by the address of this machine in its network.
    # Logs and a cluster that grows need a process each, which these tests do not.
    node = {"num_cpus": 1, "node_ip_address": "127.0.0.2", "object_store_memory": 100 << 20}
    spared = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    for _ in range(3):
        cluster = Cluster()
        try:
            cluster.add_node(**node, **spared)
            other = cluster.add_node(**node)
            cluster.wait_for_nodes(timeout=300)
            return cluster, other
        except Exception as error:
            cluster.shutdown()  # whole: a node that comes too late would be one more
            if not re.search("timed out during startup|Timed out while waiting", str(error)):
                raise
    pytest.skip("Ray did not start within its own time limit on this machine")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes; the last test takes the other one away."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        cluster, other = _start()
        try:
            yield cluster, other
        finally:
            ray.shutdown()
            cluster.shutdown()


def test_a_study_is_the_same_when_a_worker_is_killed(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, _ = cluster
    model = build_model(tmp_path / "model", "encoder")
    call: Any = {"model": str(model), "texts": tasks.TEXTS, "values": True, "shard": 4}
    here = gf.study(**call)
    monkeypatch.setattr(study, "measure_shard", partial(tasks.measure_or_die, mark=model / tasks.DIED))
    spread = gf.study(**call, engine="ray", address=nodes.address)
    assert (model / tasks.DIED).exists()  # a worker was killed in the middle
    assert spread.manifest == here.manifest
    for name in ("heads", "texts", "values"):
        assert spread.frame(name).equals(here.frame(name)), name


def test_an_atlas_is_the_same_when_a_worker_is_killed(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, _ = cluster
    model = build_model(tmp_path / "model", "decoder")
    call: Any = {"model": str(model), "texts": [text for text in tasks.TEXTS if text] * 5, "cost_texts": 2}
    here = gf.atlas(**call)
    monkeypatch.setattr(build, "read_texts", partial(tasks.read_or_die, mark=model / tasks.DIED))
    spread = gf.atlas(**call, engine="ray", address=nodes.address)
    assert (model / tasks.DIED).exists()
    assert spread.body == here.body


def test_a_search_on_two_nodes_finds_what_it_finds_here(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="the extra `search` is not installed")
    nodes, _ = cluster
    (tmp_path / "letters.txt").write_text("the cat sat on the mat and " * 100)
    changes = {"task.folder": str(tmp_path), "task.path": "letters.txt", "train.steps": 2, "model.width": 8}
    changes |= {"train.evaluate_every": 1, "task.context": 8, "monitor.every": 0, "probe.count": 0}
    space = {"model.heads": [2, 4], "sampler": "grid", "trials": 2, "confirm": 1}
    with open_engine("ray", address=nodes.address) as there, LocalEngine(1) as here:
        found, known = (
            gf.search(RECIPE, space, overrides=changes, engine=engine, runs=tmp_path / name, silent=True)
            for name, engine in (("there", there), ("here", here))
        )
    assert found.state == "finished"
    assert len(found.complete) == 2

    def values(log: gf.SearchLog) -> list[Any]:
        runs = [run for each in (*log.trials, *log.confirmed) for run in each.runs]
        return sorted((run.run, run.seed, run.values["loss"]) for run in runs)

    assert values(found) == values(known)  # to the last bit


def test_jobs_of_the_page_run_and_a_lost_actor_costs_one_job(
    cluster: Any, tiny_zoo: Path, tmp_path: Path
) -> None:
    nodes, _ = cluster
    words: Any = {"jobs": 2, "queue": 5, "engine": "ray", "address": nodes.address}
    with closing(open_bench(tiny_zoo, tmp_path, **words)) as bench:
        endless = bench.submit(make_request(**ENDLESS))
        wait_for_word(bench, endless)
        busy = next(slot for slot in bench.slots if slot.using.locked())
        done = wait_for(bench, bench.submit(make_request()))  # on the other node
        assert done.state == "done", done.message
        assert done.recording is not None
        assert bundle.open(tmp_path / done.recording).model == "zoo/decoder"  # it has arrived whole
        states = bench.measure_workers()
        assert len(states) == 2
        assert all(state.memory > 0 for state in states)
        worker: Any = busy.worker
        worker._ray.kill(worker._host)
        failed = wait_for(bench, endless)
        assert (failed.state, failed.code) == ("failed", "crashed")
        assert wait_for(bench, bench.submit(make_request(text="another"))).state == "done"


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
    end = time.monotonic() + 300
    while len(found := list(folder.glob("by-*"))) < 2 or not all(path.read_text() for path in found):
        assert time.monotonic() < end, "two tasks should run at a time"
        time.sleep(0.05)
    return {int(path.name[3:]): int(path.read_text().split()[0]) for path in found}


def test_an_unreachable_cluster_is_an_error() -> None:
    with pytest.raises(EngineError) as error:
        RayEngine("127.0.0.1:1")
    assert error.value.message.code == "engine.no_cluster"


@pytest.mark.parametrize(("asked", "code"), [(None, "engine.not_started"), ("auto", "engine.no_cluster")])
def test_a_ray_that_does_not_start_is_no_missing_cluster(
    asked: str | None, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody who gave no address is told to leave it out."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("The current node timed out during startup.")

    find_own = SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")
    ray = SimpleNamespace(is_initialized=lambda: False, util=find_own, init=fail)
    monkeypatch.setattr(ray_cluster, "_import_ray", lambda: ray)
    monkeypatch.setattr(ray_cluster, "_choose_local", lambda _: "local")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(EngineError, match="timed out") as error:
        RayEngine(asked)
    assert error.value.message.code == code


def test_localhost_is_asked_where_ray_asks_it() -> None:
    """Ray takes the address of this machine in its network instead, and would wait there for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _check_address(f"localhost:{port}", lambda: "127.0.0.1")
        with pytest.raises(EngineError, match=rf"127\.0\.0\.2:{port}"):
            _check_address(f"localhost:{port}", lambda: "127.0.0.2")


def test_a_cluster_of_this_machine_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    services = pytest.importorskip("ray._private.services")

    def own() -> str:
        return "127.0.0.1"

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        remembered = [f"127.0.0.1:{server.getsockname()[1]}"]
        monkeypatch.setattr(services, "find_bootstrap_address", lambda _: remembered[0])
        assert _choose_local(own) is None  # it is joined
    remembered[0] = f"127.0.0.1:{hold_port()}"  # that nobody listens to
    assert _choose_local(own) == "local"
    remembered[0] = None  # type: ignore[call-overload]
    assert _choose_local(own) is None
