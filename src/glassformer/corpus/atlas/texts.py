"""What an atlas reads: texts with what people marked in them, their shuffled twins, and texts made here.

In:   strings, dependency trees, sentence pairs with links.
Out:  `MarkedText`; the same tokens in another order; constructed texts whose answers are known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.metrics.gold import AlignedPair, Sentence
from glassformer.metrics.words import Groups, find_spans
from glassformer.recorders.many import check_texts
from glassformer.recording import Tokens

Probe = Literal["repeats", "mentions", "marks"]  # what a constructed text is for
Span = tuple[int, int]  # first and one past the last character

_NAMES = (("Mary", "John"), ("Anna", "Peter"), ("Sarah", "Tom"))
_TALES = (  # heads are chosen on the first half, and scored on the second
    "{0} told {1} that {2} was late.",
    "{0} met {1} because {2} needed help.",
    "{0} saw {1} when {2} came home.",
    "{0} asked {1} whether {2} had seen the dog.",
    "{0} looked at {1} and then {2} left the room.",
    "{0} was with {1} before {2} went to the old house.",
)
_THINGS = ("cat", "letter", "old house", "red car", "long road")
# Each with a pair within a pair, and another mark like the partner: as often before as behind it. Heads are
# chosen on the first four, and scored on the others.
_MARKED = (
    'The (red) {0} (and the "{1}" too) was gone.',
    "The (old) {0} (or [near the {1}] and more) was there.",
    'He said "no" and then "the {0} (or the {1}) again" and left.',
    'The "red [small] {0}" was there, and "the (old) {1} too" again.',
    "One (small (red) {0} or {1}) was there.",
    'The "old" man saw "a [small] {0} and a {1}" there.',
    'The (so "{0}" or "a (small) {1}" again) was gone.',
)
_CHOSEN_ON = 4


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One text, or a text and its translation, and what is known about it.

    >>> gf.MarkedText("Anna said she won.", mentions=(((0, 4), (10, 13)),)).text[10:13]
    'she'
    """

    text: str | tuple[int, ...]  # token ids, where nobody could write such a text
    target: str | tuple[int, ...] | None = None
    tree: Sentence | None = None
    links: AlignedPair | None = None
    mentions: tuple[tuple[Span, ...], ...] = ()  # chains: places in the text that speak of the same thing
    probe: Probe | None = None  # None: a text of the corpus
    candidates: int = 0  # of a constructed text: keys that could be meant, one of which is; 0: not known
    held_out: bool = False  # heads are chosen on the others, and have to pass again here; scores are of these


def from_sentence(sentence: Sentence) -> MarkedText:
    """A tree and its text as printed; with spaces between words where that does not fit the words."""
    try:
        find_spans(sentence.forms, sentence.text)
    except InputError:
        return MarkedText(" ".join(sentence.forms), tree=sentence)
    return MarkedText(sentence.text, tree=sentence)


def from_pair(pair: AlignedPair) -> MarkedText:
    """A sentence pair whose words people linked."""
    return MarkedText(" ".join(pair.source), " ".join(pair.target), links=pair)


def shuffle(
    tokens: Tokens, groups: Groups, randomness: np.random.Generator
) -> tuple[NDArray[np.int64], Groups]:
    """Ids with their words in another order, and the word slot of each token; special tokens stay.

    Slot s holds another word now, and keeps its number, so that what was marked at the places of the original
    can be looked for where it no longer is.
    """
    starts = np.flatnonzero((np.diff(groups, prepend=-2) != 0) | (groups < 0))
    blocks = np.split(np.arange(len(tokens)), starts[1:])
    moving = [number for number, block in enumerate(blocks) if groups[block[0]] >= 0]
    order = list(range(len(blocks)))
    for number, source in zip(moving, randomness.permutation(moving).tolist(), strict=True):
        order[number] = source
    chosen = np.concatenate([blocks[source] for source in order])
    slots = [np.full(len(blocks[source]), groups[blocks[slot][0]]) for slot, source in enumerate(order)]
    return tokens.ids[chosen], np.concatenate(slots)


def repeat_tokens(
    vocabulary: Sequence[int], start: Sequence[int], end: Sequence[int], *, count: int, length: int, seed: int
) -> list[MarkedText]:
    """Random tokens of a vocabulary read twice, between the special tokens that a text begins and ends with.

    Nothing but the repetition tells what comes next (Olsson et al. 2022).
    """
    randomness = np.random.default_rng(seed)
    few = len(vocabulary) < length
    drawn = [randomness.choice(vocabulary, length, replace=few).tolist() for _ in range(count)]
    return [MarkedText((*start, *once, *once, *end), (*once, *once), probe="repeats") for once in drawn]


def tell_tales() -> list[MarkedText]:
    """English sentences with two persons and a pronoun that can mean only one of them.

    Each person is meant as often in the first place as in the second: a fixed distance is right half of the
    time.
    """
    return [
        _tell(tale, names, pronoun, held_out=number >= len(_TALES) // 2)
        for (number, tale), (her, him), pronoun in product(enumerate(_TALES), _NAMES, ("she", "he"))
        for names in ((her, him), (him, her))
    ]


def _tell(tale: str, names: tuple[str, str], pronoun: str, *, held_out: bool) -> MarkedText:
    text = tale.format(*names, pronoun)
    hers = {her for her, _ in _NAMES}
    meant = next(name for name in names if (name in hers) == (pronoun == "she"))
    spans = [(text.index(meant), meant), (text.index(f" {pronoun} ") + 1, pronoun)]
    chain = tuple((first, first + len(word)) for first, word in sorted(spans))
    return MarkedText(text, mentions=(chain,), probe="mentions", candidates=2, held_out=held_out)


def place_marks() -> list[MarkedText]:
    """English sentences with brackets and quotation marks, nested: the nearest mark is not the partner."""
    chosen = product(enumerate(_MARKED), pairwise(_THINGS))
    return [
        MarkedText(text.format(*pair), probe="marks", held_out=number >= _CHOSEN_ON)
        for (number, text), pair in chosen
    ]


def as_marked(
    texts: Iterable[str | MarkedText | Sentence | AlignedPair | tuple[str, str]],
) -> list[MarkedText]:
    """Whatever a person gives as texts."""
    if isinstance(texts, str):  # its letters would be texts
        raise InputError("atlases.single_text")
    texts = check_texts(texts)
    if not isinstance(texts, Iterable):
        raise InputError("atlases.not_a_text", seen=repr(texts)[:80])
    return [_mark(each) for each in texts]


def _mark(given: object) -> MarkedText:
    if isinstance(given, MarkedText):
        return given
    if isinstance(given, str):
        return MarkedText(given)
    if isinstance(given, Sentence):
        return from_sentence(given)
    if isinstance(given, AlignedPair):
        return from_pair(given)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(each, str) for each in given):
        return MarkedText(given[0], given[1])
    raise InputError("atlases.not_a_text", seen=repr(given)[:80])
