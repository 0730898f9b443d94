"""Masked language modelling: some tokens are hidden, and guessed from all others.

In:   running text, cut into windows; of 100 tokens 15 are to be guessed: 12 masked, 1.5 replaced, 1.5 left.
Out:  loss, perplexity and accuracy of the guesses.

As an option the window is two stretches of text, and a second head of the network tells whether the second
follows the first: against a stretch from elsewhere (BERT's next sentence), or the two swapped (ALBERT's
sentence order). The stretches begin anywhere in the text.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple, overload

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.model.generate import at_inference
from glassformer.model.loss import IGNORED
from glassformer.model.transformer import Transformer
from glassformer.runlog.samples import Sample
from glassformer.settings import Fraction, Limits, UpToOne
from glassformer.tasks.answers import check_texts, encode_chunks, open_model
from glassformer.tasks.corpus import CorpusSettings
from glassformer.tasks.language_modelling import Windows, WindowTask
from glassformer.tasks.long import Long, LongTexts, join_texts, read_long
from glassformer.tasks.scores import compute_perplexity
from glassformer.tasks.task import (
    TASKS,
    Measured,
    Network,
    Split,
    find_device,
    require_transformer,
)
from glassformer.text.batches import Batch, Indices
from glassformer.text.random_numbers import draw_uniform
from glassformer.text.sequences import Ids, find_frame, pad_rows
from glassformer.text.tokenizer import Role, Tokenizer

MASKED, REPLACED = 0.8, 0.1  # of the tokens to be guessed; the others stay as they are
FRAME, CHOICE, FATE, WORD = range(4)  # what random numbers are for


@dataclass(frozen=True, slots=True)
class MaskedSettings(CorpusSettings):
    """The table `[task]` with name = "masked_language_modelling"."""

    context: Annotated[int, Limits(least=8)] = 128  # tokens of a window, special ones included
    share: Fraction = 0.15  # of the tokens, how many are to be guessed
    short: UpToOne = 0.0  # share of windows that are cut to a random length, for use on short texts
    relation: Literal["none", "next-sentence", "sentence-order"] = "none"
    paired: UpToOne = 1.0  # with a relation: share of windows that are two stretches; the others are one


@TASKS.register("masked_language_modelling")
class MaskedLanguageModelling(WindowTask):
    """An encoder learns to fill gaps."""

    settings_kind = MaskedSettings
    style = "pair"
    settings: MaskedSettings

    def network_settings(self) -> dict[str, Any]:
        return {
            "vocabulary_size": self.tokenizer.size,
            "shape": "encoder",
            "head": "masked",
            "output_bias": True,
            "segments": 2,
            "relation": self._paired,
            "padding_id": self._role("padding"),
        }

    def accept(self, config: NetworkConfig) -> None:
        if not isinstance(config, ModelConfig) or config.head != "masked":
            raise ConfigurationError("tasks.masked_language_modelling.wrong_network")
        if self.settings.context > config.max_length:
            raise ConfigurationError(
                "tasks.window_too_long", context=self.settings.context, limit=config.max_length
            )
        if self._paired != config.relation:
            raise ConfigurationError(
                "tasks.masked_language_modelling.relation",
                relation=self.settings.relation,
                seen=str(config.relation).lower(),
                wanted=str(self._paired).lower(),
            )
        super().accept(config)

    def read(self, split: Split) -> Windows:
        stream = self.read_stream(split, self._role("separator"))
        around = 4 if self._paired else 3  # special tokens, and the one more of `take`
        return Windows(stream, self.settings.context - around, whole=False, around=around)

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        windows = self.windows(split)
        epoch = epoch if split == "train" else 0  # held-out text is always cut and masked in the same way
        shift = windows.draw_shift(self.seed, epoch) if split == "train" else 0
        chances = draw_uniform((self.seed, epoch, FRAME), indices, 6).tolist()
        framed = [
            self._frame(windows, windows.take(int(index), shift), chance)
            for index, chance in zip(indices, chances, strict=True)
        ]
        rows, kinds, relations = zip(*framed, strict=True)
        ids, real = pad_rows(rows, self._role("padding"))
        ids, labels = self._mask(ids, (self.seed, epoch), indices)
        places = (labels.flatten() != IGNORED).nonzero().squeeze(1)
        return Batch(
            ids,
            labels,
            count=len(places),
            tokens=sum(map(len, rows)),
            real=real,
            segments=pad_rows(kinds, 0)[0] if self._paired else None,
            places=places,
            relation=torch.tensor(relations) if self._paired else None,
        )

    def loss(self, network: Network, batch: Batch) -> Tensor:
        """Guesses and relation weigh the same: the mean of one is added to the mean of the other."""
        whole = require_transformer(network)
        hidden, states, answers = self._run(whole, batch)
        loss = whole.loss(states, answers)
        if batch.relation is not None:
            guesses = whole.relate(hidden).float()
            missed = F.cross_entropy(guesses, batch.relation, ignore_index=IGNORED, reduction="sum")
            loss = loss + missed / (batch.relation != IGNORED).sum().clamp(min=1)
        return loss * batch.count

    def score_names(self) -> tuple[str, ...]:
        return ("loss", "perplexity", "accuracy", *(("relation_accuracy",) if self._paired else ()))

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        whole = require_transformer(network)

        def measure(batch: Batch) -> Measured:
            """Loss, right guesses, guesses, right relations, relations."""
            hidden, states, answers = self._run(whole, batch)
            none = torch.zeros(())
            loss = whole.loss(states, answers).double() * batch.count
            right = (whole.logits(states).argmax(-1) == answers).sum()
            if batch.relation is None:
                return loss, right, torch.tensor(batch.count), none, none
            related = (whole.relate(hidden).argmax(-1) == batch.relation).sum()
            return loss, right, torch.tensor(batch.count), related, (batch.relation != IGNORED).sum()

        measured = self.measure_batches(network, split, limit, measure)
        loss, right, count, related, pairs = (
            sum(float(each) for each in parts) for parts in zip(*measured, strict=True)
        )
        scores = {
            "loss": loss / count,
            "perplexity": compute_perplexity(loss / count),
            "accuracy": right / count,
        }
        return scores | (
            {"relation_accuracy": related / pairs if pairs else math.nan} if self._paired else {}
        )

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """Texts from all over the split with hidden words, and what the network fills in."""
        whole = require_transformer(network)
        examples = len(self.examples(split).lengths)
        indices = np.unique(np.linspace(0, examples - 1, count).astype(np.int64))
        batch = self.collate(split, indices)
        assert batch.places is not None
        hidden = batch.labels != IGNORED
        original = torch.where(hidden, batch.labels, batch.ids)
        asked = torch.where(hidden, self._role("mask"), batch.ids)  # each of them is hidden here
        with at_inference(network):
            moved = replace(batch, ids=asked).to(find_device(network))
            guesses = whole.logits(self._run(whole, moved)[1]).argmax(-1).cpu()
        filled = asked.flatten().index_copy(0, batch.places, guesses).view_as(asked)
        real = torch.ones_like(hidden) if batch.real is None else batch.real
        return [
            Sample(*(self._show(ids[place][real[place]].tolist()) for ids in (asked, filled, original)))
            for place in range(len(indices))
        ]

    def _show(self, ids: list[int]) -> str:
        """Tokens between the special ones of a window as text, masks included."""
        return self.tokenizer.decode(ids[1:-1], special=True).strip()

    @property
    def _paired(self) -> bool:
        """Whether a window is two stretches."""
        return self.settings.relation != "none"

    def _run(self, network: Transformer, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """All hidden states (B, S, D), and those of the tokens to be guessed (count, D) with their labels."""
        assert batch.places is not None
        hidden = network.encode(batch.ids, batch.real, batch.segments)
        states = hidden.flatten(0, 1).index_select(0, batch.places)
        return hidden, states, batch.labels.flatten().index_select(0, batch.places)

    def _frame(self, windows: Windows, row: Ids, chances: Sequence[float]) -> tuple[Ids, Ids, int]:
        """A window between special tokens, each token's segment, and 1 where two parts do not follow."""
        short, length, cut, broken, place, paired = chances
        if short < self.settings.short:
            row = row[: 2 + int(length * (len(row) - 1))]
        opening, closing = [self._role("class")], [self._role("separator")]
        if not self._paired or paired >= self.settings.paired:
            framed = np.concatenate((opening, row, closing)).astype(np.int32)
            return framed, np.zeros_like(framed), IGNORED
        middle = 1 + int((0.25 + cut / 2) * (len(row) - 1))  # in the middle half, and neither part empty
        first, second = row[:middle], row[middle:]
        if broken < 0.5 and self.settings.relation == "sentence-order":
            first, second = second, first
        elif broken < 0.5:
            start = int(place * (len(windows.stream.ids) - len(second) + 1))
            second = windows.stream.ids[start : start + len(second)]
        framed = np.concatenate((opening, first, closing, second, closing)).astype(np.int32)
        kinds = (np.arange(len(framed)) >= len(first) + 2).astype(np.int32)
        return framed, kinds, int(broken < 0.5)

    def _mask(
        self, ids: Tensor, key: tuple[int, int], indices: Sequence[int] | Indices
    ) -> tuple[Tensor, Tensor]:
        """Ids (B, S) with some tokens hidden, and labels at those: one a row at least, never special ones."""
        rows = ids.numpy()
        chance, fate, word = (
            draw_uniform((*key, kind), indices, rows.shape[1]) for kind in (CHOICE, FATE, WORD)
        )  # (B, S) each
        chance = np.where(self.is_ordinary(rows), chance, 2.0)
        chosen = chance < self.settings.share
        none = np.flatnonzero(~chosen.any(axis=1))
        chosen[none, chance[none].argmin(axis=1)] = True
        ordinary = self.ordinary_ids()
        masked = np.where(chosen & (fate < MASKED), self._role("mask"), rows)
        swapped = chosen & (fate >= MASKED) & (fate < MASKED + REPLACED)
        masked[swapped] = ordinary[(word[swapped] * len(ordinary)).astype(np.int64)]
        return torch.from_numpy(masked), torch.from_numpy(np.where(chosen, rows, IGNORED))

    def _role(self, role: Role) -> int:
        if role not in self.tokenizer.roles:
            raise ConfigurationError("tasks.masked_language_modelling.no_role", role=role)
        return self.tokenizer.roles[role]


