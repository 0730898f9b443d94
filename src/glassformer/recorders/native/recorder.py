"""Our own networks, recorded through their windows.

In:   a Transformer or a recurrent translator, its tokenizer, a text.
Out:  a Recording. The network runs once, in evaluation mode; weights are those before dropout. Afterwards
      mode, hooks, products and gradients are as they were, also where something went wrong.
"""

import platform
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

from glassformer import __version__
from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.decoding import start_of_target
from glassformer.model.generate import GREEDY, at_inference, generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer, check_ids
from glassformer.recorders.call import Kernel
from glassformer.recorders.checks import USUAL, check_decode, check_edits, check_want
from glassformer.recorders.edits.edit import Edit, check_generation, find_relaxed, needs_numbered_queries
from glassformer.recorders.identity import Identity
from glassformer.recorders.maps import LONGEST_DENSE, Axes, MapMaker
from glassformer.recorders.native.edits import applying_edits
from glassformer.recorders.native.measured_attention import KERNELS, can_lend
from glassformer.recorders.native.tracing import check_traceable, complete_want, read_parameters
from glassformer.recorders.native.windows import Network, Watch
from glassformer.recorders.outputs import read_classes, read_generation, read_words
from glassformer.recorders.preserve import alone_with
from glassformer.recorders.reading import Inputs, Reader, as_tokens
from glassformer.recorders.store import Keep, keep_aside
from glassformer.recorders.transformers.selfcheck import tolerance_of
from glassformer.recording import Evidence, Generation, Output, Recording, Tokens
from glassformer.text.opening import open_tokenizer, wrap_tokenizer
from glassformer.text.tokenizer import Encoding
from glassformer.weights.checkpoint import open_checkpoint

ALTERNATIVES = 5  # kept for each generated word where nothing else is said
CHECKED_TOKENS = 16  # of a text, for the self-check
SHORT = 256  # tokens, whose matrices and float64 statistics cost next to nothing
LARGEST = 8 << 30  # bytes of maps that one recording may form


def describe(network: Network) -> str:
    """A network in a few words."""
    millions = sum(parameter.numel() for parameter in network.parameters()) / 1e6
    config = network.config
    if not isinstance(config, ModelConfig):
        return f"recurrent, {config.context} context, width {config.width}, {millions:.1f}M parameters"
    layers = "+".join(map(str, config.depth.values()))
    size = f"{layers} layers, {config.heads} heads, width {config.width}"
    return f"{config.shape}, {size}, {millions:.1f}M parameters"


def is_ours(model: Any) -> TypeGuard[Network]:
    """Whether a network has windows."""
    return isinstance(model, (Transformer, RecurrentTranslator))


def open_ours(folder: Path, name: str) -> "OurSubject":
    """The model of a folder, with the tokenizer, the labels and the manner of generating that it brings."""
    checkpoint = open_checkpoint(folder)
    tokenizer = None if checkpoint.tokenizer is None else open_tokenizer(checkpoint.tokenizer)
    subject = OurSubject(checkpoint.network, tokenizer, name=name)
    subject.generation, subject.labels = checkpoint.generation, checkpoint.labels
    return subject


