"""The steps of our own Transformer, by its architecture.

In:   the settings of a ModelConfig, and a builder.
Out:  chapters: embedding, then for each layer self-attention, cross-attention, feed-forward; the output.
"""

from collections.abc import Mapping

from glassformer.walk.builder import NOTHING, PlanBuilder
from glassformer.walk.types import Axis, StepParameters

Words = Mapping[str, str | int | float | bool | None]


class NativePlan:
    """Adds the steps of one network to a plan."""

    def __init__(self, words: Words, builder: PlanBuilder) -> None:
        self.words = words
        self.builder = builder
        self.width = int(words["width"] or 0)
        self.head_width = self.width // int(words["heads"] or 1)
        self.pre = words["norm_position"] == "pre"
        self.stream = ""  # the array that the next step reads
        self.memory = ""  # what the encoder ends with

    def write(self) -> None:
        """Add every chapter."""
        shape = str(self.words["shape"])
        for stack in ("encoder", "decoder"):
            if stack not in shape:
                continue
            self._write_embedding(stack)
            for layer in range(self.builder.arrays.depth(stack)):
                self._write_attention(stack, layer, "self")
                if shape == "encoder-decoder" and stack == "decoder":
                    self._write_attention(stack, layer, "cross")
                self._write_feed_forward(stack, layer)
            if self.pre:
                self.builder.open(f"{stack}.final", "final", stack)
                self._norm("norm", f"{stack}/final", f"{stack}.norm", self._side(stack))
            if stack == "encoder":
                self.memory = self.stream
        self._write_output("encoder" if shape == "encoder" else "decoder")

    # Embedding

    def _write_embedding(self, stack: str) -> None:
        write, side, place = self.builder.write, self._side(stack), f"{stack}/embedding"
        self.builder.open(f"{stack}.embedding", "embedding", stack)
        axes: tuple[Axis, Axis] = (side, "feature")
        tokens = StepParameters(weight="parameters/embeddings.tokens.weight")
        parts = [write("tokens", "lookup", [f"{stack}/ids"], f"{place}/tokens", axes, tokens)]
        if self.words["scale_embeddings"]:
            factor = {"factor": self.width**0.5, "width": float(self.width)}
            parts = [write("scaled", "scale", parts, f"{place}/scaled", axes, numbers=factor)]
        kind = str(self.words["positions"])
        if kind == "learned":
            table = StepParameters(weight="parameters/embeddings.positions.weight")
            parts.append(write("positions", "lookup", [], f"{place}/positions", axes, table))
        elif kind.startswith("sinusoidal"):
            halves = {"order": "halves" if kind.endswith("halves") else "pairs"}
            parts.append(write("positions", "waves", [], f"{place}/positions", axes, words=halves))
        if self.words["segments"]:
            table = StepParameters(weight="parameters/embeddings.segments.weight")
            parts.append(write("segments", "lookup", [], f"{place}/segments", axes, table))
        self.stream = parts[0]
        if len(parts) > 1:
            self.stream = write("sum", "add", parts, f"{place}/sum", axes)
        if self.words["embedding_norm"]:
            self._norm("norm", f"{place}/norm", "embeddings.norm", side)
        if self.words["embedding_width"]:
            widen = _product("embeddings.projection")
            self.stream = write("widened", "product", [self.stream], f"{place}/widened", axes, widen)

    # Sub-layers

    def _write_attention(self, stack: str, layer: int, kind: str) -> None:
        place, module = f"{stack}/{layer}/{kind}", "attention" if kind == "self" else "cross"
        prefix = f"{stack}.layers.{self._block(layer)}.{module}"
        side = self._side(stack)
        self.builder.open(place.replace("/", "."), "self" if kind == "self" else "cross", stack, layer)
        before = self.stream
        if self.pre:
            self._norm("normed", f"{place}/normed", f"{prefix}_residual.norm", side)
        self._write_projections(place, prefix, side, kind)
        keys: Axis = side if kind == "self" else "source"
        scores = self._write_scores(place, prefix, (side, keys), stack, kind)
        write = self.builder.write
        best = self.words["best_keys"]
        hard = {} if best is None else {"best_keys": float(best)}
        weights = write(
            "weights", "softmax", [scores], f"{place}/weights", ("head", side, keys), numbers=hard
        )
        pair = [weights, f"{place}/values"]
        mixed = write("mixed", "mix", pair, f"{place}/mixed", ("head", side, "feature"))
        output = write("joined", "join", [mixed], f"{place}/joined", (side, "feature"))
        if not self.words["basic_attention"]:
            learnt = _product(f"{prefix}.output")
            output = write("output", "product", [output], f"{place}/output", (side, "feature"), learnt)
        self._add(place, before, output, f"{prefix}_residual", side)

    def _write_projections(self, place: str, prefix: str, side: Axis, kind: str) -> None:
        write, read = self.builder.write, self.stream
        others: Axis = side if kind == "self" else "source"
        for number, (name, tokens) in enumerate((("queries", side), ("keys", others), ("values", others))):
            source = read if kind == "self" or name == "queries" else self.memory
            axes: tuple[Axis, ...] = ("head", tokens, "feature")
            if self.words["basic_attention"]:
                write(name, "split", [source], f"{place}/{name}", axes)
                continue
            fused, start = ("qkv", number) if kind == "self" else ("kv", number - 1)
            if kind == "cross" and name == "queries":
                fused, start = "q", 0
            columns = (start * self.width, (start + 1) * self.width)
            part = _product(f"{prefix}.{fused}", columns)
            write(name, "product", [source], f"{place}/{name}", axes, part)
        if self.words["positions"] == "rotary" and kind == "self":
            for name in ("queries", "keys"):
                turned = f"{place}/{name}_turned"
                write(f"{name}_turned", "turn", [f"{place}/{name}"], turned, ("head", side, "feature"))

    def _write_scores(self, place: str, prefix: str, sides: tuple[Axis, Axis], stack: str, kind: str) -> str:
        """Similarities, what is added to them, what is masked; gives what the softmax reads."""
        write, similarity = self.builder.write, str(self.words["similarity"])
        ending = "_turned" if self.words["positions"] == "rotary" and kind == "self" else ""
        pair = [f"{place}/queries{ending}", f"{place}/keys{ending}"]
        matrix: tuple[Axis, ...] = ("head", *sides)
        if similarity in ("dot", "scaled-dot"):
            scores = write("products", "dot", pair, f"{place}/products", matrix)
            if similarity == "scaled-dot":
                numbers = {"scale": self.head_width**-0.5, "head_width": float(self.head_width)}
                scores = write("scaled", "divide", [scores], f"{place}/scaled", matrix, numbers=numbers)
        elif similarity == "cosine":
            scores = write("scaled", "cosine", pair, f"{place}/scaled", matrix)
        elif similarity == "bilinear":
            learnt = StepParameters(weight=f"parameters/{prefix}.similarity.weight")
            scores = write("scaled", "bilinear", pair, f"{place}/scaled", matrix, learnt)
        else:
            names = f"parameters/{prefix}.similarity"
            learnt = StepParameters(
                weight=f"{names}.query_weight", key_weight=f"{names}.key_weight", vector=f"{names}.vector"
            )
            scores = write("scaled", "additive", pair, f"{place}/scaled", matrix, learnt)
        if self.words["positions"] == "relative" and kind == "self":
            table = StepParameters(weight=f"parameters/{stack}.bias.table.weight")
            causal = {"causal": float(stack == "decoder"), "buckets": 32.0, "farthest": 128.0}
            bias = write("position_bias", "lookup", [], f"{stack}/position_bias", matrix, table, causal)
            scores = write("biased", "add", [scores, bias], f"{place}/biased", matrix)
        if stack == "decoder" and kind == "self":
            return write("scores", "mask", [scores], f"{place}/scores", matrix)
        return scores

    def _write_feed_forward(self, stack: str, layer: int) -> None:
        place, side, write = f"{stack}/{layer}/feed_forward", self._side(stack), self.builder.write
        prefix = f"{stack}.layers.{self._block(layer)}.feed_forward"
        self.builder.open(place.replace("/", "."), "feed_forward", stack, layer)
        before = self.stream
        axes: tuple[Axis, ...] = (side, "feature")
        if self.pre:
            self._norm("normed", f"{place}/normed", f"{prefix}_residual.norm", side)
        inner = write("inner", "product", [self.stream], f"{place}/inner", axes, _product(f"{prefix}.expand"))
        function = {"function": str(self.words["activation"])}
        active = write("active", "activate", [inner], f"{place}/active", axes, words=function)
        narrow = _product(f"{prefix}.contract")
        output = write("output", "product", [active], f"{place}/output", axes, narrow)
        self._add(place, before, output, f"{prefix}_residual", side)

    def _add(self, place: str, before: str, output: str, residual: str, side: Axis) -> None:
        """Add & norm: the output joins the stream."""
        learnt = NOTHING
        if self.words["residual_scale"]:
            learnt = StepParameters(weight=f"parameters/{residual}.scale")
        axes: tuple[Axis, ...] = (side, "feature")
        self.stream = self.builder.write("sum", "add", [before, output], f"{place}/sum", axes, learnt)
        if not self.pre:
            self._norm("norm", f"{place}/norm", f"{residual}.norm", side)

    def _norm(self, name: str, output: str, module: str, side: Axis) -> None:
        batch = self.words["norm"] == "batch"
        parameters = StepParameters(
            weight=f"parameters/{module}.weight",
            bias=f"parameters/{module}.bias",
            mean=f"parameters/{module}.running_mean" if batch else None,
            variance=f"parameters/{module}.running_var" if batch else None,
        )
        numbers = {"epsilon": float(self.words["norm_epsilon"] or 0.0)}
        over = {"over": "batch" if batch else "features"}
        axes: tuple[Axis, ...] = (side, "feature")
        self.stream = self.builder.write(name, "norm", [self.stream], output, axes, parameters, numbers, over)

    # Output

    def _write_output(self, stack: str) -> None:
        head, side, write = self.words["head"], self._side(stack), self.builder.write
        if head == "none":
            return
        self.builder.open("output", "output", stack)
        axes: tuple[Axis, ...] = (side, "feature")
        read = self.stream
        if head == "classes":
            scores, last = self._write_classes(read), "class"
        else:
            if head == "masked":
                dense = write("dense", "product", [read], "output/dense", axes, _product("head.narrow"))
                function = {"function": str(self.words["activation"])}
                self.stream = write("active", "activate", [dense], "output/active", axes, words=function)
                self._norm("transformed", "output/transformed", "head.norm", side)
                read = self.stream
            elif self.words["embedding_width"]:
                narrow = _product("head.narrow")
                read = write("transformed", "product", [read], "output/transformed", axes, narrow)
            words = StepParameters(
                weight=f"parameters/{'embeddings.tokens' if self.words['tie_embeddings'] else 'head'}.weight",
                bias="parameters/head.bias" if self.words["output_bias"] else None,
                transposed=True,
            )
            scores = write("logits", "product", [read], "output/logits", (side, "vocabulary"), words)
            last = "vocabulary"
        places: tuple[Axis, ...] = ("class",) if last == "class" else (side, "vocabulary")
        chances = write("probabilities", "softmax", [scores], "output/probabilities", places)
        ranks: tuple[Axis, ...] = ("rank",) if last == "class" else (side, "rank")
        write("likeliest", "choose", [chances], "output/likeliest", ranks)

    def _write_classes(self, read: str) -> str:
        write = self.builder.write
        how = {"how": str(self.words["pooling"])}
        pooled = write("pooled", "pool", [read], "output/pooled", ("feature",), words=how)
        if self.words["pooler"]:
            dense = write("dense", "product", [pooled], "output/dense", ("feature",), _product("head.pooler"))
            tanh = {"function": "tanh"}
            pooled = write("active", "activate", [dense], "output/active", ("feature",), words=tanh)
        return write("classes", "product", [pooled], "output/classes", ("class",), _product("head.classes"))

    def _block(self, layer: int) -> int:
        return 0 if self.words["share_layers"] else layer

    def _side(self, stack: str) -> Axis:
        return self.builder.arrays.tokens(stack).side


def _product(module: str, columns: tuple[int, int] | None = None) -> StepParameters:
    weight, bias = f"parameters/{module}.weight", f"parameters/{module}.bias"
    return StepParameters(weight=weight, bias=bias, columns=columns, transposed=True)
