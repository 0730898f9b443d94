"""Models of transformers, recorded as they are.

In:   a live model, its tokenizer, and a text, token ids, or the model's own inputs.
Out:  a Recording. Short texts are recorded with the exact kernel, whose maps are the model's own to the last
      bit; long ones, and those of which only statistics are wanted, without any n×n matrix. Architectures off
      the attention interface are asked for their eager attention. Each model is checked once against that.
"""

import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from glassformer import __version__
from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.call import Call, Kernel
from glassformer.recorders.checks import USUAL, check_decode, check_edits, check_want, name_path
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import Edit, check_generation, needs_numbered_queries
from glassformer.recorders.identity import Identity
from glassformer.recorders.maps import LONGEST_DENSE, Axes, MapMaker
from glassformer.recorders.preserve import on_loan
from glassformer.recorders.reading import Inputs, Reader
from glassformer.recorders.store import Keep, keep_aside
from glassformer.recorders.transformers.fallback import ask
from glassformer.recorders.transformers.first_layers import check_first_layers, run_first_layers
from glassformer.recorders.transformers.generation import Written, watch, write
from glassformer.recorders.transformers.inputs import Given, Giver
from glassformer.recorders.transformers.interface import Capture, capturing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.reported import make_maps
from glassformer.recorders.transformers.results import read_hidden, read_output
from glassformer.recorders.transformers.selfcheck import (
    REFERENCE,
    Verdict,
    check_fast,
    check_model,
    tolerance_of,
)
from glassformer.recorders.transformers.softmaxes import check_reports, editing_reports
from glassformer.recording import AttentionMap, Evidence, Recording
from glassformer.text.opening import wrap_tokenizer

LARGEST = 8 << 30  # bytes of matrices that one recording may form
KERNELS = {
    "exact": "eager",
    "fast": "blocks of rows, without the matrix",
    None: "eager, as the model reports it",
}


def load_live(model: nn.Module, tokenizer: Any = None, *, name: str | None = None) -> "HuggingFaceSubject":
    """A live model of transformers as something to record."""
    if not hasattr(model, "config") or not hasattr(model, "get_input_embeddings"):
        raise InputError(
            f"A {type(model).__name__} is neither one of our networks nor a model of transformers; nothing "
            "is known about where its attention is. Give one of the two."
        )
    return HuggingFaceSubject(model, tokenizer, name)


@dataclass(slots=True)
class Seen:
    """What one pass over a text showed."""

    outputs: Any
    maps: list[AttentionMap]
    notes: list[str]
    kernel: Kernel | None  # None: off the interface
    error: float | None


