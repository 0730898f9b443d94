"""Tagging: one label for each word of a text, such as its part of speech or the name that it is part of.

In:   files of tagged words, see tagged_files.py.
Out:  loss, accuracy, F1 of each label; where labels are B-PER, I-PER, O, precision, recall and F1 of names.

A word may be several tokens: its label belongs to the first of them, the others have none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal
from unicodedata import category

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.model.generate import at_inference
from glassformer.model.loss import IGNORED
from glassformer.runlog.samples import Sample
from glassformer.settings import Limits, Share
from glassformer.tasks.answers import check_length, check_texts, in_growing_chunks, open_model
from glassformer.tasks.class_weights import (
    ClassWeights,
    Factors,
    check_class_weights,
    find_factors,
    weighted_loss,
)
from glassformer.tasks.scores import compute_accuracy, compute_f1
from glassformer.tasks.sources import SourceSettings, list_files, make_keys
from glassformer.tasks.spans import are_spans, score_spans
from glassformer.tasks.tagged_files import Sentence, read_tagged
from glassformer.tasks.task import TASKS, Measured, Network, Split, Task, TaskExamples, find_device
from glassformer.tasks.text_task import run_network
from glassformer.text.batches import Batch, Indices
from glassformer.text.cache import Arrays, ArrayWriter, Meta
from glassformer.text.encoder import Encoder
from glassformer.text.files import Problems
from glassformer.text.progress import tracking
from glassformer.text.sequences import Ids, Sequences, find_frame, in_chunks, pad_rows
from glassformer.text.tokenizer import Tokenizer

AT_ONCE = 512  # sentences that are tokenised at a time
CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Chinese and Japanese: one character is one word
JOINERS = "\u200c\u200d"  # between letters (Persian) and between pictures (emoji)
MARKED = (range(0x20000), range(0xE0100, 0xE01F0))  # where Unicode has combining marks


@dataclass(frozen=True, slots=True)
class TaggingSettings(SourceSettings):
    """The table `[task]` with name = "tagging"."""

    path: str  # such as "en_ewt-ud-{split}.conllu.gz", or a file with a word and its tag on each line
    word: int | str | None = None  # the column with the word; None: `form` in CoNLL-U, else the first
    tag: int | str | None = None  # the column with the tag; None: `upos` in CoNLL-U, else the last
    labels: list[str] | None = None  # the tags in their order; None: those of the training split, sorted
    max_length: Annotated[int, Limits(least=8)] = 512  # tokens of an example, special ones included
    long: Literal["split", "skip", "refuse"] = "split"  # what becomes of longer sentences
    label_smoothing: Share = 0.0
    class_weights: ClassWeights = None  # of the training loss: "balanced", or a table label → weight

    def check(self) -> None:
        SourceSettings.check(self)
        if self.labels is not None and (len(self.labels) < 2 or len(set(self.labels)) < len(self.labels)):
            raise ConfigurationError("tasks.classification.labels", labels=self.labels)
        check_class_weights(self.class_weights)

    def read_sentences(self, split: Split, problems: Problems) -> Iterator[tuple[Path, Sentence]]:
        """The sentences of a split, and their files."""
        keep = self.choose(self.path, split)
        for file in self.list_files(split):
            for sentence in read_tagged(file, self.word, self.tag, self.header, problems):
                if keep is None or keep(sentence.text):
                    yield file, sentence

    def list_files(self, split: Split) -> list[Path]:
        """All files that are read for a split."""
        self.require_split(self.path, split)
        return list_files(self.find_files(self.path, split))


class Tagged(TaskExamples):
    """Sentences as tokens, framed by special ones, and the label of each token."""

    def __init__(self, arrays: Arrays, notes: tuple[Message, ...]) -> None:
        """What `Tagging` wrote; tokens without a label have `IGNORED`."""
        starts = np.concatenate(([0], np.cumsum(arrays["lengths"], dtype=np.int64)))
        self.rows = Sequences(arrays["ids"], starts)
        self.labels = Sequences(arrays["labels"], starts)
        self.lengths = arrays["lengths"]
        self.keys = arrays["keys"]
        self.notes = notes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"ids": self.rows.ids, "starts": self.rows.starts, "labels": self.labels.ids}


@TASKS.register("tagging")
class Tagging(Task):
    """A network with the head `tags` learns one label for each word."""

    settings_kind = TaggingSettings
    style = "pair"
    compares = True
    settings: TaggingSettings

    def __init__(self, settings: Any, tokenizer: Any, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        self.labels = self._find_labels()
        self.spans = are_spans(self.labels)

    @classmethod
    def texts(cls, settings: TaggingSettings) -> Iterator[str]:
        for _, sentence in settings.read_sentences("train", Problems(settings.on_error)):
            yield sentence.text

    @classmethod
    def source_files(cls, settings: TaggingSettings, split: Split) -> list[Path]:
        return settings.list_files(split)

    def has_split(self, split: Split) -> bool:
        return self.settings.has_split(self.settings.path, split)

    def describe_held_out(self) -> list[Message]:
        text = self.settings.describe_held_out(self.settings.path)
        return [] if text is None else [text]

    def network_settings(self) -> dict[str, Any]:
        roles = self.tokenizer.roles
        return {
            "vocabulary_size": self.tokenizer.size,
            "shape": "encoder",
            "head": "tags",
            "classes": len(self.labels),
            "padding_id": roles.get("padding", roles.get("end", 0)),
        }

    def accept(self, config: NetworkConfig) -> None:
        if not isinstance(config, ModelConfig) or config.head != "tags":
            raise ConfigurationError("tasks.wrong_head", head="tags")
        if config.classes != len(self.labels):
            raise ConfigurationError(
                "tasks.wrong_classes", classes=config.classes, count=len(self.labels), labels=self.labels
            )
        super().accept(config)

    # Reading

    def read(self, split: Split) -> Tagged:
        files, longest = self.settings.list_files(split), self.longest()

        def build(writer: ArrayWriter) -> Meta:
            return self._write(split, longest, writer)

        also = {"longest": longest, "labels": self.labels}
        arrays, meta = self.load_or_build(split, files, build, also)
        return Tagged(arrays, tuple(map(Message.from_json, meta["notes"])))

    def tagged(self, split: Split) -> Tagged:
        """The examples of a split."""
        examples = self.examples(split)
        assert isinstance(examples, Tagged)
        return examples

    def count_classes(self, split: Split) -> dict[str, int]:
        labels = self.tagged(split).labels.ids
        counts = np.bincount(labels[labels != IGNORED], minlength=len(self.labels)).tolist()
        return dict(zip(self.labels, counts, strict=True))

    def _write(self, split: Split, longest: int, writer: ArrayWriter) -> Meta:
        """Read and tokenise the sentences of a split, some hundred at a time."""
        problems = Problems(self.settings.on_error)
        numbers = {label: number for number, label in enumerate(self.labels)}
        words = WordEncoder(self.tokenizer)
        count = long = 0

        def describe() -> Message:
            return message("tasks.progress.read", path=self.settings.path, split=split, rows=count)

        def sentences() -> Iterator[Sentence]:
            for path, sentence in self.settings.read_sentences(split, problems):
                unknown = next((tag for tag in sentence.tags if tag not in numbers), None)
                if unknown is None:
                    yield sentence
                else:
                    reason = message("tasks.unknown_label", label=unknown, labels=self.labels)
                    problems.report(path, sentence.line, reason)

        with tracking(describe, self.settings.list_files(split)) as tracker:
            for chunk in in_chunks(sentences(), AT_ONCE):
                for sentence, pieces in zip(chunk, words.encode(chunk), strict=True):
                    labels = [numbers[tag] for tag in sentence.tags]
                    long += self._frame(words, pieces, labels, longest, sentence.line, writer)
                writer.append("keys", make_keys([[sentence.text] for sentence in chunk], 1))
                count += len(chunk)
                tracker.tick()
        notes = problems.notes()
        if not count or (self.settings.long == "skip" and long == count):
            raise InputError("tasks.no_rows", path=self.settings.path, split=split)
        if long:
            code = "tasks.texts_left_out" if self.settings.long == "skip" else "tasks.texts_split"
            notes += (message(code, count=long, total=count, longest=longest),)
        return {"notes": [note.to_json() for note in notes]}

    def _frame(
        self,
        words: "WordEncoder",
        pieces: list[Ids],
        labels: list[int],
        longest: int,
        line: int,
        writer: ArrayWriter,
    ) -> bool:
        """Write a sentence with special tokens around it, a long one in parts; whether it was too long."""
        room = longest - len(words.before) - len(words.after)
        size = sum(map(len, pieces))
        if size > room and self.settings.long == "refuse":
            raise InputError(
                "tasks.example_too_long", number=line, path=self.settings.path, count=size, room=room
            )
        if size > room and self.settings.long == "skip":
            return True
        for start, end in split_words([len(piece) for piece in pieces], room):
            ids, places = words.frame([piece[:room] for piece in pieces[start:end]])
            marked = np.full(len(ids), IGNORED, dtype=np.int32)
            marked[places] = labels[start:end]
            writer.append("ids", ids)
            writer.append("labels", marked)
            writer.append("lengths", np.array([len(ids)], dtype=np.int64))
        return size > room

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        del epoch  # nothing is drawn
        examples = self.tagged(split)
        ids, real = pad_rows([examples.rows[int(index)] for index in indices], self.special_id("padding_id"))
        labels = pad_rows([examples.labels[int(index)] for index in indices], IGNORED)[0]
        count = int((labels != IGNORED).sum())
        return Batch(ids, labels, count, int(examples.lengths[np.asarray(indices)].sum()), real)

    # Learning

    @cached_property
    def factors(self) -> Factors | None:
        """What the loss of each label is multiplied with while it learns."""
        return find_factors(self, self.settings.class_weights)

    def describe_loss(self) -> list[Message]:
        return [] if self.factors is None else [self.factors.as_message(self.labels)]

    def loss(self, network: Network, batch: Batch) -> Tensor:
        logits = run_network(network, batch).flatten(0, 1)
        return weighted_loss(logits, batch.labels.flatten(), self.factors, self.settings.label_smoothing)

    def score_names(self) -> tuple[str, ...]:
        spans = ("span_f1", "span_precision", "span_recall") if self.spans else ()
        return ("loss", "accuracy", "macro_f1", *spans, *(f"f1.{label}" for label in self.labels))

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """`f1.LABEL` of each label that occurs; of names (`span_f1`) where labels are B-…, I-… and O."""

        def measure(batch: Batch) -> Measured:
            logits = run_network(network, batch)
            loss = F.cross_entropy(
                logits.flatten(0, 1), batch.labels.flatten(), reduction="sum", ignore_index=IGNORED
            )
            return loss.double(), logits.argmax(-1), batch.labels

        total = 0.0
        answers: list[list[str]] = []
        references: list[list[str]] = []
        for loss, found, truth in self.measure_batches(network, split, limit, measure):
            total += float(loss)
            for row, right in zip(found, truth, strict=True):
                answers.append(self._names(row[right != IGNORED]))
                references.append(self._names(right[right != IGNORED]))
        guesses, labels = [*chain(*answers)], [*chain(*references)]
        single = compute_f1(guesses, labels, self.labels)
        scores = {
            "loss": total / len(labels),
            "accuracy": compute_accuracy(guesses, labels),
            "macro_f1": float(np.mean([*single.values()])),
        }
        if self.spans:
            scores |= score_spans(answers, references)
        scores |= {f"f1.{label}": score for label, score in single.items()}
        return scores | self.own_scores(answers, references)

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """The tags that are guessed for sentences from all over the split."""
        examples = self.tagged(split)
        indices = np.unique(np.linspace(0, len(examples.lengths) - 1, count).astype(np.int64))
        with at_inference(network):
            batch = self.collate(split, indices)
            found = run_network(network, batch.to(find_device(network))).argmax(-1).cpu()
        samples = []
        for index, guesses, labels in zip(indices, found, batch.labels, strict=True):
            ids, marked = examples.rows[int(index)].tolist(), labels != IGNORED
            words = join_pieces(self.tokenizer, ids, marked.nonzero().flatten().tolist())
            rows = (self._names(each[marked]) for each in (guesses, labels))
            written, wanted = (
                " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)) for tags in rows
            )
            samples.append(Sample(" ".join(words), written, wanted))
        return samples

    def _names(self, numbers: Tensor) -> list[str]:
        return [self.labels[number] for number in numbers.tolist()]

    def _find_labels(self) -> tuple[str, ...]:
        if self.settings.labels is not None:
            return tuple(self.settings.labels)

        def build(_: ArrayWriter) -> Meta:
            sentences = self.settings.read_sentences("train", Problems(self.settings.on_error))
            return {"labels": sorted({tag for _, sentence in sentences for tag in sentence.tags})}

        files = self.settings.list_files("train")
        labels = self.load_or_build("train", files, build, {"labels": True})[1]["labels"]
        if len(labels) < 2:
            raise ConfigurationError("tasks.few_labels", path=self.settings.path, labels=labels)
        return tuple(labels)


class WordEncoder:
    """Words into tokens, word by word, so that each has a first token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.encoder = Encoder(tokenizer)
        self.before, self.after = find_frame(tokenizer)
        unknown = tokenizer.roles.get("unknown")
        # A word of which a tokenizer leaves nothing over still needs a token.
        self.instead = unknown if unknown is not None else tokenizer.roles.get("padding", 0)

    def encode(self, sentences: Sequence[Sentence]) -> list[list[Ids]]:
        """For each sentence the tokens of each word."""
        found = iter(self.encoder([piece for sentence in sentences for piece in sentence.pieces]))
        empty = np.array([self.instead], dtype=np.int32)
        rows = []
        for sentence in sentences:
            pieces = [np.asarray(next(found), dtype=np.int32) for _ in sentence.words]
            rows.append([piece if len(piece) else empty for piece in pieces])
        return rows

    def frame(self, pieces: Sequence[Ids]) -> tuple[Ids, list[int]]:
        """One row with special tokens around it, and where the first token of each word is."""
        ends = np.cumsum([len(self.before), *map(len, pieces)])
        ids = np.concatenate([np.array(self.before, dtype=np.int32), *pieces, np.array(self.after)])
        return ids.astype(np.int32), ends[:-1].tolist()


