"""Our own networks, recorded through their windows.

In:   a loaded model whose network is a Transformer or a recurrent translator, and a request.
Out:  a `Run`. The network runs once, in evaluation mode; weights are those before dropout. Afterwards mode,
      hooks, products and gradients are as they were, also after an exception.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import Any

import torch
from torch import Tensor

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import NativeModel, Network
from glassformer.loaded.perceiving import Percept
from glassformer.loaded.reading import as_tokens
from glassformer.messages import Message, message
from glassformer.model.decoding import start_of_target
from glassformer.model.generate import at_inference, open_search
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.heads import LanguageHead
from glassformer.model.linear import packing_at_once
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer, check_ids
from glassformer.recorders.batch import NO_NAMES, Batch, BatchRow, BatchRows, CannotFoldError
from glassformer.recorders.call import Kernel
from glassformer.recorders.comparison import Comparison
from glassformer.recorders.edited_rows import EditedRows, can_share_batch
from glassformer.recorders.edits.edit import Edit, check_generation, needs_numbered_queries
from glassformer.recorders.maps import Axes, MapMaker
from glassformer.recorders.native.attentions import find_stacks
from glassformer.recorders.native.edits import GenerationEdits, applying_edits, editing_rows
from glassformer.recorders.native.measured_attention import KERNELS, can_measure
from glassformer.recorders.native.selfcheck import check_network
from glassformer.recorders.native.tracing import check_traceable, complete_want, read_parameters
from glassformer.recorders.native.windows import Watch
from glassformer.recorders.outputs import (
    ALTERNATIVES,
    StepReader,
    Wanted,
    read_classes,
    read_generation,
    read_numbers,
    read_tags,
    read_words,
)
from glassformer.recorders.preserve import exclusive, frozen
from glassformer.recorders.request import Request, Run, check_gradients, check_size
from glassformer.recorders.store import LONGEST_DENSE
from glassformer.recording import AttentionMap, Generation, Output, Tokens
from glassformer.text.tokenizer import Encoding

CHECKED_TOKENS = 16  # of a text, for the self-check
SHORT = 256  # tokens, whose matrices and float64 statistics cost next to nothing


class NativeRecorder:
    """Records one of our networks."""

    def __init__(self, model: LoadedModel) -> None:
        assert isinstance(model, NativeModel)
        self.model = model
        self.network: Network = model.network
        self.reader = model.reader
        self._checks: dict[str, Comparison] = {}  # by the model's hash

    def run(self, request: Request) -> Run:
        """A decoder alone reads its prompt; with `decode` it continues it first."""
        source, edits = request.source, request.edits
        assert isinstance(source, Encoding)
        want = complete_want(request.want)
        self._check_source(source)
        if request.prefix:
            self._check_ids(request.prefix)
        with exclusive(self.network):
            comparison = self._check_once(request.model_hash, source)
            source, written, generation = self._write(source, request)
            with applying_edits(self.network, edits):
                tokens, axes = _read_sides(source, written)
                watch = self._watch(axes, want, request)
                check_traceable(want, edits, [source, written])
                self._check_size(source, written, want, watch)
                logits = self._run(source, written, watch)[0]
        return Run(
            source=tokens[0],
            target=tokens[1],
            maps=watch.maps,
            kernel=KERNELS["exact" if watch.maker is None else watch.kernel],
            comparison=comparison,
            hidden=watch.read_hidden(),
            output=self._output(logits, request.wanted) if "output" in want else None,
            generation=generation,
            architecture=_describe(self.network.config),
            trace={**watch.steps, **(read_parameters(self.network) if "parameters" in want else {})},
            notes=self._notes(want, watch),
        )

    def check(self, request: Request) -> int:
        """Refuse a text that the network cannot read; see `Recorder`."""
        assert isinstance(request.source, Encoding)
        sides = [side for side in (request.source, self._begin(request.target)) if side is not None]
        for side in sides:
            self._check_source(side)
            self._check_length(side)
        self._segments(request.source)
        return max(map(len, sides))

    def run_together(self, requests: Sequence[Request]) -> Batch | None:
        """One pass over several texts of one length; see `Recorder`."""
        first = requests[0]
        want = complete_want(first.want)
        sources = [each.source for each in requests if isinstance(each.source, Encoding)]
        written = [side for each in requests if (side := self._begin(each.target)) is not None]
        longest = max(len(side[0]) for side in (sources, written) if side)
        dense = bool({"weights", "scores"} & set(want))
        waiting = self.model.shape == "encoder-decoder" and not written
        if not can_measure(self.network) or "trace" in want or waiting or (dense and longest > LONGEST_DENSE):
            return None
        kernel: Kernel = first.kernel or ("exact" if dense else "fast")
        with exclusive(self.network):
            comparison = self._check_once(first.model_hash, sources[0])
            maker = MapMaker(NO_NAMES, want, keep=first.keep)
            watch = Watch(self.network, NO_NAMES, want, maker=maker, kernel=kernel, texts=len(requests))
            try:
                logits = self._run_rows(sources, written, watch)
            except CannotFoldError:
                return None
        parameters = read_parameters(self.network) if "parameters" in want else {}

        def make(number: int) -> BatchRow:
            tokens, axes = _read_sides(sources[number], written[number] if written else None)

            def finish(maps: Sequence[AttentionMap]) -> Run:
                wanted = requests[number].wanted
                return Run(
                    source=tokens[0],
                    target=tokens[1],
                    maps=tuple(maps),
                    kernel=KERNELS[kernel],
                    comparison=comparison,
                    hidden=watch.read_hidden(number),
                    output=self._output(logits[number], wanted) if "output" in want else None,
                    architecture=_describe(self.network.config),
                    trace=parameters,
                    notes=self._notes(want, watch),
                )

            return BatchRow(axes, finish)

        return Batch(watch.maps, BatchRows(len(requests), make))

    def measure(
        self,
        request: Request,
        edits: Sequence[Sequence[Edit]],
        positions: Sequence[int] | None,
        *,
        together: bool = True,
    ) -> Tensor:
        """Logits of one pass without edits, then of one pass for each of these; see `Recorder`."""
        source, written = request.source, request.target
        assert isinstance(source, Encoding)
        self._check_source(source)
        if written is not None:
            written = self.reader.prepend(self._find_start(), written)
            self._check_ids(written.ids)
        head = self.network.head if isinstance(self.network, Transformer) else None
        cut = head if isinstance(head, LanguageHead) else None
        with exclusive(self.network), _only_positions(cut, positions):
            if together and isinstance(self.network, Transformer) and can_share_batch(edits):
                depths = {name: stack.depth for name, stack in find_stacks(self.network).items()}
                rows = EditedRows(edits, depths)
                with editing_rows(self.network, rows):
                    return rows.finish(self._run(source, written, None))
            passes = []
            for each in ((), *edits):
                with applying_edits(self.network, each):
                    passes.append(self._run(source, written, None))
            logits = torch.cat(passes)
        return logits if cut is not None or positions is None else logits[:, list(positions)]

    def read_sides(self, request: Request) -> tuple[Tokens | None, Tokens | None]:
        """Source and target without a pass; see `Recorder`."""
        source = request.source
        assert isinstance(source, Encoding)
        return _read_sides(source, self._begin(request.target))[0]

    def differentiate(
        self, request: Request, edits: Sequence[Edit], positions: Sequence[int] | None
    ) -> Tensor:
        """Logits of one pass that keeps what gradients need; see `Recorder`."""
        source, written = request.source, request.target
        assert isinstance(source, Encoding)
        if written is not None:
            written = self.reader.prepend(self._find_start(), written)
        for side in filter(None, (source, written)):
            self._check_source(side)
        config = self.network.config
        if isinstance(config, ModelConfig):
            if config.best_keys is not None:
                raise InputError("recorders.estimates.hard_attention", name=self.model.name)
            longest = max(len(side) for side in (source, written) if side is not None)
            check_gradients(longest, config.heads, sum(config.depth.values()))
        head = self.network.head if isinstance(self.network, Transformer) else None
        cut = head if isinstance(head, LanguageHead) else None
        with exclusive(self.network), frozen(self.network), _only_positions(cut, positions):
            # cuDNN differentiates recurrent cells in training mode only
            recurrent = isinstance(self.network, RecurrentTranslator)
            plain = torch.backends.cudnn.flags(enabled=False) if recurrent else nullcontext()
            with applying_edits(self.network, edits), plain:
                logits = self._run(source, written, None, gradients=True)
            return logits if cut is not None or positions is None else logits[:, list(positions)]

    # What goes in

    def _check_ids(self, ids: Sequence[int]) -> None:
        """The network does so itself on a CPU only; on a GPU a foreign id would stop the process."""
        check_ids(torch.tensor([ids], dtype=torch.long), self.network.config.vocabulary_size)

    def _check_source(self, source: Encoding) -> None:
        """Pictures and sounds were made to fit."""
        if not isinstance(source, Percept):
            self._check_ids(source.ids)

    def _check_length(self, side: Encoding) -> None:
        if isinstance(self.network, Transformer) and not isinstance(side, Percept):
            self.network.check_length(len(side))

    def _check_size(
        self, source: Encoding, written: Encoding | None, want: Collection[str], watch: Watch
    ) -> None:
        """Refuse too long a text, and matrices that no memory holds, before the network runs."""
        config = self.network.config
        for side in filter(None, (source, written)):
            self._check_length(side)
        heads, depth, biased = 1, 1, False
        if isinstance(config, ModelConfig):
            heads, depth = config.heads, sum(config.depth.values())
            biased = config.positions in ("relative", "alibi")
        fast = watch.maker is not None and watch.kernel == "fast"
        if fast and not biased:
            return
        longest = max(len(source), len(written) if written is not None else 0)
        kept = depth if not fast and {"weights", "scores"} & set(want) else 1
        code = "record.large_matrices_of_layers" if kept > 1 else "record.large_matrices"
        check_size(code, longest, heads, kept)

    # What the network writes

    def _write(
        self, source: Encoding, request: Request
    ) -> tuple[Encoding, Encoding | None, Generation | None]:
        """The source, the target and, where the network wrote one of them, how it did."""
        if self.model.shape == "encoder-decoder":
            generation, written = None, request.target
            if written is None:
                words, generation = self._generate(source, request)
                written = self.reader.recognise((*request.prefix, *words), target=True)
            written = self.reader.prepend(self._find_start(), written)
            self._check_ids(written.ids)
            return source, written, generation
        if request.decode is None:
            return source, None, None
        ids = (*source.ids[: self.model.find_prompt_end(source.ids)], *request.prefix)
        words, generation = self._generate(self.reader.read(ids), request)
        return self.reader.recognise((*ids, *words), target=False), None, generation

    def _generate(self, source: Encoding, request: Request) -> tuple[tuple[int, ...], Generation]:
        settings: GenerationSettings = request.decode or replace(
            self.model.generation, alternatives=ALTERNATIVES
        )
        check_generation(request.edits)
        # Without a cache a query's number is its place in the text; a CUDA graph cannot be edited halfway.
        late = any(edit.starts for edit in request.edits) and self.model.device.type == "cuda"
        if late or needs_numbered_queries(request.edits):
            settings = replace(settings, cache=False)
        both = self.model.shape == "encoder-decoder"
        first = (self._find_start(), *request.prefix) if both else source.ids
        start = self._tensor(first) if request.prefix and both else None
        editing = GenerationEdits(self.network, request.edits)
        with at_inference(self.network), packing_at_once(), editing as edits:
            edits.begin_pass(0, len(first))
            search = open_search(self.network, self._inputs(source), None, settings, start, request.forced)
            steps = StepReader(settings, self.reader.show)
            while True:
                read = len(first) + len(search.trace.steps)
                if search.trace.steps:
                    edits.begin_pass(*((read - 1, 1) if settings.cache else (0, read)))
                if not search.advance():
                    break
                if request.on_step is not None:
                    nodes = search.trace.nodes(len(search.trace.steps) - 1)
                    for step in steps.read(nodes.get(0, ())):
                        request.on_step(step)
            generated = search.results()[0]
        if request.on_step is not None:
            request.on_step(None)
        return generated.words, read_generation(generated, settings, self.reader.show)

    def _begin(self, target: Encoding | None) -> Encoding | None:
        """A target as the decoder reads it, behind its start token."""
        return None if target is None else self.reader.prepend(self._find_start(), target)

    def _find_start(self) -> int:
        """The token that every target starts with."""
        return int(start_of_target(self.network.config.start_id, torch.zeros(1, 1), None))

    # One run

    def _run(
        self, source: Encoding, written: Encoding | None, watch: Watch | None, *, gradients: bool = False
    ) -> Tensor:
        """Logits (row, token, vocabulary), or (row, class); the only text is one row."""
        return self._run_rows([source], [] if written is None else [written], watch, gradients=gradients)

    def _run_rows(
        self,
        sources: Sequence[Encoding],
        written: Sequence[Encoding],
        watch: Watch | None,
        *,
        gradients: bool = False,
    ) -> Tensor:
        """The same of several texts of one length, a row each."""
        watching = nullcontext() if watch is None else watch.watching()
        with at_inference(self.network, gradients=gradients), watching:
            if any(isinstance(each, Percept) for each in sources):
                ids = torch.cat([self._inputs(each) for each in sources])
            else:
                ids = torch.tensor([each.ids for each in sources], device=self.model.device)
            if written:
                return self.network(ids, target=torch.cat([self._tensor(each.ids) for each in written]))
            segments = [each for source in sources if (each := self._segments(source)) is not None]
            return self.network(ids, segments=torch.cat(segments) if segments else None)

    def _inputs(self, source: Encoding) -> Tensor:
        """What the network is given: ids, pixels or samples, a batch of one."""
        if isinstance(source, Percept):
            return torch.from_numpy(source.inputs)[None].to(self.model.device)
        return self._tensor(source.ids)

    def _tensor(self, numbers: Sequence[int]) -> Tensor:
        return torch.tensor([numbers], device=self.model.device)

    def _segments(self, source: Encoding) -> Tensor | None:
        config = self.network.config
        known = config.segments if isinstance(config, ModelConfig) else 0
        if known and max(source.segments) >= known:
            raise InputError(
                "record.segments", count=max(source.segments) + 1, name=self.model.name, known=known
            )
        return self._tensor(source.segments) if known else None

    def _watch(self, axes: Axes, want: Collection[str], request: Request) -> Watch:
        """Through open windows where the text is short, something is edited, or weights are no plain softmax
        of q · k; otherwise by measured products, which are faster and need no matrix."""
        edits = request.edits
        longest = max(map(len, axes.tokens.values()))
        plain = can_measure(self.network) and not edits and "trace" not in want
        if request.kernel == "fast" and not plain:
            raise InputError("record.fast_kernel_plain")
        if not plain or (request.kernel is None and longest <= SHORT):
            return Watch(self.network, axes, want, edits)
        dense = longest <= LONGEST_DENSE and bool({"weights", "scores"} & set(want))
        kernel: Kernel = request.kernel or ("exact" if dense else "fast")
        maker = MapMaker(axes, want, keep=request.keep)
        return Watch(self.network, axes, want, maker=maker, kernel=kernel)

    def _check_once(self, model_hash: str, source: Encoding) -> Comparison:
        """How far the ways of looking are apart on a few tokens; once for each model."""
        if model_hash not in self._checks:
            short, written = self._shorten(source)
            axes = _read_sides(short, written)[1]
            self._checks[model_hash] = check_network(
                self.network, axes, lambda watch: self._run(short, written, watch)[0]
            )
        return self._checks[model_hash]

    def _shorten(self, source: Encoding) -> tuple[Encoding, Encoding | None]:
        """The first tokens of a source, and a target; a picture stays whole."""
        both = self.model.shape == "encoder-decoder"
        if isinstance(source, Percept):
            config = self.network.config
            assert isinstance(config, ModelConfig)
            source = source.cut(CHECKED_TOKENS, config.token_samples)
            return source, self._begin(self.reader.read(())) if both else None
        part = slice(CHECKED_TOKENS)
        cut = (source.ids[part], source.texts[part], source.special[part], source.segments[part])
        short = Encoding(*cut, text="")
        return short, short if both else None

    # What comes out

    def _output(self, logits: Tensor, wanted: Wanted) -> Output | None:
        stack = "encoder" if self.model.shape == "encoder" else "decoder"
        if self.model.head == "none":
            return None
        if self.model.head == "classes":
            return read_classes(logits, stack, self.model.labels, wanted)
        if self.model.head == "tags":
            return read_tags(logits, stack, self.model.labels, wanted)
        if self.model.head == "numbers":
            return read_numbers(logits, stack, self.model.labels)
        return read_words(logits, stack, self.reader.show, wanted)

    def _notes(self, want: Collection[str], watch: Watch) -> list[Message]:
        notes: list[Message] = [*self.reader.tell_size(self.model.vocabulary_size)]
        notes += [] if watch.maker is None else list(watch.maker.notes)
        if isinstance(self.network, RecurrentTranslator):
            if self.network.decoder.attention is None:
                notes.append(message("record.fixed_context"))
            if "hidden" in want:
                notes.append(message("record.top_recurrent_layer"))
        return notes


@contextmanager
def _only_positions(head: LanguageHead | None, positions: Sequence[int] | None) -> Iterator[None]:
    """The head computes logits for these positions only; None: as it always does."""
    if head is None or positions is None:
        yield
        return
    with head.register_forward_pre_hook(lambda _, inputs: (inputs[0][:, list(positions)], *inputs[1:])):
        yield


def _read_sides(source: Encoding, written: Encoding | None) -> tuple[tuple[Tokens, Tokens | None], Axes]:
    """Source and target as tokens; which of them each stack reads."""
    own = as_tokens("source", source)
    target = None if written is None else as_tokens("target", written)
    return (own, target), Axes({"encoder": own, "decoder": own if target is None else target}, {})


def _describe(config: NetworkConfig) -> dict[str, Any]:
    """A configuration as a recording keeps it: plain values, without lists of numbers for pixels."""
    return {name: value for name, value in asdict(config).items() if not isinstance(value, tuple)}