class OurSubject:
    """One of our networks with its tokenizer; without one it takes token ids, shown as numbers."""

    def __init__(self, network: Network, tokenizer: Any = None, *, name: str | None = None) -> None:
        self.network = network
        self.name = name or type(network).__name__
        self.tokenizer = None if tokenizer is None else wrap_tokenizer(tokenizer)
        self.generation = GREEDY  # how it generates where nothing else is said
        self.labels: tuple[str, ...] = ()  # of its classes
        self.reader = Reader(self.name, self.tokenizer)
        self.identity = Identity(network)
        self.kernel: Kernel | None = None  # to insist on one; None: as the length of the text asks for
        self.keep: Keep = keep_aside  # where large arrays go
        self._checks: dict[str, tuple[float, str]] = {}  # by the model's hash

    def __repr__(self) -> str:
        return f"OurSubject({self.name!r}: {describe(self.network)})"

    @property
    def shape(self) -> str:
        """As in `ModelConfig`."""
        config = self.network.config
        return config.shape if isinstance(config, ModelConfig) else "encoder-decoder"

    def record(
        self,
        inputs: Inputs,
        target: Inputs | None = None,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        second_text: str | None = None,
        decode: GenerationSettings | None = None,
        want: Collection[str] = USUAL,
        edits: Sequence[Edit] = (),
    ) -> Recording:
        """See `Subject`. A decoder alone records its prompt; with `decode` it goes on writing first."""
        wanted, edits = complete_want(check_want(want, ours=True)), check_edits(edits)
        self._check_request(target, decode, source_language)
        source = self.reader.read_source(inputs, second_text, target_language)
        self._check_ids(source)
        with ExitStack() as changes:
            changes.enter_context(alone_with(self.network))
            model_hash = self.identity.hash()
            check = self._check_once(model_hash, source)
            changes.enter_context(applying_edits(self.network, edits))
            source, written, generation = self._write(source, target, decode, edits)
            tokens = _both(source, written)
            watch = self._watch(*tokens, wanted, edits)
            check_traceable(self.network, wanted, edits, [source, written])
            self._check_size(source, written, wanted, watch)
            logits = self._run(source, written, watch)
        return Recording(
            model=self.name,
            evidence=self._evidence(model_hash, check, edits, wanted, watch),
            source=tokens[0],
            target=tokens[1],
            maps=watch.maps,
            hidden=watch.hidden,
            output=self._output(logits) if "output" in wanted else None,
            generation=generation,
            architecture=asdict(self.network.config),
            trace={**watch.steps, **(read_parameters(self.network) if "parameters" in wanted else {})},
        )

    # What goes in

    def _check_request(
        self, target: Inputs | None, decode: GenerationSettings | None, source_language: str | None
    ) -> None:
        check_decode(decode)
        if target is not None and self.shape != "encoder-decoder":
            raise InputError(
                f"{self.name} has one stack and no target side; put everything into one text, "
                "or leave `target` out."
            )
        if decode is not None and target is not None:
            raise InputError("The target is given, so there is nothing to decode; leave one of the two out.")
        if decode is not None and self.shape == "encoder":
            raise InputError(f"{self.name} is an encoder and cannot generate; leave `decode` out.")
        if source_language is not None:
            raise InputError(
                f"{self.name} reads a text without being told its language; leave `source_language` out."
            )

    def _check_ids(self, encoding: Encoding) -> None:
        """The network does so itself on a CPU only; on a GPU a foreign id would stop the process."""
        check_ids(torch.tensor([encoding.ids], dtype=torch.long), self.network.config.vocabulary_size)

    def _check_size(
        self, source: Encoding, written: Encoding | None, want: Collection[str], watch: Watch
    ) -> None:
        """Refuse too long a text, and matrices that no memory holds, before the network runs."""
        config = self.network.config
        if isinstance(self.network, Transformer):
            for side in (source, written):
                if side is not None:
                    self.network.check_length(len(side))
        heads, depth = (
            (config.heads, sum(config.depth.values())) if isinstance(config, ModelConfig) else (1, 1)
        )
        relative = isinstance(config, ModelConfig) and config.positions == "relative"
        fast = watch.maker is not None and watch.kernel == "fast"
        if fast and not relative:
            return
        longest = max(len(source), len(written) if written is not None else 0)
        kept = depth if not fast and {"weights", "scores"} & set(want) else 1
        size = 4 * heads * longest * longest * kept
        if size > LARGEST:
            raise InputError(
                f"Matrices of {longest} tokens would take {size / 2**30:.0f} GiB, more than {LARGEST >> 30}; "
                "shorten the text" + (", or leave weights and scores out of `want`." if kept > 1 else ".")
            )

    # What the network writes

    def _write(
        self,
        source: Encoding,
        target: Inputs | None,
        decode: GenerationSettings | None,
        edits: Sequence[Edit],
    ) -> tuple[Encoding, Encoding | None, Generation | None]:
        """The source, the target and, where the network wrote one of them, how it did."""
        if self.shape == "encoder-decoder":
            generation = None
            if target is None:
                words, generation = self._generate(source.ids, decode, edits)
                written = self.reader.recognise(words, target=True)
            else:
                written = self.reader.read_target(target)
            start = start_of_target(self.network.config.start_id, torch.zeros(1, 1), None)
            written = self.reader.prepend(int(start), written)
            self._check_ids(written)
            return source, written, generation
        if decode is None:
            return source, None, None
        ids = source.ids
        if len(ids) > 1 and ids[-1] == self.network.config.end_id:
            ids = ids[:-1]  # the end of the prompt is not the end of the text
        words, generation = self._generate(ids, decode, edits)
        return self.reader.recognise((*ids, *words), target=False), None, generation

    def _generate(
        self, ids: Sequence[int], decode: GenerationSettings | None, edits: Sequence[Edit]
    ) -> tuple[tuple[int, ...], Generation]:
        settings = decode or replace(self.generation, alternatives=ALTERNATIVES)
        check_generation(edits)
        if needs_numbered_queries(edits):
            settings = replace(settings, cache=False)  # then a query's number is its place in the text
        generated = generate(self.network, self._tensor(ids), None, settings)[0]
        return generated.words, read_generation(generated, settings, self.reader.show)

    # One run

    def _run(self, source: Encoding, written: Encoding | None, watch: Watch | None) -> Tensor:
        """Logits of the only text: (token, vocabulary), or (class,)."""
        with ExitStack() as contexts:
            contexts.enter_context(at_inference(self.network))
            if watch is not None:
                contexts.enter_context(watch.watching())
            ids = self._tensor(source.ids)
            if written is not None:
                logits = self.network(ids, target=self._tensor(written.ids))
            else:
                logits = self.network(ids, segments=self._segments(source))
            return logits[0]

    def _tensor(self, numbers: Sequence[int]) -> Tensor:
        return torch.tensor([numbers], device=next(self.network.parameters()).device)

    def _segments(self, source: Encoding) -> Tensor | None:
        config = self.network.config
        known = config.segments if isinstance(config, ModelConfig) else 0
        if known and max(source.segments) >= known:
            raise InputError(
                f"The tokenizer counts {max(source.segments) + 1} segments and {self.name} knows {known}; "
                "does this tokenizer belong to this model?"
            )
        return self._tensor(source.segments) if known else None

    def _watch(
        self, source: Tokens, target: Tokens | None, want: Collection[str], edits: Sequence[Edit] = ()
    ) -> Watch:
        """Through open windows where the text is short, something is edited, or weights are no plain softmax
        of q · k; otherwise by lent products, which measure faster and need no matrix."""
        reads = {"encoder": source, "decoder": source if target is None else target}
        longest = max(map(len, reads.values()))
        plain = can_lend(self.network) and not edits and "trace" not in want
        if self.kernel == "fast" and not plain:
            raise InputError("The fast kernel takes plain products without edits; let the exact one run.")
        if not plain or (self.kernel is None and longest <= SHORT):
            return Watch(self.network, source, target, want, lambda place: find_relaxed(edits, place))
        dense = longest <= LONGEST_DENSE and bool({"weights", "scores"} & set(want))
        kernel: Kernel = self.kernel or ("exact" if dense else "fast")
        maker = MapMaker(Axes(reads, {}), want, keep=self.keep)
        return Watch(self.network, source, target, want, maker=maker, kernel=kernel)

    def _check_once(self, model_hash: str, source: Encoding) -> tuple[float | None, str | None]:
        """How far the ways of looking are apart on a few tokens; once for each model."""
        if isinstance(self.network, RecurrentTranslator):
            return None, None  # it has one path only
        if model_hash not in self._checks:
            part = slice(CHECKED_TOKENS)
            cut = (source.ids[part], source.texts[part], source.special[part], source.segments[part])
            short = Encoding(*cut, text="")
            written = short if self.shape == "encoder-decoder" else None
            tokens = _both(short, written)
            opened = Watch(self.network, *tokens, ("weights",))
            logits = self._run(short, written, opened)
            error = float((logits - self._run(short, written, None)).abs().max())
            reference = f"the fused kernel (logits of {len(short)} tokens)"
            if can_lend(self.network):
                maker = MapMaker(
                    Axes({"encoder": tokens[0], "decoder": tokens[1] or tokens[0]}, {}), ("weights",)
                )
                lent = Watch(self.network, *tokens, ("weights",), maker=maker, kernel="fast")
                self._run(short, written, lent)
                pairs = zip(opened.maps, lent.maps, strict=True)
                error = max(float(np.abs(one.weights() - other.weights()).max()) for one, other in pairs)
                reference = f"the explicit path (weights of {len(short)} tokens)"
            self._checks[model_hash] = error, reference
        return self._checks[model_hash]

    # What comes out

    def _output(self, logits: Tensor) -> Output | None:
        config = self.network.config
        stack = "encoder" if self.shape == "encoder" else "decoder"
        head = config.head if isinstance(config, ModelConfig) else "language"
        if head == "none":
            return None
        if head == "classes":
            return read_classes(logits, stack, self.labels)
        return read_words(logits, stack, self.reader.show)

    def _evidence(
        self,
        model_hash: str,
        check: tuple[float | None, str | None],
        edits: Sequence[Edit],
        want: Collection[str],
        watch: Watch,
    ) -> Evidence:
        notes = self.reader.tell_size(self.network.config.vocabulary_size)
        notes += [] if watch.maker is None else list(watch.maker.notes)
        if isinstance(self.network, RecurrentTranslator):
            if self.network.decoder.attention is None:
                notes.append("One fixed context for all words: this network has no attention to record.")
            if "hidden" in want:
                notes.append("Hidden states are those of the top recurrent layer.")
        versions = {"glassformer": __version__, "torch": torch.__version__, "numpy": np.__version__}
        return Evidence(
            model=self.name,
            model_hash=model_hash,
            kernel=KERNELS["exact" if watch.maker is None else watch.kernel],
            dtype=str(next(self.network.parameters()).dtype).removeprefix("torch."),
            exact=check[0] is None or check[0] <= tolerance_of(self.network),
            largest_error=check[0],
            reference=check[1],
            edits=tuple(edit.as_message() for edit in edits),
            versions={**versions, "python": platform.python_version()},
            notes=tuple(notes),
        )


def _both(source: Encoding, written: Encoding | None) -> tuple[Tokens, Tokens | None]:
    return as_tokens("source", source), None if written is None else as_tokens("target", written)
