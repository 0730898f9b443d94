"""Models for topics that want learnt numbers: opened as jobs open them, chosen by what they are made of.

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
    """As a job opens it, once for each question."""
    return load(folder, name=name)


class Zoo:
    """Models of one folder; only Transformers of the house can be looked into."""

    def __init__(self, candidates: Sequence[tuple[str, str]] = (), open: Open = open_model) -> None:
        self.candidates = candidates
        self.open = open

    def find(self, fits: Callable[[Transformer], bool], what: str) -> LoadedModel:
        """The first whose network fits; `what` is the code of the text that says what is needed."""
        for name, folder in self.candidates:
            try:
                model = self.open(name, folder)
            except GlassformerError:  # one that cannot be opened is no reason to look no further
                continue
            network = find_transformer(model)
            if network is not None and fits(network):
                return model
        raise InputError("lessons.no_model", what=message(what))
