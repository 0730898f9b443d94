"""What silencing a head costs: how much the loss grows on the corpus, by batched sweeps.

In:   a model and a text.
Out:  the growth of the loss for each head, in nats: of a language model for each token; of a masked model for
      each of the tokens that are hidden from it; of a classifier for the label it would give.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from glassformer.corpus.atlas.texts import MarkedText
from glassformer.errors import GlassformerError
from glassformer.loaded.model import LoadedModel
from glassformer.metrics.scores import Numbers
from glassformer.place import Place
from glassformer.recorders.causes.outcomes import ClassProbability, LogProbability, Loss
from glassformer.recorders.causes.sweep import Sweep, sweep
from glassformer.recorders.edits.ablate_head import AblateHead

HIDDEN = 7  # one token in so many is hidden from a masked model

Growth = dict[tuple[Place, int], float]  # by head, of one text


def can_cost(model: LoadedModel) -> bool:
    """Whether there is a loss to measure."""
    return model.can("edits") and model.head in ("language", "masked", "classes")


def measure_cost(model: LoadedModel, text: MarkedText, target_language: str | None) -> Growth:
    """The growth of the loss under each silenced head; nothing where the text cannot be read."""
    try:
        return _measure(model, text, target_language)
    except GlassformerError:
        return {}


def collect(growths: Sequence[Growth], place: Place, heads: int) -> Numbers:
    """(text, head) of one layer."""
    return np.array([[growth[place, head] for head in range(heads)] for growth in growths])


def _measure(model: LoadedModel, text: MarkedText, target_language: str | None) -> Growth:
    if model.head == "language":
        found = sweep(model, text.text, text.target, outcome=Loss(), target_language=target_language)
        return dict(_read(found, found.effects))
    if model.head == "masked":
        return _hide(model, text)
    label = _classify(model, text)
    found = sweep(model, text.text, outcome=ClassProbability(label))
    return dict(_read(found, np.log(found.baseline) - np.log(found.values)))


def _hide(model: LoadedModel, text: MarkedText) -> Growth:
    """The mean loss of every seventh token, all of them hidden at once."""
    mask = model.require_tokenizer().roles["mask"]
    encoding = model.reader.read_source(text.text)
    ids = np.array(encoding.ids)
    hidden = np.flatnonzero(~np.array(encoding.special))[HIDDEN // 2 :: HIDDEN].tolist()
    if not hidden:
        return {}
    outcomes = [LogProbability(int(ids[place]), place) for place in hidden]
    ids[hidden] = mask
    sweeps = sweep(model, ids, outcome=outcomes)
    return dict(_read(sweeps[0], -np.mean([each.effects for each in sweeps], axis=0)))


def _classify(model: LoadedModel, text: MarkedText) -> int:
    shares = model.classify([model.reader.read_source(text.text).ids])[0]
    return int(np.argmax(shares))


def _read(found: Sweep, growth: Numbers) -> Iterator[tuple[tuple[Place, int], float]]:
    for row, value in zip(found.edits, growth, strict=True):
        edit = row[0]
        assert isinstance(edit, AblateHead)
        yield (Place(edit.stack, edit.kind, edit.layer), edit.head), float(value)
