"""Engines by their names.

In:   a name, how many tasks may run at a time, the address of a cluster.
Out:  an `Engine`.
"""

from glassformer.engine.engine import Engine
from glassformer.engine.local import LocalEngine
from glassformer.engine.ray_cluster import RayEngine
from glassformer.errors import ConfigurationError
from glassformer.registry import suggestion

ENGINES = ("local", "ray")


def open_engine(name: str = "local", *, jobs: int | None = None, address: str | None = None) -> Engine:
    """An engine by its name: "local", with `jobs` processes, or "ray", at the `address` of a cluster.

    Without an address, Ray is started on this machine, unless the variable RAY_ADDRESS names a cluster.
    Functions are those of modules that can be imported: they run in other processes.

    >>> import math
    >>> with gf.open_engine("local", jobs=2) as engine:
    ...     for number in (3, 4, 5):
    ...         engine.submit(f"{number}!", math.factorial, number)
    ...     sorted(engine.wait().get() for _ in range(3))
    [6, 24, 120]
    """
    if name == "local":
        if address is not None:
            raise ConfigurationError("engine.address_of_local", address=address)
        return LocalEngine(jobs or 1)
    if name == "ray":
        return RayEngine(address)
    raise ConfigurationError("engine.unknown", name=name, suggestion=suggestion(name, ENGINES))
