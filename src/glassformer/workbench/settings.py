"""What a workbench may use: time, memory, tokens, and the folders that it looks for models in.

In:   what a person said on the command line.
Out:  a frozen `WorkbenchSettings` with every limit filled in.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from glassformer.api.settings import RunSettings

GIGABYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class WorkbenchSettings(RunSettings):
    """Limits of the worker processes."""

    models: tuple[Path, ...] = ()  # folders that are searched for models, besides the zoo
    runs: Path | None = None  # training runs, whose best networks can be run
    kept: int = 100  # finished jobs that are remembered
    patience: float = 0.75  # seconds that a worker has to stop by itself before it is ended
    new_tokens: int = 1_024  # that one generation may write
    beams: int = 32
    engine: Literal["local", "ray"] = "local"  # where workers run: this machine, or a Ray cluster
    address: str | None = None  # of the cluster
    devices: tuple[str, ...] = ()  # that workers use in turn, as "cuda:1"; none: the CPU
    memory: int = field(default_factory=lambda: find_memory() * 6 // 10)  # bytes of all worker processes
    growth: int = 256 << 20  # bytes, beside models, that a worker may grow by before another one replaces it
    loaded: int | None = None  # bytes of models kept in memory by all workers; None: a third of `memory`
    download: int | None = None  # bytes of a model that may be downloaded; None: any
    model_bytes: int | None = None  # of memory that a model may take, and all of a person's jobs together
    hub_token: bool = True  # whether downloads use the token of whoever started the server

    @property
    def worker_memory(self) -> int:
        """Bytes of one worker process."""
        return self.memory // self.jobs

    @property
    def loaded_bytes(self) -> int:
        """How much the models that one worker keeps ready may take together."""
        return (self.memory // 3 if self.loaded is None else self.loaded) // self.jobs

    def list_devices(self) -> list[str | None]:
        """The device of each worker; None: the CPU."""
        devices = self.devices or (None,)
        return [devices[number % len(devices)] for number in range(self.jobs)]


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    """What training that the page starts may use."""

    runs: Path
    data: Path  # the only folder that data may come from
    models: tuple[Path, ...] = ()
    offline: bool = False
    jobs: int = 1  # runs at the same time
    steps: int = 1_000_000  # of one run
    memory: int = field(
        default_factory=lambda: find_memory() * 6 // 10
    )  # bytes of one run, estimated and real
    allows: Callable[[str], bool] = lambda _: True  # which names on the hub recipes may use
    download: int | None = None  # bytes of a model that may be downloaded; None: any
    hub_token: bool = True
    stop_seconds: float = 120.0  # that a run has to end its step and write a checkpoint


def find_memory() -> int:
    """Bytes of this machine, or of the container that we are in."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a Unix
        total = 8 * GIGABYTE
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdecimal() else total
