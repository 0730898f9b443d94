"""Arrays of the walk by name: of the trace, or of whatever else the recording kept.

In:   a Recording.
Out:  an array for each name of a plan, or None where nothing backs it.
"""

import re
from collections.abc import Mapping
from math import prod

import numpy as np

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.recording.arrays import AnyArray
from glassformer.recording.recording import Setting
from glassformer.settings import read_settings
from glassformer.walk.derived import Derivation

MOST_CELLS = 4 << 20  # of a matrix that is computed to be walked through

_PLACE = re.compile(r"(\w+)/(\d+)/(self|cross|feed_forward)/(\w+)")
_HIDDEN = re.compile(r"(\w+)/hidden/(\d+)")


class Arrays:
    """What a recording can show, under the names of the walk."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.words = _check(recording)
        self._maps: dict[tuple[str, int, str], AttentionMap] = {
            (each.stack, each.layer, each.kind): each for each in recording.maps if each.step is None
        }
        self._derivations: dict[str, tuple[Derivation, tuple[int, ...]]] = {}  # what follows, and its shape
        self._made: dict[str, AnyArray] = {}  # derived arrays, each computed once

    def find(self, name: str) -> AnyArray | None:
        """The array of a name, as it was kept, or as it follows from what was."""
        kept = self.recording.trace.get(name)
        if kept is not None:
            return kept
        if name in self._derivations and name not in self._made:
            derivation = self._derivations[name][0]
            read = [self.find(each) for each in derivation.inputs]
            self._made[name] = derivation.make([array for array in read if array is not None])
        if name in self._made:
            return self._made[name]
        return self._find_kept(name)

    def register(self, name: str, derivation: Derivation) -> tuple[int, ...] | None:
        """Register how to derive an array on request; gives its shape, None where inputs are missing."""
        shape = derivation.measure([self.shape(each) for each in derivation.inputs], MOST_CELLS)
        if not self.words or self.recording.evidence.edits:  # an edited network may compute something else
            return None
        if shape is not None:
            self._derivations[name] = (derivation, shape)
        return shape

    def is_computed(self, name: str) -> bool:
        """Whether an array was derived from kept ones instead of recorded."""
        made = name.endswith("/mixed") and name not in self.recording.trace
        return name in self._derivations or (made and self.shape(name) is not None)

    def _find_kept(self, name: str) -> AnyArray | None:
        if name.endswith("/ids"):
            stack = name.removesuffix("/ids")
            return self.tokens(stack).ids if stack in self.stacks() else None
        if name.startswith("output/"):
            return self._find_output(name)
        if place := _HIDDEN.fullmatch(name):
            return self._find_hidden(place[1], int(place[2]))
        if place := _PLACE.fullmatch(name):
            return self._find_place(place[1], int(place[2]), place[3], place[4])
        return self._find_state(name)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The lengths of its axes."""
        if name == "output/probabilities":
            return self.shape("output/logits") or self.shape("output/classes")
        if name in self._derivations:
            return self._derivations[name][1]
        place = _PLACE.fullmatch(name)
        if place and place[4] in ("weights", "scores", "mixed") and name not in self.recording.trace:
            found = self.map(place[1], int(place[2]), place[3])
            if found is None or not _has_matrix(found, place[4]):
                return None
            if place[4] == "mixed" and found.values is not None:
                return (*found.shape[:2], found.values.shape[-1])
            return found.shape
        array = self.find(name)
        return None if array is None else array.shape

    def stacks(self) -> dict[str, None]:
        """Those that ran, in order."""
        shape, recording = str(self.words.get("shape", "")), self.recording
        named = [stack for stack in ("encoder", "decoder") if stack in shape]
        return dict.fromkeys([*named, *recording.hidden, *(each.stack for each in recording.maps)])

    def tokens(self, stack: str) -> Tokens:
        """What a stack reads."""
        target = self.recording.target
        return self.recording.source if target is None or stack != "decoder" else target

    def map(self, stack: str, layer: int, kind: str) -> AttentionMap | None:
        """The whole map of a layer; those of single steps are no part of the walk."""
        return self._maps.get((stack, layer, kind))

    def depth(self, stack: str) -> int:
        """How many layers ran."""
        seen = [place[1] for place in self._maps if place[0] == stack and place[2] == "self"]
        return max(seen, default=-1) + 1

    def _find_output(self, name: str) -> AnyArray | None:
        output = self.recording.output
        if name in ("output/likeliest", "output/log_probabilities"):
            if output is None:
                return None
            best: AnyArray = output.ids if name.endswith("likeliest") else output.log_probabilities
            return best[0] if output.kind == "classes" else best
        if name == "output/probabilities":
            logits = self.recording.trace.get("output/logits", self.recording.trace.get("output/classes"))
            return None if logits is None else soften(logits).astype(np.float32)
        return None

    def _find_place(self, stack: str, layer: int, kind: str, what: str) -> AnyArray | None:
        if kind == "feed_forward":
            last = "sum" if self.words.get("norm_position") == "pre" else "norm"
            behind = last == "sum" and layer + 1 == self.depth(stack)  # then the last norm came after it
            if what == last and self.words and not behind:
                return self._find_hidden(stack, layer + 1)
            return None
        found = self.map(stack, layer, kind)
        if found is None:
            return None
        if what == self._name_scores(stack, kind):
            what = "scores"
        if what in ("weights", "scores", "mixed"):
            return _find_matrix(found, what)
        turned = self.words.get("positions") == "rotary" and kind == "self"
        vectors = {"queries": found.queries, "keys": found.keys, "values": found.values}
        if turned:
            vectors = {"queries_turned": found.queries, "keys_turned": found.keys, "values": found.values}
        return vectors.get(what)

    def _name_scores(self, stack: str, kind: str) -> str:
        """What the plan calls the scores that the softmax reads: the last of similarities, bias and mask."""
        if not self.words or (stack == "decoder" and kind == "self"):
            return "scores"
        if self.words.get("positions") == "relative" and kind == "self":
            return "biased"
        return "products" if self.words.get("similarity") == "dot" else "scaled"

    def _find_hidden(self, stack: str, layer: int) -> AnyArray | None:
        states = self.recording.hidden.get(stack)
        return None if states is None or layer >= len(states) else states[layer]

    def _find_state(self, name: str) -> AnyArray | None:
        stack, _, what = name.partition("/")
        states = self.recording.hidden.get(stack)
        if states is None or not self.words:
            return None
        if what == "final":
            return self._find_hidden(stack, len(states) - 1)
        return self._find_hidden(stack, 0) if what == f"embedding/{name_last_embedding(self.words)}" else None