class Guess(NamedTuple):
    """A word that may stand in a gap."""

    text: str
    token: int
    probability: float


@dataclass(frozen=True, slots=True)
class Filled:
    """A text whose gaps were guessed, each by itself."""

    text: str  # with the likeliest word in every gap
    gaps: tuple[tuple[Guess, ...], ...]  # for each gap its words, likeliest first


@overload
def fill(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    best: int = 5,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[False] = False,
) -> list[Filled]: ...


@overload
def fill(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    best: int = 5,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[True],
) -> Iterator[Filled]: ...


def fill(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    best: int = 5,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: bool = False,
) -> list[Filled] | Iterator[Filled]:
    """Guess the tokens at [MASK] (or the model's own mask token) in each text, in order.

    `best` guesses are kept for each gap; a blank text has none. `long` says what happens to a text that is
    too long: "refuse" it; "split": its sentences are filled one by one; "truncate": only its start is read;
    "skip": the answer is blank. `LongTexts` counts them. `stream=True` gives an iterator.

    >>> gf.fill("zoo/bert", ["The cat sat on the [MASK]."])[0].text
    'the cat sat on the table.'
    """
    opened = open_model(model, tokenizer, device=device, capability="fills")
    mask = opened.require_tokenizer().roles.get("mask")
    if mask is None:
        raise InputError("tasks.no_mask_token", name=opened.name)
    if not isinstance(best, int) or best < 1:
        raise InputError("tasks.no_guesses", seen=repr(best))
    found = _fill(opened, check_texts(texts), mask, best, read_long(long))
    return found if stream else list(found)


