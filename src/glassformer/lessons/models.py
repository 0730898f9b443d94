"""Models for topics that want trained weights, chosen by what they are made of.

In:   the names and folders of models that are here, in order of preference.
Out:  the first that fits.
"""

from collections.abc import Callable, Sequence

from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import find_transformer
from glassformer.loaded.opening import load
from glassformer.messages import message
from glassformer.model.transformer import Transformer

Open = Callable[[str, str], LoadedModel]  # by name and folder


def open_model(name: str, folder: str) -> LoadedModel:
    """Open a model as `load` does."""
    return load(folder, name=name)


class Zoo:
    """Shipped models: found by name, or the first of this project's own Transformers that fits."""

    def __init__(self, candidates: Sequence[tuple[str, str]] = (), open: Open = open_model) -> None:
        self.candidates = candidates
        self.open = open

    def find_named(self, name: str) -> LoadedModel | None:
        """The model of this name; None where it is not here or cannot be opened."""
        for known, folder in self.candidates:
            if known == name:
                try:
                    return self.open(known, folder)
                except GlassformerError:
                    return None
        return None

    def find(self, fits: Callable[[Transformer], bool], what: str) -> tuple[LoadedModel, Transformer]:
        """The first whose network fits, and that network; `what` is the code of a message that says what
        is needed."""
        for name, folder in self.candidates:
            try:
                model = self.open(name, folder)
            except GlassformerError:  # the next one may open
                continue
            network = find_transformer(model)
            if network is not None and fits(network):
                return model, network
        raise InputError("lessons.no_model", what=message(what))
