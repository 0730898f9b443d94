"""Workers that are Ray actors, on a cluster of two nodes, both on this machine."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine.test_ray import cluster  # noqa: F401 - a fixture
from glassformer import bundle
from glassformer.workbench import LocalWorkbench
from workbench.worker_watching import ENDLESS, Ask, Fresh, Wait, wait_for_word

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra `cluster` is not installed"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # what Ray's own modules and processes cause
]


def lose_actor(bench: LocalWorkbench, number: int) -> None:
    worker: Any = bench.slots[number].worker
    worker._ray.kill(worker._host)


def test_jobs_run_on_a_cluster_and_a_lost_actor_costs_one_job(
    request: pytest.FixtureRequest, fresh: Fresh, ask: Ask, wait: Wait, folder: Path
) -> None:
    nodes, _ = request.getfixturevalue("cluster")
    bench = fresh(jobs=2, queue=5, engine="ray", address=nodes.address)
    endless = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, endless)
    busy = next(number for number, slot in enumerate(bench.slots) if slot.using.locked())
    done = wait(bench, bench.submit(ask()))  # on the other node
    assert done.state == "done", done.message
    assert done.recording is not None
    assert bundle.open(folder / done.recording).model == "zoo/decoder"  # it has arrived whole
    states = bench.measure_workers()
    assert len(states) == 2
    assert all(state.memory > 0 for state in states)
    lose_actor(bench, busy)
    failed = wait(bench, endless)
    assert (failed.state, failed.code) in (("failed", "crashed"), ("done", None))
    assert wait(bench, bench.submit(ask(text="another"))).state == "done"
