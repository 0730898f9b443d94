"""Events of a run while it trains: one protocol, and a file for each tool that follows it."""

from glassformer.training.callbacks.callback import (
    CALLBACKS,
    Callback,
    CallbackList,
    HeadMaps,
    Rows,
    RunStart,
)

__all__ = ["CALLBACKS", "Callback", "CallbackList", "HeadMaps", "Rows", "RunStart"]
