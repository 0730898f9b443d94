"""Captioning: an encoder looks at a picture, a decoder writes what it shows, in one of several languages.

In:   a table with the names of pictures and a column of texts for each language.
Out:  loss, perplexity; exact matches and chrF of what is written, for each language.

The language is a token behind the start of the target, >>fr<<: a picture has no place to name it in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from glassformer.errors import ConfigurationError
from glassformer.loaded.native import NativeModel
from glassformer.loaded.perceiving import show_picture
from glassformer.model.generation_settings import GenerationSettings
from glassformer.runlog.samples import Sample
from glassformer.settings import CountOrZero, Share
from glassformer.tasks.answers import write_answer
from glassformer.tasks.media_files import PictureSettings, read_pictures
from glassformer.tasks.media_task import (
    MediaExamples,
    MediaTask,
    collate_words,
    make_batch,
    sum_word_loss,
    writing_ids,
    writing_settings,
)
from glassformer.tasks.pairs import tag
from glassformer.tasks.scores import can_score_translations, compute_accuracy, compute_perplexity, score_chrf
from glassformer.tasks.task import TASKS, Network, Split
from glassformer.text.batches import Batch, Indices
from glassformer.text.encoder import Encoder
from glassformer.text.files import Problems
from glassformer.text.languages import find_language


@dataclass(frozen=True, slots=True)
class CaptioningSettings(PictureSettings):
    """The table `[task]` with name = "captioning"."""

    languages: list[str] = field(default_factory=lambda: ["en"])  # the columns with texts, by their names
    tags: bool = True  # whether the target begins with its language
    label_smoothing: Share = 0.0
    scored: CountOrZero = 200  # pictures of each language that are described at every evaluation; 0: none

    def check(self) -> None:
        PictureSettings.check(self)
        if not self.languages or len(set(self.languages)) < len(self.languages):
            raise ConfigurationError("tasks.media.languages", seen=self.languages)


@TASKS.register("captioning")
class Captioning(MediaTask):
    """An encoder-decoder learns to say what a picture shows."""

    settings_kind = CaptioningSettings
    style = "sequence"
    reads = "picture"
    settings: CaptioningSettings

    @classmethod
    def texts(cls, settings: CaptioningSettings) -> Iterator[str]:
        columns = list(settings.languages)
        for _, row in settings.read_rows("train", [*columns], Problems(settings.on_error)):
            yield from row

    @classmethod
    def tags(cls, settings: CaptioningSettings) -> tuple[str, ...]:
        return tuple(map(tag, settings.languages)) if settings.tags else ()

    def network_settings(self) -> dict[str, Any]:
        return {"reads": "picture", **writing_settings(self)}

    def read(self, split: Split) -> MediaExamples:
        """An example is a picture in one language: number · languages + language."""
        config, columns = self.network_config, list(self.settings.languages)
        pixels, rows, problems = read_pictures(self.settings, split, [*columns], config)
        encoded = Encoder(self.tokenizer)([text for row in rows for text in row], target=True)
        shown = config.grid**2 + int(config.class_token)
        lengths = np.array([max(shown, len(each) + 2) for each in encoded], dtype=np.int64)
        channels = pixels if config.color else pixels[..., :1]
        self._sampled[split, 0] = [(text, text) for row in rows for text in row]
        return MediaExamples(encoded, lengths, channels, problems.notes())

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        examples, count = self.media(split), len(self.settings.languages)
        chosen = np.asarray(indices)
        named = (
            [find_language(self.tokenizer, each) for each in self.settings.languages]
            if self.settings.tags
            else None
        )
        tags = [None if named is None else named[index % count] for index in chosen.tolist()]
        words = collate_words([examples.answers[index] for index in chosen], tags, writing_ids(self))
        shown = self.show_examples(split, chosen, epoch)
        return make_batch(shown, None, words, len(chosen) * self.network_config.grid**2)

    def show_examples(self, split: Split, chosen: Indices, epoch: int) -> Tensor:
        """The pictures of examples, of which there are several to each."""
        return self.show(split, chosen // len(self.settings.languages), epoch)

    def loss(self, network: Network, batch: Batch) -> Tensor:
        return sum_word_loss(network, batch, self.settings.label_smoothing)

    def score_names(self) -> tuple[str, ...]:
        kinds = ("exact", "chrf") if can_score_translations() else ("exact",)
        scored = self.settings.languages if self.settings.scored else []
        return ("loss", "perplexity", *(f"{kind}_{each}" for each in scored for kind in kinds))

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """Exact matches (from 0 to 1) and chrF of greedy captions come along where `scored` asks for them."""
        loss = self.mean_loss(network, split, limit, partial(sum_word_loss, smoothing=0.0))
        scores = {"loss": loss, "perplexity": compute_perplexity(loss)}
        for place, language in enumerate(self.settings.languages if self.settings.scored else ()):
            _, written, wanted = self.describe(network, split, place, self.settings.scored)
            scores[f"exact_{language}"] = compute_accuracy(written, wanted)
            if can_score_translations():
                scores[f"chrf_{language}"] = score_chrf(written, wanted).score
        return scores

    def describe(
        self, network: Network, split: Split, place: int, count: int
    ) -> tuple[list[int], list[str], list[str]]:
        """Examples all over a split in the language at a place, what is written and what should be."""
        pixels, columns = self.media(split).pixels, len(self.settings.languages)
        assert pixels is not None
        model = NativeModel(network, self.tokenizer, generation=GenerationSettings())
        chosen = np.unique(np.linspace(0, len(pixels) - 1, count).astype(np.int64)).tolist()
        language = self.settings.languages[place] if self.settings.tags else None
        percepts = [show_picture(self.network_config, pixels[number]) for number in chosen]
        found = model.write_words(percepts, None, language)
        written = [write_answer(model, (), each[0]) for each in found]
        indices = [number * columns + place for number in chosen]
        return indices, written, [self._sampled[split, 0][index][1] for index in indices]

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """Captions in the first language of pictures all over the split, named by the numbers of examples."""
        found = zip(*self.describe(network, split, 0, count), strict=True)
        return [Sample(f"{split} {index}", written, wanted) for index, written, wanted in found]
