"""Translation: an encoder reads one language, a decoder writes another; several pairs may share a network.

In:   files of sentence pairs; each is read in one direction or in both.
Out:  loss and perplexity; BLEU and chrF for each direction, with their signatures, where sacreBLEU is there.

The language to translate into is a token in front of the source, >>fr<<, as Marian has it. Summaries,
questions and answers are the same task without such tags.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.deprecated import rename_argument
from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.model import Decode
from glassformer.loaded.native import NativeModel
from glassformer.messages import Message, message
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.loss import IGNORED, two_pass_loss
from glassformer.model.transformer import Transformer
from glassformer.runlog.samples import Sample
from glassformer.tasks.answers import answer_texts, check_texts, open_model
from glassformer.tasks.long import Long, LongTexts, read_long
from glassformer.tasks.pairs import Direction, Pairs, TranslationSettings, tag
from glassformer.tasks.scores import (
    TranslationScore,
    can_score_translations,
    compute_perplexity,
    score_bleu,
    score_chrf,
)
from glassformer.tasks.sources import make_keys
from glassformer.tasks.task import TASKS, Network, Split, Task
from glassformer.text.batches import Batch, Indices
from glassformer.text.cache import ArrayWriter, Meta
from glassformer.text.encoder import Encoder
from glassformer.text.files import Problems
from glassformer.text.languages import find_language
from glassformer.text.progress import tracking
from glassformer.text.sequences import find_frame, in_chunks

AT_ONCE = 4096  # pairs that are tokenised at a time
TRANSLATED = 64  # sentences of a part of the evaluation, which one process does


@dataclass(frozen=True, slots=True)
class Scored:
    """One direction of a test set, translated."""

    direction: Direction
    bleu: TranslationScore
    chrf: TranslationScore
    hypotheses: list[str]


@TASKS.register("translation")
class Translation(Task):
    """An encoder-decoder, Transformer or recurrent, learns to translate."""

    settings_kind = TranslationSettings
    style = "sequence"
    not_read = frozenset(
        {"folder", "label_smoothing", "word_dropout", "consistency", "scored", "tags", "max_length"}
    )
    settings: TranslationSettings

    @classmethod
    def texts(cls, settings: TranslationSettings) -> Iterator[str]:
        for file in settings.pairs():
            for _ in range(file.repeat):  # a small file weighs as much in the vocabulary as in training
                for row in file.read(settings, "train", Problems(settings.on_error)):
                    yield from row

    @classmethod
    def tags(cls, settings: TranslationSettings) -> tuple[str, ...]:
        if not settings.tags:
            return ()
        return tuple(dict.fromkeys(tag(language) for _, language in settings.directions()))

    @classmethod
    def source_files(cls, settings: TranslationSettings, split: Split) -> list[Path]:
        return [path for file in settings.pairs() for path in file.list_files(settings, split)]

    def has_split(self, split: Split) -> bool:
        return all(self.settings.has_split(file.path, split) for file in self.settings.pairs())

    def describe_held_out(self) -> list[Message]:
        texts = (self.settings.describe_held_out(file.path) for file in self.settings.pairs())
        return [text for text in texts if text is not None]

    def network_settings(self) -> dict[str, Any]:
        roles = self.tokenizer.roles
        padding = roles.get("padding", 0)
        return {
            "vocabulary_size": self.tokenizer.size,
            "shape": "encoder-decoder",
            "head": "language",
            "padding_id": padding,
            "start_id": roles.get("start", padding),
            "end_id": roles.get("end"),
        }

    def accept(self, config: NetworkConfig) -> None:
        if isinstance(config, ModelConfig) and config.shape != "encoder-decoder":
            raise ConfigurationError("tasks.translation.wrong_network", shape=config.shape)
        if config.start_id is None or config.end_id is None:
            raise ConfigurationError("tasks.translation.no_start_or_end")
        super().accept(config)

    def read(self, split: Split) -> Pairs:
        files = self.source_files(self.settings, split)

        def build(writer: ArrayWriter) -> Meta:
            return self._write(split, files, writer)

        arrays, meta = self.load_or_build(split, files, build)
        uses: list[NDArray[np.int64]] = []
        start = 0
        for file, count in zip(self.settings.pairs(), meta["counts"], strict=True):
            numbers = np.tile(np.arange(start, start + count), file.repeat if split == "train" else 1)
            start += count
            for back, (_, language) in file.ways():
                named = find_language(self.tokenizer, language) if self.settings.tags else -1
                uses.append(np.stack(np.broadcast_arrays(numbers, int(back), named), axis=1))
        pairs = Pairs(arrays, np.concatenate(uses), tuple(map(Message.from_json, meta["notes"])))
        pairs.keep(sum(map(len, find_frame(self.tokenizer))), self.longest())
        return pairs

    def _write(self, split: Split, files: Sequence[Path], writer: ArrayWriter) -> Meta:
        """Read and tokenise the pairs of a split, some thousand at a time."""
        problems = Problems(self.settings.on_error)
        encode = Encoder(self.tokenizer)
        counts: list[int] = []
        done = 0

        def describe() -> Message:
            return message("tasks.progress.read", path=files[0], split=split, rows=done)

        with tracking(describe, files) as tracker:
            for file in self.settings.pairs():
                before = done
                for chunk in in_chunks(file.read(self.settings, split, problems), AT_ONCE):
                    for name, texts in zip(("first", "second"), zip(*chunk, strict=True), strict=True):
                        rows = encode(texts, target=name == "second")
                        writer.append(name, np.concatenate(rows))
                        writer.append(f"{name}_lengths", np.array([*map(len, rows)], dtype=np.int64))
                    writer.append("keys", make_keys(chunk, 2))
                    done += len(chunk)
                    tracker.tick()
                counts.append(done - before)
        if not done:
            raise InputError("tasks.translation.empty", path=files[0], split=split)
        writer.join("ids", ("first", "second"))
        writer.join("lengths", ("first_lengths", "second_lengths"))
        return {"counts": counts, "notes": [note.to_json() for note in problems.notes()]}

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        del epoch  # nothing is drawn
        pairs = self.examples(split)
        assert isinstance(pairs, Pairs)
        start, end, padding = self._ids()
        before, after = find_frame(self.tokenizer)
        read, written, named = pairs.find(indices)
        opening = len(before) + int(self.settings.tags)
        ids = pairs.texts.pad(read, padding, left=opening, right=len(after))  # (B, S)
        lengths = pairs.texts.lengths[read]
        rows = np.arange(len(ids))
        if self.settings.tags:
            ids[:, 0] = named
        ids[:, opening - len(before) : opening] = before
        for place, token in enumerate(after):
            ids[rows, opening + lengths + place] = token
        real = np.arange(ids.shape[1]) < (opening + lengths + len(after))[:, None]
        target = pairs.texts.pad(written, padding, left=1)  # (B, T)
        target[:, 0] = start
        labels = pairs.texts.pad(written, IGNORED, right=1)  # (B, T)
        labels[rows, pairs.texts.lengths[written]] = end
        count = int(pairs.texts.lengths[written].sum()) + len(rows)
        return Batch(
            torch.from_numpy(ids),
            torch.from_numpy(labels),
            count,
            count + int(real.sum()),
            None if real.all() else torch.from_numpy(real),
            target=torch.from_numpy(target),  # no mask: what stands on its right is never seen by a decoder
        )

    def loss(self, network: Network, batch: Batch) -> Tensor:
        settings = self.settings
        if settings.consistency:
            batch = _double(batch)
        if settings.word_dropout and network.training:
            batch = self._hide_words(batch)
        if settings.consistency:
            return _sum_consistent_loss(network, batch, settings)
        return _sum_loss(network, batch, settings.label_smoothing)

    def score_names(self) -> tuple[str, ...]:
        scored = self.settings.scored and can_score_translations()
        ways = map("-".join, self.settings.directions() if scored else ())
        return ("loss", "perplexity", *(f"{kind}_{way}" for way in ways for kind in ("bleu", "chrf")))

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """BLEU and chrF of greedy translations come along where `scored` asks for them."""
        loss = self.mean_loss(network, split, limit, partial(_sum_loss, smoothing=0.0))
        scores = {"loss": loss, "perplexity": compute_perplexity(loss)}
        if self.settings.scored and can_score_translations():
            for scored in self.score(network, split, limit=self.settings.scored):
                name = "-".join(scored.direction)
                scores |= {f"bleu_{name}": scored.bleu.score, f"chrf_{name}": scored.chrf.score}
        return scores

    def score(
        self,
        network: Network,
        split: Split,
        settings: GenerationSettings | None = None,
        *,
        limit: int | None = None,
    ) -> Iterator[Scored]:
        """Translate a split, or its first `limit` sentences, in every direction, and score the result."""
        model = NativeModel(network, self.tokenizer, generation=settings or GenerationSettings())
        for direction in self.settings.directions():
            pairs = self._direction_texts(split, direction)[:limit]
            language = direction[1] if self.settings.tags else None
            parts = list(in_chunks(pairs, TRANSLATED))
            answers = [
                translate(model, [source for source, _ in part], target_language=language)
                for part in self.mine(parts)
            ]
            written = [text for part in self.share(answers) for text in part]
            wanted = [target for _, target in pairs]
            bleu = score_bleu(written, wanted, language=direction[1])
            yield Scored(direction, bleu, score_chrf(written, wanted), written)

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """Translations in the first direction, of sentences all over the split."""
        model = NativeModel(network, self.tokenizer, generation=GenerationSettings())
        direction = next(iter(self.settings.directions()))
        if (split, count) not in self._sampled:  # read once
            pairs = self._direction_texts(split, direction)
            places = np.unique(np.linspace(0, len(pairs) - 1, count).astype(int)) if pairs else ()
            self._sampled[split, count] = [pairs[at] for at in places]
        chosen = self._sampled[split, count]
        language = direction[1] if self.settings.tags else None
        sources = [source for source, _ in chosen]
        written = translate(model, sources, target_language=language, long="truncate")
        return [Sample(source, text, target) for (source, target), text in zip(chosen, written, strict=True)]

    def _hide_words(self, batch: Batch) -> Batch:
        """Some tokens that are read become unknown ones; tags, starts and ends stay."""
        assert batch.target is not None
        roles = self.tokenizer.roles
        unknown = roles.get("unknown", roles.get("padding", 0))
        hidden = []
        for ids in (batch.ids, batch.target):
            chosen = torch.rand(ids.shape, device=ids.device) < self.settings.word_dropout
            for special in self.tokenizer.special_ids:  # a few comparisons, and no table to bring to a GPU
                chosen &= ids != special
            hidden.append(ids.masked_fill(chosen, unknown))
        return replace(batch, ids=hidden[0], target=hidden[1])

    def _direction_texts(self, split: Split, direction: Direction) -> list[tuple[str, str]]:
        """Sources and references, however long."""
        found = []
        for file in self.settings.pairs():
            for back, way in file.ways():
                if way == direction:
                    rows = file.read(self.settings, split, Problems(self.settings.on_error))
                    found += [(row[int(back)], row[1 - int(back)]) for row in rows]
        return found

    def _ids(self) -> tuple[int, int, int]:
        """Start, end and padding: those of the network, once it is known."""
        start, end = self.special_id("start_id"), self.special_id("end_id")
        if start is None or end is None:
            raise ConfigurationError("tasks.translation.no_end_token")
        return start, end, self.special_id("padding_id")


def _sum_loss(network: Network, batch: Batch, smoothing: float) -> Tensor:
    """Teacher forcing: every word of the target is predicted from the right words before it."""
    assert batch.target is not None
    if isinstance(network, Transformer):
        memory = network.encode(batch.ids, batch.real)
        hidden = network.decode(batch.target, memory=memory, memory_real=batch.real)
        return network.loss(hidden, batch.labels, smoothing) * batch.count
    logits = network(batch.ids, batch.real, target=batch.target).float()
    return F.cross_entropy(
        logits.flatten(0, 1),
        batch.labels.flatten(),
        ignore_index=IGNORED,
        label_smoothing=smoothing,
        reduction="sum",
    )


def _double(batch: Batch) -> Batch:
    """What is read, twice: dropout, drawn for every row, is another in each half. Labels stay single."""
    assert batch.target is not None
    real = None if batch.real is None else batch.real.repeat(2, 1)
    return replace(batch, ids=batch.ids.repeat(2, 1), real=real, target=batch.target.repeat(2, 1))


def _sum_consistent_loss(network: Network, batch: Batch, settings: TranslationSettings) -> Tensor:
    """Two passes in one doubled batch, drawn together.

    The value is the cross-entropy alone, to be compared with that of one pass; how far the passes are apart
    adds its gradient only.
    """
    logits = network(batch.ids, batch.real, target=batch.target)  # (2 · B, T, vocabulary)
    loss, apart = two_pass_loss(logits, batch.labels, settings.label_smoothing)
    return (loss + settings.consistency * (apart - apart.detach())) * batch.count


@overload
def translate(
    model: Any,
    texts: Iterable[Any],
    *,
    tokenizer: Any = None,
    target_language: str | None = None,
    decode: Decode = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[False] = False,
) -> list[str]: ...


@overload
def translate(
    model: Any,
    texts: Iterable[Any],
    *,
    tokenizer: Any = None,
    target_language: str | None = None,
    decode: Decode = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[True],
) -> Iterator[str]: ...


@rename_argument("settings", "decode")
def translate(
    model: Any,
    texts: Iterable[Any],
    *,
    tokenizer: Any = None,
    target_language: str | None = None,
    decode: Decode = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: bool = False,
) -> list[str] | Iterator[str]:
    """What an encoder-decoder makes of each text, in order: a translation, a summary; blank texts stay blank.
    Of a picture or a sound, given as to `record`, it is what the model says about it, or has heard.

    `target_language` is for vocabularies that name languages. `decode` says how to generate, as in `record`;
    without any, the model generates as its files say. `long` says what happens to a text that is too long:
    "refuse" it; "split": its sentences are translated one by one, and joined; "truncate": only its start is
    read; "skip": the answer is blank. `LongTexts` counts them. `stream=True` gives an iterator, whose texts
    come as soon as they are written.

    >>> gf.translate("zoo/translator", ["The cat sleeps."], target_language="fr")
    ['Le chat dort.']
    """
    opened = open_model(model, tokenizer, device=device, capability="translates")
    if target_language is not None:
        find_language(opened.tokenizer, target_language)  # an unknown one is refused before the first text
    settings, ways = opened.read_settings(decode), read_long(long)
    answers = answer_texts(opened, check_texts(texts), settings, target_language, ways, soon=stream)
    return answers if stream else list(answers)