class HuggingFaceSubject:
    """A model of transformers with its tokenizer; without one it takes token ids or its own inputs."""

    def __init__(self, model: nn.Module, tokenizer: Any = None, name: str | None = None) -> None:
        self.model = model
        self.name = name or _find_name(model)
        self.reader = Reader(self.name, None if tokenizer is None else wrap_tokenizer(tokenizer))
        self.giver = Giver(model, self.reader)
        self.stacks = Stacks(model)
        self.identity = Identity(model)
        self.kernel: Kernel | None = None  # to insist on one; None: as the length of the text asks for
        self.keep: Keep = keep_aside  # where large arrays go
        self.notes: tuple[str, ...] = ()  # for the evidence of every recording
        self._verdict: Verdict | None = None  # of the self-check
        self._fast_error: float | None = None

    def __repr__(self) -> str:
        millions = sum(parameter.numel() for parameter in self.model.parameters()) / 1e6
        kind = type(self.model).__name__
        return f"HuggingFaceSubject({self.name!r}: {kind}, {millions:.1f}M parameters)"

    def record(
        self,
        inputs: Inputs | Mapping[str, Any],
        target: Inputs | None = None,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        second_text: str | None = None,
        decode: GenerationSettings | None = None,
        want: Collection[str] = USUAL,
        edits: Sequence[Edit] = (),
    ) -> Recording:
        """See `Subject`; non-text models are given a mapping of tensors, a batch of one."""
        wanted, changes = check_want(want), check_edits(edits)
        if source_language is not None:
            raise InputError(f"{self.name} is not told the language of a text; leave `source_language` out.")
        self._check_request(target, decode)
        given = self._give(inputs, target, second_text, target_language)
        model_hash = self.identity.hash()
        with on_loan(self.model):
            verdict = self._check_once(given)
            with run_first_layers(self.stacks, verdict.layers, changes):
                written = self._write(given, decode, changes, verdict)
                if written is not None:
                    given = written.given
                seen = self._see(given, wanted, changes, verdict, written)
                check_first_layers(seen.maps, verdict.layers, changes)
        return self._finish(given, wanted, changes, written, seen, model_hash)

    # What goes in

    def _check_request(self, target: Inputs | None, decode: GenerationSettings | None) -> None:
        check_decode(decode)
        if target is not None and not self.giver.translates:
            raise InputError(
                f"{self.name} has one stack and no target side; put everything into one text, "
                "or leave `target` out."
            )
        if decode is not None and target is not None:
            raise InputError("The target is given, so there is nothing to decode; leave one of the two out.")
        if decode is not None and not self.model.can_generate():  # type: ignore[operator]
            raise InputError(f"{self.name} cannot generate; leave `decode` out.")

    def _give(
        self,
        inputs: Inputs | Mapping[str, Any],
        target: Inputs | None,
        second_text: str | None,
        target_language: str | None,
    ) -> Given:
        if isinstance(inputs, Mapping):
            if target is not None or second_text is not None or target_language is not None:
                raise InputError(
                    "A mapping holds all that the model is given; leave texts and languages out."
                )
            return self.giver.give_mapping(inputs)
        source = self.reader.read_source(inputs, second_text, target_language)
        if target is None:
            return self.giver.give(source)
        return self.giver.give(source, self.giver.begin_target(self.reader.read_target(target)))

    def _check_once(self, given: Given) -> Verdict:
        if self._verdict is None:
            self._verdict = check_model(self.model, self.stacks, self.giver.complete(given))
        return self._verdict

    def _write(
        self, given: Given, decode: GenerationSettings | None, edits: Sequence[Edit], verdict: Verdict
    ) -> Written | None:
        """Let the model write first, where it is asked to or has nothing to read yet."""
        waiting = self.giver.translates and "decoder_input_ids" not in given.tensors
        if decode is None and not waiting:
            return None
        check_generation(edits)
        active = ActiveEdits(edits)
        if verdict.routed:
            if edits:
                self._check_size(given, frozenset(), verdict)
            short = given.length <= LONGEST_DENSE
            fast = not short and not edits and self._check_fast(given) <= tolerance_of(self.model)
            about = {"translates": self.giver.translates, "short": short, "fast": fast}
            inside, watcher = watch(self.model, self.stacks, active, **about)
        else:
            if self.giver.translates and active:
                raise InputError(
                    f"{type(self.model).__name__} does not use the attention interface, and how it writes "
                    f"cannot be edited ({active.edits[0]}). Give it a target to read."
                )
            inside, watcher = editing_reports(self.model, self.stacks, given.tensors, active), None
        cache = not needs_numbered_queries(edits)
        return write(self.giver, given, decode, inside=inside, watcher=watcher, cache=cache)

    # One pass

    def _see(
        self,
        given: Given,
        want: frozenset[str],
        edits: Sequence[Edit],
        verdict: Verdict,
        written: Written | None,
    ) -> Seen:
        axes = self.giver.find_axes(given, self.stacks, tuple(verdict.layers))
        words = self.giver.settings(want)
        if not verdict.routed:
            return self._see_reports(given, want, edits, verdict, axes, words)
        kernel, error, notes = self._choose_kernel(given, want, edits, verdict)
        maker = MapMaker(axes, want, self.keep)
        active = ActiveEdits(edits)

        def receive(call: Call) -> Any:
            if written is not None:
                written.put_steps(call)
            return maker.receive(call)

        capture = Capture(self.stacks, kernel, receive, active)
        with maker, capturing(self.model, capture, lent=True), self.giver.looking_up():
            outputs = self.model(**given.tensors, **words)
            maps = maker.finish()
        active.check_used()
        if written is not None and kernel == "fast":
            written.hold(maps)
        notes += [*verdict.notes, *self.giver.tell_length(given), *maker.notes]
        notes += [] if written is None else written.notes
        return Seen(outputs, maps, notes, kernel, error)

    def _see_reports(
        self,
        given: Given,
        want: frozenset[str],
        edits: Sequence[Edit],
        verdict: Verdict,
        axes: Axes,
        words: dict[str, Any],
    ) -> Seen:
        if self.kernel == "fast":
            raise InputError(
                f"{type(self.model).__name__} does not use the attention interface, so there is no fast "
                "kernel for it; leave the kernel out."
            )
        self._check_size(given, frozenset({"weights"}), verdict)  # all layers report theirs at once
        active = ActiveEdits(edits)
        editing = editing_reports(self.model, self.stacks, given.tensors, active)
        with self.giver.looking_up(), editing as edited:
            outputs, reports = ask(self.model, given.tensors, **words)
        active.check_used()
        check_reports(edited, self.stacks, reports)
        maps, notes = make_maps(outputs, reports, self.stacks, axes, want, active)
        return Seen(outputs, maps, [*verdict.notes, *notes], None, verdict.error)

    def _choose_kernel(
        self, given: Given, want: frozenset[str], edits: Sequence[Edit], verdict: Verdict
    ) -> tuple[Kernel, float | None, list[str]]:
        """Exact where matrices are small and wanted, or something is edited; its error; what to say of it."""
        short = given.length <= LONGEST_DENSE and bool({"weights", "scores"} & want)
        kernel: Kernel = self.kernel or ("exact" if short or edits else "fast")
        if kernel == "exact":
            self._check_size(given, want, verdict)
            return kernel, verdict.error, []
        if edits:
            raise InputError("The fast kernel takes no edits; let the exact one run.")
        error = self._check_fast(given)
        if error <= tolerance_of(self.model):
            return kernel, error, []
        note = f"the exact kernel ran, because weights from queries and keys were off by {error:.1e}"
        return "exact", verdict.error, [note]

    def _check_fast(self, given: Given) -> float:
        if self._fast_error is None:
            self._fast_error = check_fast(self.model, self.stacks, self.giver.complete(given))
        return self._fast_error

    def _check_size(self, given: Given, want: frozenset[str], verdict: Verdict) -> None:
        """Refuse matrices that no memory holds before the model tries to form them."""
        heads = getattr(self.giver.config.get_text_config(), "num_attention_heads", 1)
        layers = sum(verdict.layers.values()) if {"weights", "scores"} & want else 1
        size = 4 * (heads if isinstance(heads, int) else 1) * given.length**2 * layers
        if size > LARGEST:
            raise InputError(
                f"Matrices of {given.length} tokens would take {size / 2**30:.0f} GiB, more than "
                f"{LARGEST >> 30}; shorten the text"
                + (", leave edits out, or let the fast kernel run." if verdict.routed else ".")
            )

    # What comes out

    def _finish(
        self,
        given: Given,
        want: frozenset[str],
        edits: Sequence[Edit],
        written: Written | None,
        seen: Seen,
        model_hash: str,
    ) -> Recording:
        source = seen.maps[0].query if given.source is None else given.source
        target = given.target
        if target is None and self.giver.translates:
            target = replace(next(each.query for each in seen.maps if each.stack == "decoder"), side="target")
        hidden: dict[str, Any] = {}
        output = None
        if "hidden" in want:
            lengths = {len(side) for side in (source, target) if side is not None}
            hidden, notes = read_hidden(seen.outputs, self.stacks, lengths)
            seen.notes += notes
        if "output" in want:
            stack = "decoder" if self.giver.translates else seen.maps[0].stack
            output = read_output(self.model, seen.outputs, stack, self.reader.show)
        return Recording(
            model=self.name,
            evidence=self._evidence(seen, edits, model_hash),
            source=source,
            target=target,
            maps=tuple(seen.maps),
            hidden=hidden,
            output=output,
            generation=None if written is None else written.generation,
        )

    def _evidence(self, seen: Seen, edits: Sequence[Edit], model_hash: str) -> Evidence:
        import transformers

        size = getattr(self.giver.find_table()[1], "num_embeddings", None)
        notes = (*self.notes, *self.reader.tell_size(size), *seen.notes)
        doubtful = seen.kernel == "fast" and any(note.startswith("not verified") for note in seen.notes)
        versions = {
            "glassformer": __version__,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        return Evidence(
            model=self.name,
            model_hash=model_hash,
            kernel=KERNELS[seen.kernel],
            dtype=str(next(self.model.parameters()).dtype).removeprefix("torch."),
            exact=not doubtful,
            largest_error=seen.error,
            reference=None if seen.error is None else REFERENCE,
            edits=tuple(edit.as_message() for edit in edits),
            versions=versions,
            notes=tuple(dict.fromkeys(notes)),
        )


def _find_name(model: nn.Module) -> str:
    """What a model was loaded by."""
    return name_path(str(getattr(model, "name_or_path", "") or type(model).__name__))
