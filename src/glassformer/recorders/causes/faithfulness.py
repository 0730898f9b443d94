"""Faithfulness: how well what a method says agrees with what really happens when a part is taken away.

In:   a model that `load` opens, texts, an outcome for each, methods.
Out:  `Faithfulness`: for each method the correlation of its scores with measured effects: of heads silenced,
      edges cut, tokens hidden. faithfulness.json has those of the zoo, made by benchmarks/faithfulness.py.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.recorders.causes.attributions import METHODS, SIGNED, Attribution, attribute_pass
from glassformer.recorders.causes.estimates import Estimate, estimate_pass
from glassformer.recorders.causes.gradients import OutcomePass, open_pass
from glassformer.recorders.causes.outcomes import Outcome
from glassformer.recorders.causes.sweep import sweep
from glassformer.recorders.edits.ablate_head import AblateHead
from glassformer.recorders.edits.cut_edge import CutEdge
from glassformer.recorders.edits.edit import Edit
from glassformer.registry import suggestion

Unit = Literal["edges", "heads", "tokens"]
UNITS: tuple[Unit, ...] = get_args(Unit)
KNOWN = ("estimate", *METHODS)
EDGES = 100  # of each text that are cut
FEWEST = 3  # parts of a text, for a correlation

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well one method agrees with measured effects: correlations, means over the texts.

    Methods with a sign are compared with what is lost, others with how much changes, in either direction.
    """

    method: str
    unit: Unit
    spearman: float
    pearson: float
    texts: int
    parts: int  # edges, heads or tokens, of all texts together


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """How well methods agree with real cuts in one model.

    >>> texts, outcome = ["The men on the road"], gf.LogitDifference(" were", " was")
    >>> found = gf.faithfulness("zoo/gpt2", texts, outcome, ["estimate", "gradient_input"], edges=20)
    >>> [(each.method, each.unit) for each in found.rows]
    [('estimate', 'edges'), ('estimate', 'heads'), ('gradient_input', 'tokens')]
    """

    model: str
    rows: tuple[Agreement, ...]

    def row(self, method: str, unit: Unit) -> Agreement:
        """The agreement of one method."""
        for each in self.rows:
            if (each.method, each.unit) == (method, unit):
                return each
        raise InputError("recorders.faithfulness.no_row", method=method, unit=_name(unit))

    def __str__(self) -> str:
        lines = [message("recorders.faithfulness.title", name=self.model)]
        lines += [
            message(
                "recorders.faithfulness.line",
                method=each.method,
                unit=_name(each.unit),
                spearman=each.spearman,
                pearson=each.pearson,
                parts=each.parts,
            )
            for each in self.rows
        ]
        return "\n".join(map(str, lines))


def faithfulness(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    texts: Sequence[str],
    outcome: Outcome | Sequence[Outcome],
    methods: Sequence[str] = KNOWN,
    *,
    edges: int = EDGES,
    seed: int = 0,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
) -> Faithfulness:
    """Correlate what methods say with what real cuts do, on some texts.

    Arguments:
        outcome: one for all texts, or one for each.
        methods: those of `attribute`, and "estimate".
        edges: how many edges of each text are cut, drawn at random with this seed; every head is silenced,
            and every token hidden from all others, of an encoder-decoder from the decoder.
        model, tokenizer, device, target_language: see `sweep`.

    >>> texts, outcome = ["The men on the road"], gf.LogitDifference(" were", " was")
    >>> found = gf.faithfulness("zoo/gpt2", texts, outcome, ["estimate"], edges=20)
    >>> found.row("estimate", "heads").pearson > 0.5
    True
    """
    loaded = load(model, tokenizer, device=device)
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError("recorders.faithfulness.not_a_list", seen=repr(texts)[:80])
    outcomes = list(outcome) if isinstance(outcome, Sequence) else [outcome] * len(texts)
    if not texts or len(outcomes) != len(texts):
        raise InputError("recorders.faithfulness.texts", outcomes=len(outcomes))
    for method in methods:
        if method not in KNOWN:
            near = suggestion(str(method), KNOWN)
            raise InputError("recorders.attribution.unknown_method", method=str(method), suggestion=near)
    found: dict[tuple[str, Unit], list[tuple[float, float, int]]] = {}
    rng = np.random.default_rng(seed)
    for text, measured in zip(texts, outcomes, strict=True):
        prepared = open_pass(loaded, text, None, measured, target_language=target_language)
        effects = _Effects(loaded, text, prepared, measured, target_language, edges, rng)
        for method in methods:
            for unit, said, seen in effects.compare(method):
                found.setdefault((method, unit), []).append((*_correlate(said, seen), len(seen)))
    rows = [
        Agreement(
            method,
            unit,
            float(np.mean([each[0] for each in pairs])),
            float(np.mean([each[1] for each in pairs])),
            len(pairs),
            sum(each[2] for each in pairs),
        )
        for (method, unit), pairs in found.items()
    ]
    return Faithfulness(loaded.name, tuple(rows))


