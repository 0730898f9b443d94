"""Where work runs: many independent tasks, in processes of this machine or on a Ray cluster. See `Engine`."""

from glassformer.engine.engine import Engine, Resources, Result, run_in_order
from glassformer.engine.opening import open_engine

__all__ = ["Engine", "Resources", "Result", "open_engine", "run_in_order"]
