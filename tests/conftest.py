"""What every test shares: determinism, one thread, no way out to the network, and honest skips."""

import gc
import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two workers, two cores; read when torch is first imported
os.environ["GLASSFORMER_CACHE"] = "off"  # tests of the cache choose a folder of their own

import hypothesis
import pytest
from filelock import FileLock

import forking
from machine import find_chromium, find_firefox

gc.disable()  # until all tests are found

# The same examples on every run, and no stop-watch: a slow machine must not fail a test.
hypothesis.settings.register_profile(
    "house",
    derandomize=True,
    deadline=None,
    max_examples=30,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("long", hypothesis.settings.get_profile("house"), max_examples=2000)
hypothesis.settings.load_profile("long" if os.environ.get("GLASSFORMER_LONG") == "1" else "house")


NUMERIC = {"assert_near", "rounding", "prove"}  # a module with one of these compares float32 results


LEFT_OUT = ("slow", "long", "browser", "firefox", "gpu", "network", "real_start")  # by `make test-quick`


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick`, of `make test-quick`."""
    parser.addoption("--quick", action="store_true", help="one case of each test, and none that takes long")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A quick run does not even read the tests in browsers."""
    return True if config.getoption("quick") and collection_path.name == "browser" else None


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what can be seen from a test itself: comparisons within rounding, and properties of Hypothesis."""
    for item in items:
        if isinstance(item, pytest.Function):
            if NUMERIC & vars(item.module).keys():
                item.add_marker("numeric")
            if hypothesis.is_hypothesis_test(item.obj):
                item.add_marker("long")
    # A process that took one of these last would work on while the others have nothing left.
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    if config.getoption("quick"):
        left_out = list(items)
        items[:] = _choose_quick(items)
        chosen = set(items)
        config.hook.pytest_deselected(items=[item for item in left_out if item not in chosen])


def pytest_collection_finish() -> None:
    """Look for garbage in what tests make: modules, millions of objects, stay as long as the process."""
    gc.freeze()
    gc.enable()


def _choose_quick(items: list[pytest.Item]) -> list[pytest.Item]:
    """The first case of each test that is not marked with something that takes long."""
    quick = [item for item in items if not any(map(item.get_closest_marker, LEFT_OUT))]
    first = {item.nodeid.split("[")[0]: item for item in reversed(quick)}
    return [item for item in quick if first[item.nodeid.split("[")[0]] is item]


@pytest.hookimpl(tryfirst=True)  # before what a test shares with others is made
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Random numbers do not depend on earlier tests; what is not here is skipped, but browsers in CI."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    forking.active = item.get_closest_marker("real_start") is None
    if item.get_closest_marker("network") and os.environ.get("GLASSFORMER_NETWORK") != "1":
        pytest.skip("reads a model hub; set GLASSFORMER_NETWORK=1 to run it")
    if item.get_closest_marker("gpu"):
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("this machine has no CUDA device")
    for marker, find, name in (("browser", find_chromium, "Chromium"), ("firefox", find_firefox, "Firefox")):
        if item.get_closest_marker(marker) and find() is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"no {name} on this machine; install it, as .ci/run does", pytrace=False)
            pytest.skip(f"no {name} on this machine")


@pytest.fixture(scope="session", autouse=True)
def _forked_starts() -> Iterator[None]:
    """Processes that the product starts are forked from one that has imported torch."""
    with forking.fork_starts():
        yield


_processes = ExitStack()  # that are forked


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Processes of pytest-xdist are forked from one that has imported torch, too."""
    _processes.enter_context(forking.fork_starts())


def pytest_unconfigure() -> None:
    """After the last test."""
    _processes.close()


BuildOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def build_once(tmp_path_factory: pytest.TempPathFactory) -> BuildOnce:
    """A folder that the first process to ask for it fills; tests only read it."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    home = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent

    def build(name: str, fill: Callable[[Path], object]) -> Path:
        folder = home / f"shared-{name}"
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                begun = folder.with_suffix(".begun")
                begun.mkdir()
                fill(begun)
                begun.rename(folder)
        return folder

    return build


@pytest.fixture(scope="session")
def tiny_zoo(build_once: BuildOnce) -> Path:
    """A folder with one tiny model of each kind, as the zoo has them; tests only read it."""
    from tiny_models import build_zoo  # imports torch

    return build_once("zoo", build_zoo)


@pytest.fixture(scope="session")
def invented(build_once: BuildOnce) -> dict[str, Path]:
    """Files of invented recordings by their names; tests only read them."""
    from inventions import save_invented

    folder = build_once("invented", save_invented)
    names = ("decoder", "single", "translation", "long", "wide")
    return {name: folder / f"{name}.bundle" for name in names}


@pytest.fixture(autouse=True)
def _no_way_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections beyond this machine, so that no test passes thanks to a download."""
    if request.node.get_closest_marker("network"):
        return
    connect = socket.socket.connect

    def connect_at_home(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else "localhost"  # a path: a Unix socket
        if host not in ("::1", "localhost") and not host.startswith("127."):
            raise ConnectionRefusedError(f"a test tried to reach {host}; tests stay on this machine")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_at_home)
