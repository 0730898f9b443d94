"""The steps of our recurrent translator, by its architecture.

In:   the settings of a RecurrentConfig, and a builder.
Out:  chapters: the words and cells of the encoder, the state that it hands over; the decoder's words, then
      attention or the fixed context C, which enters its cells; the output.

A row of a step is one word. In cells, row t reads the state of row t - 1 of the same array: `before`.
"""

from glassformer.walk.builder import PlanBuilder
from glassformer.walk.given import Architecture
from glassformer.walk.types import Axis, StepParameters

_GRU = ("reset", "update", "candidate")  # in the order of torch's fused weights
_LSTM = ("keep", "forget", "candidate", "release")

_VECTOR: tuple[Axis, ...] = ("feature",)
_WORDS: tuple[Axis, ...] = ("target", "feature")
_COMPUTED = {"origin": "computed"}  # torch's cells do not show their gates


class RecurrentPlan:
    """Adds the steps of one network to a plan."""

    def __init__(self, architecture: Architecture, builder: PlanBuilder) -> None:
        self.builder = builder
        self.layers = int(architecture["layers"] or 1)
        self.width = int(architecture["width"] or 0)
        self.lstm = architecture["cell"] == "lstm"
        self.attends = architecture["context"] == "attention"
        self.tied = bool(architecture["tie_embeddings"])
        self.directions = ("forward", "backward") if architecture["bidirectional"] else ("forward",)

    def write(self) -> None:
        """Add every chapter."""
        memory = self._write_encoder()
        for layer in range(self.layers):
            self._write_bridge(layer)
        words = self._write_words("decoder", "target")
        context = self._write_attention(memory) if self.attends else self._write_context()
        state = self._write_decoder(words, context)
        self._write_output([state, context, words])

    def _write_words(self, stack: str, side: Axis) -> str:
        self.builder.open(f"{stack}/embedding", "embedding", stack)
        table = StepParameters(weight="parameters/embeddings.weight")
        return self.builder.write("tokens", "lookup", [f"{stack}/ids"], (side, "feature"), table)

    # The encoder

    def _write_encoder(self) -> str:
        """Gives what the decoder looks back at: the state of every word."""
        stream = self._write_words("encoder", "source")
        width = self.width // len(self.directions)
        for layer in range(self.layers):
            states = []
            for direction in self.directions:
                self.builder.open(f"encoder/{layer}/{direction}", "cells", "encoder", layer)
                states.append(self._write_cells("encoder.cells", layer, direction, "source", stream, width))
            stream = states[0]
            if len(states) > 1:
                self.builder.open(f"encoder/{layer}/both", "states", "encoder", layer)
                stream = self.builder.write("states", "concat", states, ("source", "feature"))
        return stream

    def _write_bridge(self, layer: int) -> None:
        """From the last state of the encoder to the first one of the decoder."""
        self.builder.open(f"encoder/{layer}/bridge", "bridge", "encoder", layer)
        for part in range(2 if self.lstm else 1):
            prefix, read = ("", "state") if part == 0 else ("memory_", "memory")
            ends = [f"encoder/{layer}/{direction}/{read}" for direction in self.directions]
            write, axes = self.builder.write, _VECTOR
            fixed = {} if self.attends or part or layer < self.layers - 1 else {"context": "fixed"}
            last = write(f"{prefix}last", "ends", ends, axes, words=fixed)
            dense = write(f"{prefix}dense", "product", [last], axes, _product(f"bridges.{part}"))
            write(f"{prefix}start", "activate", [dense], axes, words={"function": "tanh"})

    # The decoder

    def _write_attention(self, memory: str) -> str:
        """Each word looks back with the state before it; gives the contexts."""
        top, write = self.layers - 1, self.builder.write
        self.builder.open("decoder/0/cross", "cross", "decoder", 0)
        matrix: tuple[Axis, ...] = ("head", "target", "source")
        rows: tuple[Axis, ...] = ("head", "target", "feature")
        before = [f"encoder/{top}/bridge/start", f"decoder/{top}/forward/state"]
        queries = write("queries", "before", before, rows, words={"direction": "forward"})
        names = [f"parameters/decoder.attention.similarity.{each}" for each in ("query_weight", "key_weight")]
        vector = "parameters/decoder.attention.similarity.vector"
        learnt = StepParameters(weight=names[0], key_weight=names[1], vector=vector)
        scores = write("scores", "additive", [queries, memory], matrix, learnt)
        weights = write("weights", "softmax", [scores], matrix)
        return write("mixed", "mix", [weights, memory], rows)

    def _write_context(self) -> str:
        """The same C for every word."""
        self.builder.open("decoder/context", "context", "decoder")
        last = f"encoder/{self.layers - 1}/bridge/last"
        return self.builder.write("context", "repeat", [last], ("target", "feature"))

    def _write_decoder(self, words: str, context: str) -> str:
        stream = ""
        for layer in range(self.layers):
            self.builder.open(f"decoder/{layer}/forward", "cells", "decoder", layer)
            if layer == 0:
                stream = self.builder.write("input", "concat", [words, context], ("target", "feature"))
            stream = self._write_cells("decoder.cells", layer, "forward", "target", stream, self.width)
        return stream

    def _write_cells(
        self, module: str, layer: int, direction: str, side: Axis, stream: str, width: int
    ) -> str:
        """One layer in one direction; gives its states."""
        write, place = self.builder.write, self.builder.place
        axes: tuple[Axis, ...] = (side, "feature")
        words = {"direction": direction}
        suffix = f"l{layer}" + ("_reverse" if direction == "backward" else "")

        def shift(name: str, start: str, state: str) -> str:
            begun = [f"encoder/{layer}/bridge/{start}"] if side == "target" else []
            return write(name, "before", [*begun, f"{place}/{state}"], axes, words=words)

        before = shift("before", "start", "state")
        gates: dict[str, str] = {}
        for number, gate in enumerate(_LSTM if self.lstm else _GRU):
            learnt = StepParameters(
                weight=f"parameters/{module}.weight_ih_{suffix}",
                bias=f"parameters/{module}.bias_ih_{suffix}",
                key_weight=f"parameters/{module}.weight_hh_{suffix}",
                key_bias=f"parameters/{module}.bias_hh_{suffix}",
                columns=(number * width, (number + 1) * width),
                transposed=True,
            )
            resets = [gates["reset"]] if gate == "candidate" and not self.lstm else []
            function = {"function": "tanh" if gate == "candidate" else "sigmoid", **_COMPUTED}
            gates[gate] = write(gate, "gate", [stream, before, *resets], axes, learnt, words=function)
        if not self.lstm:
            return write("state", "blend", [gates["update"], gates["candidate"], before], axes)
        kept = shift("memory_before", "memory_start", "memory")
        read = [gates["forget"], kept, gates["keep"], gates["candidate"]]
        memory = write("memory", "remember", read, axes, words=_COMPUTED)
        return write("state", "release", [gates["release"], memory], axes)

    # Output

    def _write_output(self, parts: list[str]) -> None:
        write, axes = self.builder.write, _WORDS
        self.builder.open("output", "output", "decoder")
        joined = write("joined", "concat", parts, axes)
        dense = write("dense", "product", [joined], axes, _product("decoder.readout"))
        active = write("active", "activate", [dense], axes, words={"function": "tanh"})
        table = "parameters/embeddings.weight" if self.tied else "parameters/weight"
        learnt = StepParameters(weight=table, transposed=True)
        tied = {"tied": str(self.tied).lower()}
        logits = write("logits", "product", [active], ("target", "vocabulary"), learnt, words=tied)
        chances = write("probabilities", "softmax", [logits], ("target", "vocabulary"))
        write("likeliest", "choose", [chances], ("target", "rank"))


def _product(module: str) -> StepParameters:
    return StepParameters(
        weight=f"parameters/{module}.weight", bias=f"parameters/{module}.bias", transposed=True
    )