def split_words(sizes: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Ranges of words whose tokens fit; a word that is longer than all room stands alone."""
    start, used = 0, 0
    for place, size in enumerate(sizes):
        if used + size > room and place > start:
            yield start, place
            start, used = place, 0
        used += size
    if start < len(sizes):
        yield start, len(sizes)


def join_pieces(tokenizer: Tokenizer, ids: Sequence[int], starts: Sequence[int]) -> list[str]:
    """The words of a row of tokens, given where each begins."""
    ends = [*starts[1:], len(ids)]
    return [tokenizer.decode(ids[start:end]).strip() for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class TaggedText:
    """What a tagger makes of a text."""

    words: tuple[str, ...]
    tags: tuple[str, ...]  # one for each word
    probabilities: tuple[float, ...]  # of these tags


def tag(
    model: Any,
    texts: Iterable[str | Sequence[str]],
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
) -> list[TaggedText]:
    """The tag of each word of each text, in order.

    A text is a string, which is parted into words and signs, or a list of words as they are. One that is too
    long is tagged in parts.

    >>> words = gf.build_words(["a", "film", "."])
    >>> config = gf.ModelConfig(vocabulary_size=8, shape="encoder", head="tags", classes=2, width=32)
    >>> [found] = gf.tag(gf.Transformer(config), ["A film."], tokenizer=words)
    >>> found.words
    ('A', 'film', '.')
    """
    opened = open_model(model, tokenizer, device=device, capability="tags")
    return list(tag_texts(opened, check_texts(texts)))


def tag_texts(model: LoadedModel, texts: Iterable[str | Sequence[str]]) -> Iterator[TaggedText]:
    """The tags of each text, one after another; many run together."""
    words = WordEncoder(model.require_tokenizer())
    sentences = (split_text(text, number) for number, text in enumerate(texts, 1))
    for chunk in in_growing_chunks(sentences):
        yield from tag_sentences(model, words, chunk)


@cache
def word_pattern() -> re.Pattern[str]:
    """What a word of a running text is: one Chinese or Japanese character, other letters together, one sign.

    A combining mark belongs to what is before it: else words of Hindi would be cut into letters.
    """
    marks = [chr(code) for codes in MARKED for code in codes if category(chr(code)).startswith("M")]
    mark = f"[{''.join(marks)}{JOINERS}]*"
    sign = rf"[^\w\s]{mark}"
    return re.compile(rf"[{CJK}]{mark}|(?:[^\W{CJK}]{mark})+|{sign}(?:(?<=\u200d){sign})*")


def split_text(text: object, number: int) -> Sentence:
    """A running text as words, or the words of a list."""
    sentence = Sentence(number)
    if isinstance(text, str):
        end = 0
        for found in word_pattern().finditer(text):
            sentence.words.append(found.group())
            sentence.spaced.append(found.start() > end)
            end = found.end()
    elif isinstance(text, Sequence) and all(isinstance(word, str) for word in text):
        sentence.words += text
        sentence.spaced += [place > 0 for place in range(len(text))]
    else:
        raise InputError("tasks.not_a_text", number=number, kind=type(text).__name__)
    return sentence


def tag_sentences(
    model: LoadedModel, words: WordEncoder, sentences: Sequence[Sentence]
) -> Iterator[TaggedText]:
    """The tags of some sentences, all in one call of the model."""
    frame = len(words.before) + len(words.after)
    rows: list[list[int]] = []
    starts: list[list[list[int]]] = []  # for each sentence, and each row of it: where words begin
    for sentence, pieces in zip(sentences, words.encode(sentences), strict=True):
        room = sum(map(len, pieces)) if model.limit is None else model.limit - frame
        starts.append([])
        for start, end in split_words([len(piece) for piece in pieces], room):
            ids, places = words.frame([piece[:room] for piece in pieces[start:end]])
            check_length(model, ids.tolist(), sentence.line)
            rows.append(ids.tolist())
            starts[-1].append(places)
    found = iter(model.tag(rows) if rows else [])
    for sentence, parts in zip(sentences, starts, strict=True):
        if not parts:
            yield TaggedText((), (), ())
            continue
        chances = torch.cat([next(found)[places] for places in parts])  # (word, label)
        values, numbers = chances.max(-1)
        names = model.labels or tuple(f"LABEL_{number}" for number in range(chances.shape[-1]))
        tags = tuple(names[number] for number in numbers.tolist())
        yield TaggedText(tuple(sentence.words), tags, tuple(values.tolist()))