def read_measured() -> dict[str, Faithfulness]:
    """What was measured in the models of the zoo, by name; it comes with Glassformer."""
    text = files("glassformer.recorders.causes").joinpath("faithfulness.json").read_text(encoding="utf-8")
    return {
        name: Faithfulness(name, tuple(Agreement(**row) for row in rows))
        for name, rows in json.loads(text).items()
    }


def write_measured(found: Sequence[Faithfulness]) -> str:
    """The text of faithfulness.json, numbers to two decimals."""
    rounded = {
        each.model: [
            asdict(replace(row, spearman=round(row.spearman, 2), pearson=round(row.pearson, 2)))
            for row in each.rows
        ]
        for each in found
    }
    return json.dumps(rounded, indent=1) + "\n"


class _Effects:
    """Measured effects of one text: how much the outcome changes without each part."""

    def __init__(
        self,
        model: LoadedModel,
        text: str,
        prepared: OutcomePass,
        outcome: Outcome,
        target_language: str | None,
        edges: int,
        rng: np.random.Generator,
    ) -> None:
        self.model, self.text, self.outcome = model, text, outcome
        self.prepared, self.target_language = prepared, target_language
        self.estimate: Estimate = estimate_pass(prepared, outcome)
        self.edges = self._draw(edges, rng)
        self._measured: dict[Unit, Array] = {}

    def compare(self, method: str) -> Iterator[tuple[Unit, Array, Array]]:
        """What a method says and what was measured, for each unit that it speaks of."""
        if method == "estimate":
            edges = np.array([self.estimate.edges[place][at] for place, at in self.edges])
            heads = np.concatenate([*self.estimate.heads.values()])
            yield "edges", edges, self._measure("edges")
            yield "heads", heads, self._measure("heads")
            return
        said = attribute_pass(self.prepared, self.outcome, method)  # type: ignore[arg-type]
        for unit, scores in self._scores(said):
            effects = self._measure(unit)
            yield unit, scores, -effects if method in SIGNED else np.abs(effects)

    def _scores(self, said: Attribution) -> Iterator[tuple[Unit, Array]]:
        if said.scores:
            yield "tokens", said.scores["source"][self._hidden()]
            return
        yield "edges", np.array([said.maps[place][at] for place, at in self.edges])
        if said.method != "attention":  # rows sum to one: every head has as much of it
            yield "heads", np.concatenate([*said.heads().values()])

    def _draw(self, count: int, rng: np.random.Generator) -> list[tuple[Place, tuple[int, int, int]]]:
        """Edges that can be cut, at random."""
        known = [
            (place, (int(at[0]), int(at[1]), int(at[2])))
            for place, effects in self.estimate.edges.items()
            for at in np.argwhere(np.isfinite(effects) & (effects != 0))
        ]
        chosen = rng.choice(len(known), size=min(count, len(known)), replace=False)
        return [known[number] for number in sorted(chosen)]

    def _hidden(self) -> list[int]:
        """Tokens of the source that can be hidden from others; the last token of a decoder has none."""
        count = len(self.prepared.source)
        return list(range(count - 1 if self.model.shape == "decoder" else count))

    def _hide(self, key: int) -> list[Edit]:
        """A token hidden from all others, of an encoder-decoder from the decoder, in every layer and head."""
        if self.model.shape == "encoder-decoder":
            queries = range(len(self.prepared.tokens))
            return [CutEdge("decoder", "cross", None, None, query, key) for query in queries]
        first = key + 1 if self.model.shape == "decoder" else 0
        queries = range(first, len(self.prepared.source))
        stack = self.model.shape
        return [CutEdge(stack, "self", None, None, query, key) for query in queries if query != key]

    def _list_edits(self, unit: Unit) -> list[Edit | Sequence[Edit]]:
        """What takes each part away."""
        if unit == "edges":
            return [CutEdge.at(place, *at) for place, at in self.edges]
        if unit == "tokens":
            return [self._hide(key) for key in self._hidden()]
        heads = self.estimate.heads
        return [AblateHead.at(place, head) for place in heads for head in range(len(heads[place]))]

    def _measure(self, unit: Unit) -> Array:
        if unit not in self._measured:
            target = self.prepared.tokens.ids[1:] if self.prepared.request.target is not None else None
            self._measured[unit] = sweep(
                self.model,
                self.text,
                target,
                outcome=self.outcome,
                edits=self._list_edits(unit),
                target_language=self.target_language,
            ).effects
        return self._measured[unit]


def _name(unit: Unit) -> Message:
    return {
        "edges": message("recorders.faithfulness.edges"),
        "heads": message("recorders.faithfulness.heads"),
        "tokens": message("recorders.faithfulness.tokens"),
    }[unit]


def _correlate(one: Array, other: Array) -> tuple[float, float]:
    """Spearman's and Pearson's correlation."""
    from scipy.stats import rankdata

    if len(one) < FEWEST:
        raise InputError("recorders.faithfulness.few", count=len(one), wanted=FEWEST)
    return _pearson(rankdata(one), rankdata(other)), _pearson(one, other)


def _pearson(one: Array, other: Array) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size else 0.0
