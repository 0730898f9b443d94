"""Arrays of the walk by name: of the trace, or of whatever else the recording kept.

In:   a Recording.
Out:  an array for each name of a plan, or None where nothing backs it.
"""

from math import prod

import numpy as np

from glassformer.config import INSIDE_ATTENTION, ModelConfig, RecurrentConfig
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.recording.arrays import AnyArray
from glassformer.recording.recording import Setting
from glassformer.settings import read_settings
from glassformer.walk.derived import Derivation
from glassformer.walk.given import Architecture, perceives, read_given

MOST_CELLS = 4 << 20  # of a matrix that is computed to be walked through


class Arrays:
    """What a recording can show, under the names of the walk."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.architecture = _check(recording)
        self._maps: dict[tuple[str, int, str], AttentionMap] = {
            (each.stack, each.layer, each.kind): each for each in recording.maps if each.step is None
        }
        self._matrices: dict[str, tuple[AttentionMap, str]] = {}  # a map, and which of its matrices
        self._kept: dict[str, AnyArray | None] = {}  # what is not in the trace
        self._kept |= read_given(self.architecture, recording.source)
        for stack in self.stacks():
            self._name_states(stack)
        for found in self._maps.values():
            self._name_map(found)
        self._name_output()
        self._derivations: dict[str, tuple[Derivation, tuple[int, ...]]] = {}  # what follows, and its shape
        self._made: dict[str, AnyArray] = {}  # derived arrays, each computed once

    def find(self, name: str) -> AnyArray | None:
        """The array of a name, as it was kept, or as it follows from what was."""
        trace = self.recording.trace
        if name in trace:
            return trace[name]
        if name in self._derivations and name not in self._made:
            derivation = self._derivations[name][0]
            read = [self.find(each) for each in derivation.inputs]
            self._made[name] = derivation.make([array for array in read if array is not None])
        if name in self._made:
            return self._made[name]
        if name == "output/probabilities":
            logits = trace.get("output/logits", trace.get("output/classes"))
            return None if logits is None else soften(logits).astype(np.float32)
        return _find_matrix(*self._matrices[name]) if name in self._matrices else self._kept.get(name)

    def register(self, name: str, derivation: Derivation) -> tuple[int, ...] | None:
        """Register how to derive an array on request; gives its shape, None where inputs are missing."""
        shape = derivation.measure([self.shape(each) for each in derivation.inputs], MOST_CELLS)
        if not self.architecture or self.recording.evidence.edits:  # an edited network may compute otherwise
            return None
        if shape is not None:
            self._derivations[name] = (derivation, shape)
        return shape

    def is_computed(self, name: str) -> bool:
        """Whether an array was derived from kept ones instead of recorded."""
        made = name.endswith("/mixed") and name not in self.recording.trace
        return name in self._derivations or (made and self.shape(name) is not None)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The lengths of its axes."""
        if name == "output/probabilities":
            return self.shape("output/logits") or self.shape("output/classes")
        if name in self._derivations:
            return self._derivations[name][1]
        if name in self._matrices and name not in self.recording.trace:  # measured, not computed
            return _measure_matrix(*self._matrices[name])
        array = self.find(name)
        return None if array is None else array.shape

    def stacks(self) -> dict[str, None]:
        """Those that ran, in order."""
        recording = self.recording
        shape = "encoder-decoder" if "cell" in self.architecture else str(self.architecture.get("shape", ""))
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

    def _name_states(self, stack: str) -> None:
        """The ids of a stack and its hidden states; in our own networks these are also outputs of steps."""
        self._kept[f"{stack}/ids"] = self.tokens(stack).ids
        states, depth = self.recording.hidden.get(stack), self.depth(stack)
        if states is None or not len(states):
            return
        self._kept |= {f"{stack}/hidden/{layer}": state for layer, state in enumerate(states)}
        if not self.architecture:
            return
        if "cell" in self.architecture:  # torch's cells show the states of their top layer only
            top = int(self.architecture["layers"] or 1) - 1
            both = stack == "encoder" and self.architecture["bidirectional"]
            self._kept[f"{stack}/{top}/{'both/states' if both else 'forward/state'}"] = states[-1]
            return
        pre = self.architecture.get("norm_position") == "pre"
        for layer in range(depth - 1 if pre else depth):  # with norms first, the last one comes after the sum
            place = f"{stack}/{layer}/feed_forward/{'sum' if pre else 'norm'}"
            self._kept[place] = self._kept.get(f"{stack}/hidden/{layer + 1}")
        self._kept[f"{stack}/embedding/{name_last_embedding(self.architecture, stack)}"] = states[0]
        self._kept[f"{stack}/final"] = states[-1]

    def _name_map(self, found: AttentionMap) -> None:
        place = f"{found.stack}/{found.layer}/{found.kind}"
        turned = self.architecture.get("positions") == "rotary" and found.kind == "self"
        last = "_turned" if turned else "_normed" if self.architecture.get("query_key_norm") else ""
        self._kept[f"{place}/queries{last}"] = found.queries
        self._kept[f"{place}/keys{last}"] = found.keys
        self._kept[f"{place}/values"] = found.values
        self._matrices |= {f"{place}/{what}": (found, what) for what in ("weights", "scores", "mixed")}
        self._matrices[f"{place}/{self._name_scores(found.stack, found.kind)}"] = found, "scores"

    def _name_scores(self, stack: str, kind: str) -> str:
        """What the plan calls the scores that the softmax reads: the last of similarities, bias and mask."""
        own = kind == "self"
        masked = own and (stack == "decoder" or bool(self.architecture.get("window")))
        if not self.architecture or "cell" in self.architecture or masked:
            return "scores"
        if own and self.architecture.get("positions") in ("relative", "alibi"):
            return "biased"
        plain = self.architecture.get("similarity") == "dot" and self.architecture.get("score_scale") is None
        return "products" if plain else "scaled"

    def _name_output(self) -> None:
        output = self.recording.output
        if output is not None:
            one = not output.per_token
            self._kept["output/likeliest"] = output.ids[0] if one else output.ids
            best = output.log_probabilities
            self._kept["output/log_probabilities"] = best[0] if one else best


