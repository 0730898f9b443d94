"""The steps of our own Transformer, by its architecture.

In:   the settings of a ModelConfig, and a builder.
Out:  chapters: embedding, then for each layer self-attention, cross-attention, feed-forward; the output.
"""

from collections.abc import Mapping
from typing import Literal, cast

from glassformer.walk.builder import NOTHING, PlanBuilder
from glassformer.walk.given import Architecture, perceives
from glassformer.walk.media import Perception
from glassformer.walk.types import Axis, Operation, StepParameters

GRID = {"order": "grid"}  # half of the features tell the row of a patch, half its column


class NativePlan:
    """Adds the steps of one network to a plan."""

    def __init__(self, architecture: Architecture, builder: PlanBuilder) -> None:
        self.architecture = architecture
        self.builder = builder
        self.width = int(architecture["width"] or 0)
        self.head_width = self.width // int(architecture["heads"] or 1)
        self.key_width = self.head_width * int(architecture.get("key_heads") or architecture["heads"] or 1)
        self.pre = architecture["norm_position"] == "pre"
        self.stack = ""  # whose steps are written
        self.side: Axis = "source"  # what that stack reads
        self.axes: tuple[Axis, ...] = ()  # of the stream
        self.stream = ""  # the array that the next step reads
        self.memory = ""  # what the encoder ends with

    def write(self) -> None:
        """Add every chapter."""
        shape = str(self.architecture["shape"])
        for stack in ("encoder", "decoder"):
            if stack not in shape:
                continue
            self.stack, self.side = stack, self.builder.arrays.tokens(stack).side
            self.axes = (self.side, "feature")
            self._write_embedding()
            for layer in range(self.builder.arrays.depth(stack)):
                self._write_attention(layer, "self")
                if shape == "encoder-decoder" and stack == "decoder":
                    self._write_attention(layer, "cross")
                self._write_feed_forward(layer)
            if self.pre:
                self.builder.open(f"{stack}/final", "final", stack)
                self._norm("norm", f"{stack}.norm", output=f"{stack}/final")
            if stack == "encoder":
                self.memory = self.stream
        if self.architecture["head"] != "none":
            self._write_output()

    # Embedding

    def _write_embedding(self) -> None:
        write, axes = self.builder.write, self.axes
        self.builder.open(f"{self.stack}/embedding", "embedding", self.stack)
        perceived = self.stack == "encoder" and perceives(self.architecture)
        module = "perception" if perceived else "embeddings"
        parts = [Perception(self.architecture).write(self.builder) if perceived else self._write_words()]
        kind = str(self.architecture["positions"])
        if kind == "learned":
            table = StepParameters(weight=f"parameters/{module}.positions.weight")
            parts.append(write("positions", "lookup", [], axes, table))
        elif kind.startswith("sinusoidal"):
            order = {"order": "halves" if kind.endswith("halves") else "pairs"}
            grid = self._grid()
            parts.append(write("positions", "waves", [], axes, numbers=grid, words=GRID if grid else order))
        if self.architecture["segments"]:
            table = StepParameters(weight="parameters/embeddings.segments.weight")
            parts.append(write("segments", "lookup", [], axes, table))
        self.stream = write("sum", "add", parts, axes) if len(parts) > 1 else parts[0]
        if self.architecture["embedding_norm"]:
            self._norm("norm", f"{module}.norm")
        if self.architecture["embedding_width"] and not perceived:
            self._continue("widened", "product", _product("embeddings.projection"))

    def _write_words(self) -> str:
        """The vectors of tokens that are words."""
        write, axes = self.builder.write, self.axes
        tokens = StepParameters(weight="parameters/embeddings.tokens.weight")
        found = write("tokens", "lookup", [f"{self.stack}/ids"], axes, tokens)
        if not self.architecture["scale_embeddings"]:
            return found
        kind = str(self.architecture["positions"])
        factor = {"factor": self.width**0.5, "width": float(self.width)}
        added = kind == "learned" or kind.startswith("sinusoidal")
        words = {"positions": "added" if added else "elsewhere"}
        return write("scaled", "scale", [found], axes, numbers=factor, words=words)

    def _grid(self) -> dict[str, float]:
        """Where tokens have their places on a picture; nothing where they stand in a line."""
        shown = self.stack == "encoder" and self.architecture.get("reads") == "picture"
        return Perception(self.architecture).grid if shown else {}

    # Sub-layers

    def _write_attention(self, layer: int, kind: Literal["self", "cross"]) -> None:
        write, before = self.builder.write, self.stream
        self.builder.open(f"{self.stack}/{layer}/{kind}", kind, self.stack, layer)
        module = f"{self._block(layer)}.{'attention' if kind == 'self' else 'cross'}"
        if self.pre:
            self._norm("normed", f"{module}_residual.norm")
        others: Axis = self.side if kind == "self" else "source"
        *pair, values = self._write_projections(module, others, kind)
        matrix: tuple[Axis, ...] = ("head", self.side, others)
        scores = self._write_scores(module, pair, matrix, kind)
        best = self.architecture["best_keys"]
        hard = {} if best is None else {"best_keys": float(best)}
        weights = write("weights", "softmax", [scores], matrix, numbers=hard)
        mixed = write("mixed", "mix", [weights, values], ("head", self.side, "feature"))
        self.stream = write("joined", "join", [mixed], self.axes)
        if not self.architecture["basic_attention"]:
            self._continue("output", "product", _product(f"{module}.output"))
        self._add(before, f"{module}_residual")

    def _write_projections(self, module: str, others: Axis, kind: str) -> list[str]:
        """Queries, keys and values; queries and keys normed, and turned, where the network does so."""
        write, made = self.builder.write, []
        query: tuple[Axis, ...] = ("head", self.side, "feature")
        key: tuple[Axis, ...] = ("head", others, "feature")
        own = kind == "self"
        first = self.width if own else 0  # where keys begin in what their projection gives
        middle, last = first + self.key_width, first + 2 * self.key_width
        shared = {"heads": float(self.width // self.key_width)} if self.key_width < self.width else {}
        for name, axes, fused, columns in (
            ("queries", query, "qkv" if own else "q", (0, self.width)),
            ("keys", key, "qkv" if own else "kv", (first, middle)),
            ("values", key, "qkv" if own else "kv", (middle, last)),
        ):
            read = [self.stream if own or name == "queries" else self.memory]
            if self.architecture["basic_attention"]:
                made.append(write(name, "split", read, axes))
                continue
            learnt, numbers = _product(f"{module}.{fused}", columns), {} if name == "queries" else shared
            made.append(write(name, "product", read, axes, learnt, numbers))
        pair = (("queries", "query_norm", query), ("keys", "key_norm", key))
        if self.architecture.get("query_key_norm"):
            numbers = {"epsilon": float(self.architecture["norm_epsilon"] or 0.0)}
            for place, (name, norm, axes) in enumerate(pair):
                gain = StepParameters(weight=f"parameters/{module}.{norm}.weight")
                over = {"over": "squares"}
                made[place] = write(f"{name}_normed", "norm", [made[place]], axes, gain, numbers, over)
        if self.architecture["positions"] == "rotary" and own:
            for place, (name, _, axes) in enumerate(pair):
                grid = self._grid()
                order = GRID if grid else None
                made[place] = write(f"{name}_turned", "turn", [made[place]], axes, NOTHING, grid, order)
        return made

    def _write_scores(self, module: str, pair: list[str], matrix: tuple[Axis, ...], kind: str) -> str:
        """Similarities, what is added to them, what is masked; gives what the softmax reads."""
        write, causal = self.builder.write, self.stack == "decoder"
        scores = self._write_similarities(module, pair, matrix)
        if kind == "cross":
            return scores
        positions = self.architecture["positions"]
        shared = f"{self.stack}/position_bias"  # by all layers
        if positions == "relative":
            table = StepParameters(weight=f"parameters/{self.stack}.bias.table.weight")
            counts = {"causal": float(causal), "buckets": 32.0, "farthest": 128.0}
            bias = write("position_bias", "lookup", [], matrix, table, counts, output=shared)
            scores = write("biased", "add", [scores, bias], matrix)
        elif positions == "alibi":
            bias = write("position_bias", "fall", [], matrix, output=shared)
            scores = write("biased", "add", [scores, bias], matrix, words={"bias": "fall"})
        window = self.architecture.get("window")
        if window:
            near = {"window": float(window), "causal": float(causal)}
            return write("scores", "mask", [scores], matrix, numbers=near)
        return write("scores", "mask", [scores], matrix) if causal else scores

    def _write_similarities(self, module: str, pair: list[str], matrix: tuple[Axis, ...]) -> str:
        """Each query with each key, and the factor of that."""
        write, similarity = self.builder.write, str(self.architecture["similarity"])
        factor = self.architecture.get("score_scale")
        if similarity in ("dot", "scaled-dot"):
            scores = write("products", "dot", pair, matrix)
            if similarity == "scaled-dot" and factor is None:
                numbers = {"scale": self.head_width**-0.5, "head_width": float(self.head_width)}
                return write("scaled", "divide", [scores], matrix, numbers=numbers)
        else:
            names = f"parameters/{module}.similarity"
            weights = [f"{names}.{each}" for each in ("query_weight", "key_weight", "vector")]
            learnt = {
                "bilinear": StepParameters(weight=f"{names}.weight"),
                "additive": StepParameters(weight=weights[0], key_weight=weights[1], vector=weights[2]),
            }.get(similarity, NOTHING)
            name = "scaled" if factor is None else "similarities"
            scores = write(name, cast(Operation, similarity), pair, matrix, learnt)
        if factor is None:
            return scores
        return write("scaled", "scale", [scores], matrix, numbers={"factor": float(factor)})

    def _write_feed_forward(self, layer: int) -> None:
        before, module = self.stream, f"{self._block(layer)}.feed_forward"
        self.builder.open(f"{self.stack}/{layer}/feed_forward", "feed_forward", self.stack, layer)
        if self.pre:
            self._norm("normed", f"{module}_residual.norm")
        self._continue("inner", "product", _product(f"{module}.expand"))
        self._continue("active", "activate", words={"function": str(self.architecture["activation"])})
        self._continue("output", "product", _product(f"{module}.contract"))
        self._add(before, f"{module}_residual")

    def _add(self, before: str, residual: str) -> None:
        """Add & norm: the output of a sub-layer joins the stream that was before it."""
        scaled = bool(self.architecture["residual_scale"])
        learnt = StepParameters(weight=f"parameters/{residual}.scale") if scaled else NOTHING
        self.stream = self.builder.write("sum", "add", [before, self.stream], self.axes, learnt)
        if not self.pre:
            self._norm("norm", f"{residual}.norm")

    def _norm(self, name: str, module: str, output: str | None = None) -> None:
        batch = self.architecture["norm"] == "batch"
        parameters = StepParameters(
            weight=f"parameters/{module}.weight",
            bias=f"parameters/{module}.bias",
            mean=f"parameters/{module}.running_mean" if batch else None,
            variance=f"parameters/{module}.running_var" if batch else None,
        )
        numbers = {"epsilon": float(self.architecture["norm_epsilon"] or 0.0)}
        over = {"over": "batch" if batch else "features"}
        self._continue(name, "norm", parameters, numbers, over, output)

    # Output

    def _write_output(self) -> None:
        write, head = self.builder.write, self.architecture["head"]
        self.builder.open("output", "output", self.stack)
        if head == "numbers":
            self._write_pooled()
            write("numbers", "product", [self.stream], ("class",), _product("head.numbers"))
            return
        classes = head in ("classes", "tags")
        scores = self._write_classes(str(head)) if classes else self._write_logits()
        places: tuple[Axis, ...] = () if head == "classes" else (self.side,)
        last: Axis = "class" if classes else "vocabulary"
        words = {"of": "tags"} if head == "tags" else None
        chances = write("probabilities", "softmax", [scores], (*places, last), words=words)
        write("likeliest", "choose", [chances], (*places, "rank"), words=words)

    def _write_logits(self) -> str:
        if self.architecture["head"] == "masked":
            self._continue("dense", "product", _product("head.narrow"))
            self._continue("active", "activate", words={"function": str(self.architecture["activation"])})
            self._norm("transformed", "head.norm")
        elif self.architecture["embedding_width"]:
            self._continue("transformed", "product", _product("head.narrow"))
        table = "embeddings.tokens" if self.architecture["tie_embeddings"] else "head"
        vectors = StepParameters(
            weight=f"parameters/{table}.weight",
            bias="parameters/head.bias" if self.architecture["output_bias"] else None,
            transposed=True,
        )
        tied = {"tied": str(bool(self.architecture["tie_embeddings"])).lower()}
        axes: tuple[Axis, ...] = (self.side, "vocabulary")
        return self.builder.write("logits", "product", [self.stream], axes, vectors, words=tied)

    def _write_classes(self, head: str) -> str:
        if head == "tags":
            axes: tuple[Axis, ...] = (self.side, "class")
            product = _product("head.classes")
            return self.builder.write("classes", "product", [self.stream], axes, product, words={"of": head})
        self._write_pooled()
        return self.builder.write("classes", "product", [self.stream], ("class",), _product("head.classes"))

    def _write_pooled(self) -> None:
        self.axes = ("feature",)  # one vector for the whole text
        self._continue("pooled", "pool", words={"how": str(self.architecture["pooling"])})
        if self.architecture["pooler"]:
            self._continue("dense", "product", _product("head.pooler"))
            self._continue("active", "activate", words={"function": "tanh"})

    def _continue(
        self,
        name: str,
        operation: Operation,
        parameters: StepParameters = NOTHING,
        numbers: Mapping[str, float] | None = None,
        words: Mapping[str, str] | None = None,
        output: str | None = None,
    ) -> None:
        """A step that reads the stream; what comes out is the stream from then on."""
        write, read = self.builder.write, [self.stream]
        self.stream = write(name, operation, read, self.axes, parameters, numbers, words, output)

    def _block(self, layer: int) -> str:
        return f"{self.stack}.layers.{0 if self.architecture['share_layers'] else layer}"


def _product(module: str, columns: tuple[int, int] | None = None) -> StepParameters:
    weight, bias = f"parameters/{module}.weight", f"parameters/{module}.bias"
    return StepParameters(weight=weight, bias=bias, columns=columns, transposed=True)
