"""Old import path of the generation settings; removed in the next version."""

import warnings

from glassformer.model import generation_settings, sampling


def __getattr__(name: str) -> object:
    for module in (generation_settings, sampling):
        if not name.startswith("_") and hasattr(module, name):
            new = f"{module.__name__}.{name}"
            warnings.warn(
                f"glassformer.model.choosing.{name} moved to {new}", DeprecationWarning, stacklevel=2
            )
            value: object = getattr(module, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