def _measure_matrix(found: AttentionMap, what: str) -> tuple[int, ...] | None:
    """The shape of a map's weights, scores or mixed values; None: neither kept, nor few enough to compute."""
    kept = found.dense_scores if what == "scores" else found.peek("dense")
    if kept is None and (found.factors is None or prod(found.shape) > MOST_CELLS):
        return None
    if what != "mixed":
        return found.shape
    return None if found.values is None else (*found.shape[:2], found.values.shape[-1])


def _find_matrix(found: AttentionMap, what: str) -> AnyArray | None:
    if _measure_matrix(found, what) is None:
        return None
    if what == "mixed" and found.values is not None:  # not kept, but it follows from what was
        values = np.repeat(found.values, found.heads // len(found.values), axis=0)
        mixed: AnyArray = found.weights() @ values.astype(np.float32, copy=False)
        return mixed
    return found.scores() if what == "scores" else found.weights()


def _check(recording: Recording) -> dict[str, Setting]:
    """The settings of the architecture; impossible ones of a file raise ConfigurationError."""
    architecture = dict(recording.architecture or {})
    kind: type[ModelConfig] | type[RecurrentConfig] = (
        RecurrentConfig if "cell" in architecture else ModelConfig
    )
    if architecture:
        read_settings(kind, architecture)
    return architecture


def name_last_embedding(architecture: Architecture, stack: str) -> str:
    """What the embeddings end with in an architecture: the array that the first layer reads."""
    perceived = stack == "encoder" and perceives(architecture)
    if architecture.get("embedding_width") and not perceived:
        return "widened"
    if architecture.get("embedding_norm"):
        return "norm"
    if architecture.get("positions") in INSIDE_ATTENTION and not architecture.get("segments"):
        return "scaled" if architecture.get("scale_embeddings") and not perceived else "tokens"
    return "sum"


def soften(scores: AnyArray) -> AnyArray:
    """Softmax over the last axis, in double precision; a row without any finite score becomes zeros."""
    wide = scores.astype(np.float64)
    highest = wide.max(axis=-1, keepdims=True)
    powers = np.exp(wide - np.where(np.isfinite(highest), highest, 0.0))
    sums = powers.sum(axis=-1, keepdims=True)
    result: AnyArray = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    return result
