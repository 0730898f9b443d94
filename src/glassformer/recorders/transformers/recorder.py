"""Models of transformers, recorded as they are.

In:   a loaded model of transformers and a request.
Out:  a `Run`. Short texts are recorded with the exact kernel, whose maps are the model's own to the last bit;
      long ones, and those of which only statistics are wanted, without any n×n matrix. Architectures off the
      attention interface are asked for their eager attention. Each model is checked once against that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.transformers import TransformersModel
from glassformer.messages import Message, message
from glassformer.recorders.batch import (
    NO_NAMES,
    Batch,
    BatchRow,
    BatchRows,
    CannotFoldError,
    FoldingMaker,
    agree,
    take_row,
)
from glassformer.recorders.call import Call, Kernel
from glassformer.recorders.comparison import Comparison, tolerance_of
from glassformer.recorders.edited_rows import EditedRows, can_share_batch
from glassformer.recorders.edits.active import ActiveEdits, ActiveStates, limit_layers
from glassformer.recorders.edits.edit import Edit, check_generation, needs_numbered_queries
from glassformer.recorders.maps import SUMS, UNVERIFIED, Axes, MapMaker
from glassformer.recorders.preserve import frozen, preserving_state
from glassformer.recorders.request import Request, Run, check_gradients, check_size
from glassformer.recorders.store import LONGEST_DENSE, hold_or_store
from glassformer.recorders.transformers.edits import check_first_layers, run_first_layers
from glassformer.recorders.transformers.generation import GeneratedText, generate, watch
from glassformer.recorders.transformers.inputs import InputBuilder, ModelInputs
from glassformer.recorders.transformers.interface import Capture, capturing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.media import MediaNames
from glassformer.recorders.transformers.reported import make_maps, run_eager
from glassformer.recorders.transformers.results import place_output, read_hidden, read_output
from glassformer.recorders.transformers.rows import editing_rows
from glassformer.recorders.transformers.selfcheck import Verdict, check_fast, check_model
from glassformer.recorders.transformers.softmaxes import check_reports, editing_reports
from glassformer.recorders.transformers.states import editing_states
from glassformer.recording import AttentionMap, Tokens
from glassformer.rounding import SHARPEST
from glassformer.text.tokenizer import Encoding

KERNELS = {
    "exact": message("recorders.kernels.eager"),
    "fast": message("recorders.kernels.blocks"),
    None: message("recorders.kernels.reported"),
}


@dataclass(slots=True)
class PassResult:
    """What one pass over a text gave."""

    outputs: Any
    maps: list[AttentionMap]
    notes: list[Message]
    kernel: Kernel | None  # None: off the interface
    comparison: Comparison


class TransformersRecorder:
    """Records one model of transformers."""

    def __init__(self, model: LoadedModel) -> None:
        assert isinstance(model, TransformersModel)
        self.loaded = model
        self.model: nn.Module = model.network
        self.builder = InputBuilder(model)
        self.stacks = Stacks(self.model)
        self._verdict: Verdict | None = None  # of the self-check
        self._fast: Comparison | None = None
        self._mixes: bool | None = None  # whether texts of one batch change each other; None: not known yet

    def run(self, request: Request) -> Run:
        """Generate where that is asked for; then one pass over the whole text."""
        edits = request.edits
        given = self._build(request)
        with preserving_state(self.model), self.builder.explaining_inputs(given):
            verdict = self._check_once(given)
            states = editing_states(self.stacks, _count_layers(verdict.layers, edits), ActiveStates(edits))
            with run_first_layers(self.stacks, verdict.layers, edits), states:
                written = self._write(given, request, verdict)
                if written is not None:
                    given = written.given
                seen = self._see(given, request, verdict, written)
                check_first_layers(seen.maps, verdict.layers, edits)
        return self._finish(given, request, written, seen)

    def check(self, request: Request) -> int:
        """Refuse a text that the model cannot read; see `Recorder`."""
        if isinstance(request.source, Mapping):
            return self._build(request).length
        return self.builder.check(request.source, self._begin(request.target))

    def run_together(self, requests: Sequence[Request]) -> Batch | None:
        """One pass over several texts of one length; see `Recorder`."""
        first = self._build(requests[0])
        with preserving_state(self.model), self.builder.explaining_inputs(first):
            verdict = self._check_once(first)
            waiting = self.builder.translates and "decoder_input_ids" not in first.tensors
            long = first.length > LONGEST_DENSE and {"weights", "scores"} & requests[0].want
            if not verdict.routed or waiting or long or self._mixes:
                return None
            try:
                if self._mixes is None and len(requests) > 1:
                    plain = [replace(each, want=each.want - {SUMS}) for each in requests]
                    both, alone = (self._see_together(first, some, verdict) for some in (plain, plain[:1]))
                    self._mixes = not agree(self.model, both, alone)
                batch = self._see_together(first, requests, verdict)
            except CannotFoldError:
                self._mixes = True
        return None if self._mixes else batch

    def _see_together(self, first: ModelInputs, requests: Sequence[Request], verdict: Verdict) -> Batch:
        """`first`: the inputs of the first request."""
        request, texts = requests[0], len(requests)
        kernel, comparison, notes = self._choose_kernel(first, request, verdict)
        maker = MapMaker(NO_NAMES, request.want, request.keep)
        folding = FoldingMaker(maker, texts)
        capture = Capture(
            self.stacks, kernel, folding.receive, None, folding.attend if verdict.standard else None
        )
        sources = [each.source for each in requests if isinstance(each.source, Encoding)]
        targets = [begun for each in requests if (begun := self._begin(each.target)) is not None]
        tensors = self.builder.build_batch(sources, targets)
        settings = self.builder.settings(request.want)
        with maker, capturing(self.model, capture, preserved=True), self.builder.explaining_lookups():
            outputs = self.model(**tensors, **settings)
            maps = maker.finish()
        notes += [*verdict.notes, *self.builder.tell_length(first), *maker.notes]

        def make(number: int) -> BatchRow:
            given = self._build(requests[number])

            def finish(own: Sequence[AttentionMap]) -> Run:
                row = take_row(outputs, number, texts)
                seen = PassResult(row, list(own), list(notes), kernel, comparison)
                return self._finish(given, requests[number], None, seen)

            media = MediaNames(self.loaded, given.tensors, None)
            axes = self.builder.find_axes(given, self.stacks, tuple(verdict.layers), media)
            return BatchRow(axes, finish)

        return Batch(maps, BatchRows(texts, make))

    def measure(
        self,
        request: Request,
        edits: Sequence[Sequence[Edit]],
        positions: Sequence[int] | None,
        *,
        together: bool = True,
    ) -> Tensor:
        """Logits of one pass without edits, then of one pass for each of these; see `Recorder`."""
        given = self._build(request)
        with preserving_state(self.model), self.builder.explaining_inputs(given):
            verdict = self._check_once(given)
            if together and verdict.routed and can_share_batch(edits):
                rows = EditedRows(edits, _order_stacks(verdict.layers))
                with editing_rows(self.stacks, verdict.layers, rows), self.builder.explaining_lookups():
                    logits = self._compute_logits(given, positions)
                if len(logits) == len(edits) + 1:
                    return rows.finish(logits)
            return torch.cat([self._measure_alone(given, request, each, positions) for each in ((), *edits)])

    def read_sides(self, request: Request) -> tuple[Tokens | None, Tokens | None]:
        """Source and target without a pass; see `Recorder`."""
        given = self._build(request)
        return given.source, given.target

    def differentiate(
        self, request: Request, edits: Sequence[Edit], positions: Sequence[int] | None
    ) -> Tensor:
        """Logits of one pass that keeps what gradients need; see `Recorder`."""
        given = self._build(request)
        active, states = ActiveEdits(edits), ActiveStates(edits)
        with preserving_state(self.model), self.builder.explaining_inputs(given):
            verdict = self._check_once(given)
            if not verdict.routed:
                raise InputError("recorders.estimates.off_interface", kind=type(self.model).__name__)
            heads = getattr(self.builder.config.get_text_config(), "num_attention_heads", 1)
            check_gradients(
                given.length, heads if isinstance(heads, int) else 1, sum(verdict.layers.values())
            )
            capture = Capture(self.stacks, "exact", lambda _: None, active)
            with (
                editing_states(self.stacks, verdict.layers, states),
                capturing(self.model, capture, preserved=True),
                self.builder.explaining_lookups(),
                frozen(self.model),
                torch.inference_mode(False),
                torch.enable_grad(),
            ):
                logits = self._compute_logits(given, positions)
            active.check_used()
            return logits

    def _measure_alone(
        self, given: ModelInputs, request: Request, edits: Sequence[Edit], positions: Sequence[int] | None
    ) -> Tensor:
        want = frozenset({"statistics", "output"})
        verdict = self._check_once(given)
        states = editing_states(self.stacks, _count_layers(verdict.layers, edits), ActiveStates(edits))
        with run_first_layers(self.stacks, verdict.layers, edits), states:
            seen = self._see(given, replace(request, edits=tuple(edits), want=want), verdict, None)
            check_first_layers(seen.maps, verdict.layers, edits)
        return _select(_read_output(seen.outputs), positions)

    def _compute_logits(self, given: ModelInputs, positions: Sequence[int] | None) -> Tensor:
        settings = self.builder.settings(("output",))
        if positions is None or "logits_to_keep" not in self.builder.names:
            return _select(_read_output(self.model(**given.tensors, **settings)), positions)
        kept = torch.tensor(positions, device=self.loaded.device)
        return self.model(**given.tensors, **settings, logits_to_keep=kept)["logits"]

    # What goes in

    def _build(self, request: Request) -> ModelInputs:
        if isinstance(request.source, Mapping):
            return self.builder.build_from_mapping(request.source)
        return self.builder.build(request.source, self._begin(request.target))

    def _begin(self, target: Encoding | None) -> Encoding | None:
        """A target as the decoder reads it: behind its first token."""
        return None if target is None else self.loaded.reader.prepend(self.builder.find_start(), target)

    def _check_once(self, given: ModelInputs) -> Verdict:
        if self._verdict is None:
            self._verdict = check_model(self.model, self.stacks, self.builder.complete(given))
        return self._verdict

    def _write(self, given: ModelInputs, request: Request, verdict: Verdict) -> GeneratedText | None:
        """Let the model generate first, where that is asked for or its decoder has nothing to read yet."""
        waiting = self.builder.translates and "decoder_input_ids" not in given.tensors
        if request.decode is None and not waiting:
            return None
        edits = request.edits
        check_generation(edits)
        active = ActiveEdits(edits)
        if verdict.routed:
            if edits:
                self._check_size(given, frozenset(), verdict)
            short = given.length <= LONGEST_DENSE
            fast = not short and not edits and self._check_fast(given).exact
            about = {"translates": self.builder.translates, "short": short, "fast": fast}
            inside, watcher = watch(self.model, self.stacks, active, **about)
        else:
            if self.builder.translates and active:
                raise InputError(
                    "record.cannot_edit_generation", kind=type(self.model).__name__, edit=active.edits[0]
                )
            inside, watcher = editing_reports(self.model, self.stacks, given.tensors, active), None
        written = generate(
            self.builder,
            given,
            request.decode,
            request.prefix,
            inside=inside,
            watcher=watcher,
            tolerance=tolerance_of(self.model, SHARPEST),  # longer texts and edits may sharpen attention
            cache=not needs_numbered_queries(edits),
            forced=request.forced,
            edits=active,
        )
        if request.on_step is not None:
            for step in (*(written.generation.nodes or written.generation.steps), None):
                request.on_step(step)
        return written

    # One pass

    def _see(
        self, given: ModelInputs, request: Request, verdict: Verdict, written: GeneratedText | None
    ) -> PassResult:
        media = MediaNames(self.loaded, given.tensors, given.heard)
        axes = self.builder.find_axes(given, self.stacks, tuple(verdict.layers), media)
        settings = self.builder.settings(request.want)
        if not verdict.routed:
            with media.watching():
                seen = self._see_reports(given, request, verdict, axes, settings)
            return replace(seen, notes=[*seen.notes, *media.tell()])
        kernel, comparison, notes = self._choose_kernel(given, request, verdict)
        # Whatever runs without eager attention does without its weights.
        later = request.keep is hold_or_store and getattr(self.model, "_supports_sdpa", False)
        maker = MapMaker(axes, request.want, request.keep, later=later)
        active = ActiveEdits(request.edits)

        def receive(call: Call) -> Any:
            if written is not None:
                written.put_steps(call)
            return maker.receive(call)

        compute = maker.attend if verdict.standard and written is None else None  # steps replace weights
        capture = Capture(self.stacks, kernel, receive, active, compute)
        watching = capturing(self.model, capture, preserved=True)
        with maker, watching, media.watching(), self.builder.explaining_lookups():
            outputs = self.model(**given.tensors, **settings)
            maps = maker.finish()
        active.check_used()
        if written is not None and kernel == "fast":
            written.compare(maps)
        notes += [*verdict.notes, *self.builder.tell_length(given), *maker.notes, *media.tell()]
        notes += self._tell_left_out(capture)
        notes += [] if written is None else written.notes
        return PassResult(outputs, maps, notes, kernel, comparison)

    def _tell_left_out(self, capture: Capture) -> list[Message]:
        """That some layers computed attention in windows, of a picture too large to put them together."""
        if not capture.left_out:
            return []
        names = sorted({self.stacks.rename(place).stack for place in capture.left_out})
        count = len(capture.left_out)
        return [message("recorders.notes.windows", stacks=names, count=count, most=LONGEST_DENSE)]

    def _see_reports(
        self, given: ModelInputs, request: Request, verdict: Verdict, axes: Axes, settings: dict[str, Any]
    ) -> PassResult:
        if request.kernel == "fast":
            raise InputError("record.no_fast_kernel", kind=type(self.model).__name__)
        self._check_size(given, frozenset({"weights"}), verdict)  # all layers report theirs at once
        active = ActiveEdits(request.edits)
        editing = editing_reports(self.model, self.stacks, given.tensors, active)
        with self.builder.explaining_lookups(), editing as edited:
            outputs, reports = run_eager(self.model, given.tensors, **settings)
        active.check_used()
        check_reports(edited, self.stacks, reports)
        maps, notes = make_maps(outputs, reports, self.stacks, axes, request.want, active)
        return PassResult(outputs, maps, [*verdict.notes, *notes], None, verdict.comparison)

    def _choose_kernel(
        self, given: ModelInputs, request: Request, verdict: Verdict
    ) -> tuple[Kernel, Comparison, list[Message]]:
        """Exact where matrices are small and wanted, or something is edited; how it was checked; notes."""
        short = given.length <= LONGEST_DENSE and bool({"weights", "scores"} & request.want)
        kernel: Kernel = request.kernel or ("exact" if short or request.edits else "fast")
        if kernel == "exact":
            self._check_size(given, request.want, verdict)
            return kernel, verdict.comparison, []
        if request.edits:
            raise InputError("record.fast_kernel_plain")
        fast = self._check_fast(given)
        if fast.exact:
            return kernel, fast, []
        return "exact", verdict.comparison, [message("record.exact_instead", error=fast.error)]

    def _check_fast(self, given: ModelInputs) -> Comparison:
        if self._fast is None:
            self._fast = check_fast(self.model, self.stacks, self.builder.complete(given))
        return self._fast

    def _check_size(self, given: ModelInputs, want: frozenset[str], verdict: Verdict) -> None:
        """Refuse matrices that no memory holds before the model tries to form them."""
        heads = getattr(self.builder.config.get_text_config(), "num_attention_heads", 1)
        layers = sum(verdict.layers.values()) if {"weights", "scores"} & want else 1
        code = "record.large_matrices_or_fast" if verdict.routed else "record.large_matrices"
        check_size(code, given.length, heads if isinstance(heads, int) else 1, layers)

    # What comes out

    def _finish(
        self, given: ModelInputs, request: Request, written: GeneratedText | None, seen: PassResult
    ) -> Run:
        want = request.want
        source, target = given.source, given.target
        axes = [axis for each in seen.maps for axis in (each.query, each.key)]
        if source is not None:  # beside its picture, where it has one
            ids = source.ids
            source = next((each for each in axes if each.picture and np.array_equal(each.ids, ids)), source)
        unseen = source is not None and target is None and len(source) not in map(len, axes)
        if source is None or unseen:  # no text, or no map of what reads it
            first = [each.query for each in seen.maps if each.stack == "encoder"]  # before a decoder of sound
            source = next(axis for axis in (*first, *axes) if axis.side == "source")
        if target is None and self.builder.translates:
            target = replace(next(each.query for each in seen.maps if each.stack == "decoder"), side="target")
        doubtful = seen.kernel == "fast" and any(note.code == UNVERIFIED for note in seen.notes)
        size = getattr(self.loaded.find_embedding()[1], "num_embeddings", None)
        assert self._verdict is not None
        reader = self.builder.find_reader(self.stacks, tuple(self._verdict.layers)) or seen.maps[0].stack
        run = Run(
            source=source,
            target=target,
            maps=seen.maps,
            kernel=KERNELS[seen.kernel],
            comparison=replace(seen.comparison, complete=not doubtful),
            generation=None if written is None else written.generation,
            notes=[*self.loaded.reader.tell_size(size), *seen.notes],
        )
        lengths = {len(side) for side in (source, target) if side is not None}
        if "hidden" in want:
            run.hidden, notes = read_hidden(seen.outputs, self.stacks, lengths, reader)
            run.notes = [*run.notes, *notes]
        if "output" in want:
            stack = "decoder" if self.builder.translates else reader
            show, head = self.loaded.reader.show, self.loaded.head
            output = read_output(self.model, seen.outputs, stack, show, head, request.wanted)
            run.output, notes = place_output(output, seen.maps, lengths)
            run.notes = [*run.notes, *notes]
        return run


def _count_layers(layers: Mapping[str, int], edits: Sequence[Edit]) -> dict[str, int]:
    """How many layers of each stack run."""
    return {**layers, **limit_layers(layers, edits)}


def _order_stacks(layers: Mapping[str, int]) -> dict[str, int]:
    """The encoder runs before all others."""
    return {name: layers[name] for name in sorted(layers, key=lambda name: name != "encoder")}


def _read_output(outputs: Mapping[str, Tensor]) -> Tensor:
    """Logits; of a model without a head its last states."""
    return outputs["logits" if "logits" in outputs else "last_hidden_state"]


def _select(logits: Tensor, positions: Sequence[int] | None) -> Tensor:
    return logits if positions is None else logits[:, list(positions)]
