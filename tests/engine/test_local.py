import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import tasks
from glassformer.engine import Engine, Resources, Result, open_engine, run_in_order
from glassformer.engine.local import LocalEngine
from glassformer.errors import ConfigurationError, EngineError


def collect(engine: Engine) -> dict[str, Result]:
    results = {}
    while (result := engine.wait()) is not None:
        assert result.key not in results, "each task has one result"
        results[result.key] = result
    return results


def wait_until(path: Path) -> str:
    while not (path.exists() and path.read_text()):
        time.sleep(0.02)
    return path.read_text()


@pytest.mark.slow
def test_every_task_has_one_result() -> None:
    with open_engine("local", jobs=2) as engine:
        for number in range(9):
            engine.submit(str(number), tasks.square, number)
        assert len(engine.keys) == 9
        results = collect(engine)
        assert engine.keys == ()
    assert {key: result.get() for key, result in results.items()} == {str(n): n * n for n in range(9)}


@pytest.mark.slow
def test_processes_are_used_again() -> None:
    with LocalEngine(2) as engine:
        for number in range(6):
            engine.submit(str(number), tasks.process, number)
        assert 1 <= len({result.value for result in collect(engine).values()}) <= 2


def test_an_exception_is_in_the_result() -> None:
    with LocalEngine(1) as engine:
        engine.submit("a", tasks.fail, "no such thing")
        engine.submit("b", tasks.fail_unpicklable)
        engine.submit("c", tasks.square, 3)
        results = collect(engine)
    with pytest.raises(ValueError, match="no such thing"):
        results["a"].get()
    assert isinstance(results["b"].error, EngineError)
    assert "LocalError: seen" in str(results["b"].error)
    assert results["c"].value == 9


@pytest.mark.slow
def test_a_killed_process_is_retried_and_then_reported(tmp_path: Path) -> None:
    with LocalEngine(2) as engine:
        engine.submit("twice", tasks.die_first, str(tmp_path), 2, 5)
        engine.submit("always", tasks.die_first, str(tmp_path), 99, 6, retries=1)
        engine.submit("well", tasks.square, 7)
        results = collect(engine)
    assert results["twice"].value == 25
    assert results["well"].value == 49
    error = results["always"].error
    assert isinstance(error, EngineError)
    assert error.message.code == "engine.lost"
    assert error.message.parameters["how"] == "SIGKILL"
    assert len(list(tmp_path.glob("6-*"))) == 2  # once, and one retry


def test_cancelling_kills_the_process(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with LocalEngine(1) as engine:
        engine.submit("long", tasks.sleep, 600.0, str(mark))
        engine.submit("waiting", tasks.square, 2)
        engine.submit("next", tasks.square, 3)
        process = int(wait_until(mark))
        assert engine.wait(0.01) is None
        engine.cancel("waiting")
        engine.cancel("long")
        assert {key: each.value for key, each in collect(engine).items()} == {"next": 9}
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from engine import tasks\n"
        "from glassformer.engine.local import LocalEngine\n"
        "engine = LocalEngine(1); engine.submit('a', tasks.sleep, 600.0, sys.argv[2]); engine.wait()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(Path(tasks.__file__).parents[1]), str(mark)]
    )
    worker = int(wait_until(mark))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 300
    while _runs(worker):
        assert time.monotonic() < end, "the worker outlives its parent"
        time.sleep(0.05)


def _runs(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


@pytest.mark.slow
def test_gpus_are_shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    mark = tmp_path / "go"
    with LocalEngine(8, gpus=2) as engine:
        half = Resources(cpus=3, gpus=0.5)
        for number in range(6):
            engine.submit(str(number), tasks.wait_for, str(mark), number, resources=half)
        assert len(engine.processes) == 4  # two on each of two
        mark.touch()
        assert len(collect(engine)) == 6
        engine.submit("which", tasks.environment, "CUDA_VISIBLE_DEVICES", resources=half)
        engine.submit("threads", tasks.environment, "OMP_NUM_THREADS", resources=half)
        engine.submit("both", tasks.environment, "CUDA_VISIBLE_DEVICES", resources=Resources(gpus=2))
        engine.submit("none", tasks.environment, "CUDA_VISIBLE_DEVICES")
        values = {key: each.value for key, each in collect(engine).items()}
        assert values == {"which": "4", "threads": "3", "both": "4,7", "none": "4,7"}
        with pytest.raises(EngineError) as error:
            engine.submit("more", tasks.square, 1, resources=Resources(gpus=3))
        assert error.value.message.code == "engine.too_many_gpus"


def test_what_cannot_be_sent_is_refused_at_once() -> None:
    with LocalEngine(1) as engine:
        for function in (lambda: 1, _nested()):
            with pytest.raises(EngineError) as error:
                engine.submit("a", function)
            assert error.value.message.code == "engine.not_importable"
        engine.submit("a", tasks.square, 2)
        with pytest.raises(EngineError) as error:
            engine.submit("a", tasks.square, 2)
        assert error.value.message.code == "engine.same_key"


def _nested() -> object:
    def inner() -> None: ...

    return inner


def test_engines_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="no engine called 'lokal'"):
        open_engine("lokal")
    with pytest.raises(ConfigurationError) as refused:
        open_engine("local", address="127.0.0.1:6379")
    assert refused.value.message.code == "engine.address_of_local"
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EngineError, match="glassformer\\[cluster\\]"):
        open_engine("ray")


@pytest.mark.slow
def test_results_are_given_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    """The first task waits for the last one that is announced while it runs."""
    announced = []

    def announce() -> Iterator[tuple[str, int]]:
        for number in range(8):
            announced.append(number)
            yield str(tmp_path / "go"), number

    with LocalEngine(2) as engine:
        results = run_in_order(engine, tasks.wait_for, announce())
        (tmp_path / "go").touch()
        assert next(results) == 0
        assert len(announced) <= 1 + 2 * engine.slots
        assert list(results) == [number * number for number in range(1, 8)]
        assert next(run_in_order(engine, tasks.square, []), None) is None
