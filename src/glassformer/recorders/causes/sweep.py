"""A sweep: one text, many edits, and what each of them does to an outcome.

In:   a model that `load` opens, a text, edits, an outcome.
Out:  `Sweep`: the outcome without edits and under each of them. Edits are rows of a batch and share all
      layers before the first that they touch; one of them is measured by itself, too, and compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.loaded.reading import Inputs
from glassformer.messages import message
from glassformer.place import Kind
from glassformer.recorders.causes.outcomes import Outcome, Reading, read_together
from glassformer.recorders.comparison import tolerance_of
from glassformer.recorders.edited_rows import can_share_batch
from glassformer.recorders.edits.ablate_head import AblateHead, How
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.record import find_recorder, make_request
from glassformer.recorders.references import prepare_edits
from glassformer.recorders.request import Recorder, Request, check_edits
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.rounding import SHARPEST

NUMBERS = 1 << 26  # of logits or weights that one batch may form
MOST_ROWS = 48  # of a batch

Row = tuple[Edit, ...]  # edits that act together


@dataclass(frozen=True, slots=True)
class Sweep:
    """What edits do to an outcome; `effects` are the differences from the pass without any.

    >>> sweep = gf.sweep("zoo/gpt2", "The cat sat on the", outcome=gf.LogProbability(" floor"))
    >>> sweep.effects.shape, sweep.heads().shape  # one for each head; (layer, head)
    ((48,), (6, 8))
    """

    model: str
    outcome: Outcome
    tokens: Tokens  # whose positions have logits
    baseline: float
    edits: tuple[Row, ...]
    values: NDArray[np.float64]  # (edit,)
    largest_error: float  # of the logits of one edit, between the batch and a pass of its own

    @property
    def effects(self) -> NDArray[np.float64]:
        """(edit,): how much each edit changes the outcome."""
        return self.values - self.baseline

    def heads(self, stack: str | None = None, kind: Kind = "self") -> NDArray[np.float64]:
        """Effects of single ablated heads as (layer, head); NaN for heads that were not ablated."""
        found: dict[tuple[int, int], float] = {}
        for row, effect in zip(self.edits, self.effects, strict=True):
            edit = row[0]
            if len(row) == 1 and isinstance(edit, AblateHead) and edit.kind == kind:
                stack = edit.stack if stack is None else stack
                if edit.stack == stack:
                    found[edit.layer, edit.head] = float(effect)
        if not found:
            raise InputError("recorders.causes.no_heads")
        table = np.full(np.max(list(found), axis=0) + 1, np.nan)
        for place, effect in found.items():
            table[place] = effect
        return table

    def largest(self, count: int = 10) -> list[tuple[Row, float]]:
        """The edits that change the outcome most, in either direction."""
        order = np.argsort(-np.abs(self.effects), kind="stable")[:count]
        return [(self.edits[number], float(self.effects[number])) for number in order]

    def __str__(self) -> str:
        lines = [
            message("recorders.causes.without_edits", outcome=self.outcome, value=self.baseline),
            *(
                message("recorders.causes.with_edits", effect=effect, edits=row)
                for row, effect in self.largest()
            ),
        ]
        return "\n".join(map(str, lines))


@overload
def sweep(
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    outcome: Outcome,
    edits: Sequence[Edit | Sequence[Edit]] | None = None,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> Sweep: ...


@overload
def sweep(
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    outcome: Sequence[Outcome],
    edits: Sequence[Edit | Sequence[Edit]] | None = None,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> tuple[Sweep, ...]: ...


def sweep(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    outcome: Outcome | Sequence[Outcome],
    edits: Sequence[Edit | Sequence[Edit]] | None = None,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> Sweep | tuple[Sweep, ...]:
    """Measure an outcome under each of many edits, and without any; the model is left exactly as found.

    Arguments:
        model, inputs, target, tokenizer, device, target_language, second_text: see `record`. Without a target
            an encoder-decoder writes its own, without edits, and that is what every pass reads.
        outcome: LogProbability(token), LogitDifference(token, against), Rank(token), Loss(), TextScore(),
            ClassProbability(label) or Similarity(); several are measured in the same passes, a `Sweep` each.
        edits: one pass for each: an edit, or a list of edits that act together. None: every head silenced,
            one after the other; `all_heads` makes others.

    >>> sweep = gf.sweep("zoo/gpt2", "The cat sat on the", outcome=gf.LogProbability(" floor"))
    >>> edits, effect = sweep.largest(1)[0]
    >>> print(edits[0])
    head 4 of decoder layer 4, self: silenced
    """
    loaded = load(model, tokenizer, device=device)
    loaded.require("records", "edits")
    outcomes = tuple(outcome) if isinstance(outcome, Sequence) else (outcome,)
    if not outcomes or not all(isinstance(each, Outcome) for each in outcomes):
        raise InputError("recorders.causes.not_an_outcome", seen=repr(outcome))
    request = make_request(loaded, inputs, target, second_text=second_text, target_language=target_language)
    recorder = find_recorder(loaded)
    run = recorder.run(request)
    tokens = run.source if run.target is None else run.target
    if run.target is not None:
        request = replace(request, target=loaded.reader.read(run.target.ids[1:], target=True))
    rows = read_rows(_list_heads(run.maps, "zero", ()) if edits is None else edits)
    reading = read_together([each.prepare(loaded, tokens) for each in outcomes])
    order = sorted(range(len(rows)), key=lambda number: _first_layer(rows[number]))
    prepared = [  # in the order of layers, so that what other texts give there is read once
        prepare_edits(loaded, recorder, replace(request, edits=rows[number]), target_language)
        for number in order
    ]
    largest = max(each.statistics.allowed.shape[0] * each.shape[1] * each.shape[2] for each in run.maps)
    batches = _Batches(loaded, recorder, request, reading, largest)
    found = batches.run(prepared)
    values = np.empty((len(rows), len(outcomes)))
    values[order] = found[1:]
    sweeps = tuple(
        Sweep(loaded.name, each, tokens, float(found[0, number]), rows, values[:, number], batches.error)
        for number, each in enumerate(outcomes)
    )
    return sweeps[0] if isinstance(outcome, Outcome) else sweeps


def all_heads(
    recording: Recording, how: How = "zero", reference: Sequence[str] = (), *, kind: Kind | None = None
) -> list[AblateHead]:
    """Every head of a recorded model, ablated; `kind`: those of self- or of cross-attention only.

    >>> len(gf.all_heads(gf.record("zoo/gpt2", "The cat"), "mean"))
    48
    """
    edits = _list_heads(recording.maps, how, tuple(reference))
    return [edit for edit in edits if kind in (None, edit.kind)]


def _list_heads(maps: Iterable[AttentionMap], how: How, reference: tuple[str, ...]) -> list[AblateHead]:
    places = {each.place._replace(step=None): each.heads for each in maps}
    return [
        AblateHead.at(place, head, how, reference) for place, heads in places.items() for head in range(heads)
    ]


def read_rows(edits: object) -> tuple[Row, ...]:
    """What acts together in each pass; refuses what is no edit, and a sweep of nothing."""
    if isinstance(edits, str | Edit) or not isinstance(edits, Iterable):
        raise InputError("record.edits_not_a_list", seen=repr(edits))
    rows = tuple(check_edits((each,) if isinstance(each, Edit) else each) for each in edits)
    if not rows or not all(rows):
        raise InputError("recorders.causes.no_edits")
    return rows


@dataclass(slots=True)
class _Batches:
    """Passes over one text, as many at once as memory allows."""

    model: LoadedModel
    recorder: Recorder
    request: Request
    reading: Reading
    weights: int  # of the largest attention map
    together: bool = True  # False: rows of a batch differ from passes of their own in this model
    error: float = 0.0

    def run(self, edits: Sequence[Row]) -> NDArray[np.float64]:
        """(pass, outcome): without edits, then under each; those that begin in early layers come first."""
        positions = len(self.reading.positions or (0,))
        row = max(positions * (self.model.vocabulary_size or 1), self.weights)
        size = min(MOST_ROWS, max(1, NUMBERS // row))
        self._check(next((each for each in edits if can_share_batch((each,))), edits[0]))
        parts = [self._measure(edits[start : start + size]) for start in range(0, len(edits), size)]
        return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])

    def _check(self, edits: Row) -> None:
        """Compare a batch with a pass for itself: a model may mix rows, or fail to copy them."""
        alone = self._compute((edits,), together=False)
        try:
            batch = self._compute((edits,), together=True)
        except (GlassformerError, RuntimeError, ValueError, IndexError):
            self.together = False
            return
        magnitude = float(alone.abs().max()) or 1.0
        self.error = float((batch - alone).abs().max())
        self.together = self.error / magnitude <= tolerance_of(self.model.network, SHARPEST)
        if not self.together:
            self.error = 0.0

    def _measure(self, edits: Sequence[Row]) -> NDArray[np.float64]:
        logits = self._compute(edits, together=self.together)
        return self.reading.read(logits).double().cpu().numpy()

    def _compute(self, edits: Sequence[Row], *, together: bool) -> Tensor:
        with torch.no_grad():
            return self.recorder.measure(self.request, edits, self.reading.positions, together=together)


def _first_layer(row: Row) -> tuple[bool, int]:
    """Rows that begin in the same layer belong together; the encoder runs first."""
    places = [(getattr(edit, "stack", None), getattr(edit, "layer", None)) for edit in row]
    return min((stack == "decoder", layer or 0) for stack, layer in places)
