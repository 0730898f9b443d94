"""Tasks on a Ray cluster: many machines, or this one.

In:   the address of a cluster; tasks.
Out:  their results. Ray itself starts a task again whose process or machine was lost.

Every machine needs this package, and the folders that tasks read and write under the same paths.
"""

import os
import pickle
import socket
import sys
from collections.abc import Callable
from typing import Any, Self

from glassformer.engine.engine import (
    RETRIES,
    Resources,
    Result,
    check_task,
    pickle_error,
    read_outcome,
    run_task,
)
from glassformer.errors import EngineError

PATIENCE = 10.0  # seconds until a cluster answers


class RayEngine:
    """Tasks run where the cluster has the CPUs and GPUs that they need."""

    def __init__(self, address: str | None = None) -> None:
        self.ray = self._ray = _import_ray()
        self._refs: dict[str, Any] = {}
        self._opened = not self._ray.is_initialized()
        if self._opened:
            find_own = self._ray.util.get_node_ip_address
            _check_address(address, find_own)
            asked = address or os.environ.get("RAY_ADDRESS")
            address = address or _choose_local(find_own)
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            try:
                self._ray.init(
                    address,
                    log_to_driver=False,
                    include_dashboard=None if address not in (None, "local") else False,
                )
            except Exception as error:  # Ray also raises plain `Exception`s
                code = "engine.no_cluster" if asked else "engine.not_started"
                raise EngineError(code, address=asked, reason=str(error).rstrip(".")) from error
        self._call = self._ray.remote(_call)

    @property
    def slots(self) -> int:
        return self.cpus

    @property
    def cpus(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def gpus(self) -> int:
        return int(self._ray.cluster_resources().get("GPU", 0))

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self._refs)

    def submit(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,
        resources: Resources = Resources(),  # noqa: B008 - frozen
        retries: int = RETRIES,
    ) -> None:
        check_task(key, self.keys, function)
        call = self._call.options(
            name=key, num_cpus=resources.cpus, num_gpus=resources.gpus, max_retries=retries
        )
        self._refs[key] = call.remote(os.getcwd(), sys.path, pickle.dumps((function, arguments)))

    def wait(self, seconds: float | None = None) -> Result | None:
        if not self._refs:
            return None
        ready, _ = self._ray.wait(list(self._refs.values()), num_returns=1, timeout=seconds)
        if not ready:
            return None
        key = next(key for key, ref in self._refs.items() if ref == ready[0])
        del self._refs[key]
        errors = self._ray.exceptions
        try:
            succeeded, pickled = self._ray.get(ready[0])
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError) as error:
            return Result(key, error=EngineError("engine.lost", key=key, how=type(error).__name__))
        except errors.RayError as error:
            return Result(key, error=EngineError("engine.failed", error=str(error)))
        return read_outcome(key, succeeded, pickled)

    def cancel(self, key: str) -> None:
        if (ref := self._refs.pop(key, None)) is not None:
            self._ray.cancel(ref, force=True)

    def close(self) -> None:
        for key in self.keys:
            self.cancel(key)
        if self._opened:
            self._ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _call(folder: str, path: list[str], pickled: bytes) -> tuple[bool, bytes]:
    """Run a task in a process of the cluster, in the folder of the program that submitted it."""
    if os.path.isdir(folder):
        os.chdir(folder)
    sys.path += [each for each in path if each not in sys.path]
    try:
        function, arguments = pickle.loads(pickled)
    except Exception as error:  # its module cannot be imported there
        return False, pickle_error(error)
    return run_task(function, arguments)


def _check_address(address: str | None, find_own: Callable[[], str]) -> None:
    """Refuse a cluster that does not answer; Ray itself would try for minutes, or for ever.

    `find_own` says the address of this machine in its network: where Ray asks instead of at localhost.
    """
    host, _, port = (address or "").rpartition(":")
    if not host or "/" in host or not port.isdecimal():  # "auto", "ray://…"
        return
    if host in ("localhost", "127.0.0.1", "::1", "[::1]"):
        host = find_own()
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except OSError as error:
        shown = f"{host}:{port}"
        raise EngineError("engine.no_cluster", address=shown, reason=str(error)) from error


def _choose_local(find_own: Callable[[], str]) -> str | None:
    """ "local" if the cluster that Ray remembers on this machine is gone: Ray would wait for it for ever."""
    if os.environ.get("RAY_ADDRESS"):
        return None
    try:
        from ray._private.services import find_bootstrap_address
    except ImportError:  # a private function of Ray, which may disappear
        return None
    known = find_bootstrap_address(None)
    try:
        _check_address(known, find_own)
    except EngineError:
        return "local"
    return None


def _import_ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise EngineError("engine.no_ray") from error
    return ray