def _fill(
    model: LoadedModel, texts: Iterable[str], mask: int, best: int, long: LongTexts
) -> Iterator[Filled]:
    tokenizer = model.require_tokenizer()
    spelling = _spell_mask(tokenizer, mask)
    marked = (_mark_gaps(number, text, spelling) for number, text in enumerate(texts, 1))
    count = 0
    for chunk in encode_chunks(model, list(marked) if isinstance(texts, Sequence) else marked, long):
        gaps = [[[i for i, token in enumerate(row) if token == mask] for row in rows] for rows in chunk]
        for number, found in enumerate(gaps, count + 1):
            if found and not any(found) and long.how != "truncate":  # a gap may be behind the end
                raise InputError("tasks.no_gap", number=number, mask=spelling)
        count += len(chunk)
        logits = iter(model.fill([row for rows in chunk for row in rows], [p for row in gaps for p in row]))
        for rows, places in zip(chunk, gaps, strict=True):
            pieces = [
                _fill_gaps(tokenizer, row, here, next(logits), best)
                for row, here in zip(rows, places, strict=True)
            ]
            text = join_texts(piece.text for piece in pieces)
            yield Filled(text, tuple(gap for piece in pieces for gap in piece.gaps))


def has_gap(model: LoadedModel, text: str) -> bool:
    """Whether a text has something to fill; True for a model without gaps, which `fill` refuses."""
    tokenizer = model.require_tokenizer()
    mask = tokenizer.roles.get("mask")
    return mask is None or "[MASK]" in text or _spell_mask(tokenizer, mask) in text


def _spell_mask(tokenizer: Tokenizer, mask: int) -> str:
    return tokenizer.decode([mask], special=True).strip()


def _mark_gaps(number: int, text: str, spelling: str) -> str:
    """[MASK] as the model spells it; what is not a text is refused later."""
    if not isinstance(text, str):
        return text
    text = text.replace("[MASK]", spelling)
    if text.strip() and spelling not in text:
        raise InputError("tasks.no_gap", number=number, mask=spelling)
    return text


def _fill_gaps(
    tokenizer: Tokenizer, row: Sequence[int], places: list[int], logits: Tensor, best: int
) -> Filled:
    values, tokens = logits.softmax(-1).topk(min(best, logits.shape[-1]))
    gaps = tuple(
        tuple(Guess(_name(tokenizer, token), token, value) for token, value in zip(*gap, strict=True))
        for gap in zip(tokens.tolist(), values.tolist(), strict=True)
    )
    whole = list(row)
    for place, guesses in zip(places, gaps, strict=True):
        whole[place] = guesses[0].token
    before, after = find_frame(tokenizer)
    return Filled(tokenizer.decode(whole[len(before) : len(whole) - len(after)], special=True), gaps)


def _name(tokenizer: Tokenizer, token: int) -> str:
    """A guess for a person: a word, a special token by its name, white space in a form that can be seen."""
    return tokenizer.decode([token], special=True).strip() or repr(tokenizer.display([token])[0])