def _has_matrix(found: AttentionMap, what: str) -> bool:
    """Whether a map shows all of its weights, scores or mixed values: kept, or few enough to compute."""
    if what == "mixed" and found.values is None:
        return False
    kept = found.dense_scores if what == "scores" else found.dense
    return kept is not None or (found.factors is not None and prod(found.shape) <= MOST_CELLS)


def _find_matrix(found: AttentionMap, what: str) -> AnyArray | None:
    if not _has_matrix(found, what):
        return None
    if what == "mixed" and found.values is not None:  # not kept, but it follows from what was
        values = np.repeat(found.values, found.heads // len(found.values), axis=0)
        mixed: AnyArray = found.weights() @ values.astype(np.float32, copy=False)
        return mixed
    return found.scores() if what == "scores" else found.weights()


def _check(recording: Recording) -> dict[str, Setting]:
    """The settings of the architecture; impossible ones of a file raise ConfigurationError."""
    words = dict(recording.architecture or {})
    kind: type[ModelConfig] | type[RecurrentConfig] = RecurrentConfig if "cell" in words else ModelConfig
    if words:
        read_settings(kind, words)
    return words


def name_last_embedding(words: Mapping[str, object]) -> str:
    """What the embeddings end with in an architecture: the array that the first layer reads."""
    if words.get("embedding_width"):
        return "widened"
    if words.get("embedding_norm"):
        return "norm"
    if str(words.get("positions")) in ("rotary", "relative", "none") and not words.get("segments"):
        return "scaled" if words.get("scale_embeddings") else "tokens"
    return "sum"


def soften(scores: AnyArray) -> AnyArray:
    """Softmax over the last axis, in double precision; a row without any finite score becomes zeros."""
    wide = scores.astype(np.float64)
    highest = wide.max(axis=-1, keepdims=True)
    powers = np.exp(wide - np.where(np.isfinite(highest), highest, 0.0))
    sums = powers.sum(axis=-1, keepdims=True)
    result: AnyArray = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    return result
