"""Models for topics that want learnt numbers: opened as jobs open them, chosen by what they are made of.

In:   the names and folders of models that are here, in order of preference.
Out:  the first that fits.
"""

from collections.abc import Callable, Sequence

from glassformer.errors import GlassformerError, InputError
from glassformer.model.transformer import Transformer
from glassformer.recorders.native.recorder import OurSubject
from glassformer.recorders.record import load

Open = Callable[[str, str], object]  # name and folder → subject


def open_model(name: str, folder: str) -> object:
    """As a job opens it, once for each question."""
    return load(folder, name=name)


class Zoo:
    """Models of one folder; only Transformers of the house can be looked into."""

    def __init__(self, candidates: Sequence[tuple[str, str]] = (), open: Open = open_model) -> None:
        self.candidates = candidates
        self.open = open

    def find(self, fits: Callable[[Transformer], bool], what: str) -> OurSubject:
        """The first whose network fits."""
        for name, folder in self.candidates:
            try:
                subject = self.open(name, folder)
            except GlassformerError:  # one that cannot be opened is no reason to look no further
                continue
            if not isinstance(subject, OurSubject) or not isinstance(subject.network, Transformer):
                continue
            if fits(subject.network):
                return subject
        raise InputError(f"This topic looks into {what}, and none is here. Install the zoo, and try again.")
