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
    """
    if name == "local":
        if address is not None:
            raise ConfigurationError("engine.address_of_local", address=address)
        return LocalEngine(jobs or 1)
    if name == "ray":
        return RayEngine(address)
    raise ConfigurationError("engine.unknown", name=name, suggestion=suggestion(name, ENGINES))
