"""Scores of a task as its field computes them: BLEU, chrF, accuracy, F1, errors, correlations, perplexity.

In:   translations and references, classes and labels, tags, numbers, or losses in nats.
Out:  numbers; for translations with the signature that says how they were computed.

BLEU and chrF are sacreBLEU's, which is only needed here: training runs without it.
"""

import importlib
import importlib.util
import math
from collections import Counter
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.registry import Registry


@dataclass(frozen=True, slots=True)
class OwnScore:
    """A score of a plug-in: of answers and references, which are classes, tags, numbers or texts."""

    compute: Callable[[Sequence[Any], Sequence[Any]], float]
    best: Literal["lowest", "highest"]


Numbers = Sequence[float] | NDArray[np.float64]

SCORES: Registry[OwnScore] = Registry("score", __name__)


def own_score(
    name: str, *, best: Literal["lowest", "highest"] = "highest"
) -> Callable[[Callable[[Sequence[Any], Sequence[Any]], float]], Callable[..., float]]:
    """Decorator: a score that a recipe can ask for, `scores = ["name"]` in [train]."""

    def keep(compute: Callable[[Sequence[Any], Sequence[Any]], float]) -> Callable[..., float]:
        SCORES.register(name)(OwnScore(compute, best))
        return compute

    return keep


TOKENISATION = {"zh": "zh", "ja": "char", "th": "char"}  # of BLEU, for languages that put no spaces


@dataclass(frozen=True, slots=True)
class TranslationScore:
    """From 0 to 100, with everything one must know to compute it again."""

    score: float
    signature: str

    def __str__(self) -> str:
        return f"{self.score:.2f} ({self.signature})"


def can_score_translations() -> bool:
    """Whether sacreBLEU is installed."""
    return importlib.util.find_spec("sacrebleu") is not None


def score_bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, language: str | None = None
) -> TranslationScore:
    """Corpus BLEU by sacreBLEU; the tokenisation is 13a unless the target language needs another."""
    _check_lengths(hypotheses, references)
    metric = _import_sacrebleu().metrics.BLEU(tokenize=TOKENISATION.get(language or "", "13a"))
    found = metric.corpus_score(list(hypotheses), [list(references)])
    return TranslationScore(found.score, f"BLEU|{metric.get_signature()}")


def score_chrf(hypotheses: Sequence[str], references: Sequence[str]) -> TranslationScore:
    """chrF2 by sacreBLEU: character n-grams up to 6."""
    _check_lengths(hypotheses, references)
    metric = _import_sacrebleu().metrics.CHRF()
    found = metric.corpus_score(list(hypotheses), [list(references)])
    return TranslationScore(found.score, f"chrF|{metric.get_signature()}")


def compute_accuracy(predicted: Sequence[Any], labels: Sequence[Any]) -> float:
    """The share of predictions that are right."""
    _check_lengths(predicted, labels)
    return float(np.mean(np.asarray(predicted) == np.asarray(labels)))


def compute_word_errors(written: Sequence[str], wanted: Sequence[str]) -> float:
    """Word error rate: words to replace, remove and add, for each word that was said."""
    _check_lengths(written, wanted)
    pairs = [(one.split(), other.split()) for one, other in zip(written, wanted, strict=True)]
    return sum(_edit_distance(*pair) for pair in pairs) / max(1, sum(len(said) for _, said in pairs))


def _edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    row = list(range(len(other) + 1))
    for number, word in enumerate(one, 1):
        before, row[0] = row[0], number
        for place, said in enumerate(other, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != said))
    return row[-1]


def compute_macro_f1(predicted: Sequence[int], labels: Sequence[int], classes: int) -> float:
    """The mean over classes of their F1; a class that neither has nor gets any is left out."""
    return float(np.mean([*compute_f1(predicted, labels, range(classes)).values()]))


def compute_f1(predicted: Sequence[Any], labels: Sequence[Any], classes: Sequence[Any]) -> dict[Any, float]:
    """2·TP / (2·TP + FP + FN) of each class; one that neither has nor gets any is left out."""
    _check_lengths(predicted, labels)
    guesses, truth = Counter(predicted), Counter(labels)
    hits = Counter(one for one, two in zip(predicted, labels, strict=True) if one == two)
    return {each: 2 * hits[each] / either for each in classes if (either := guesses[each] + truth[each])}


def compute_mse(answers: Numbers, references: Numbers) -> float:
    """The mean squared error."""
    return float(np.mean(np.square(_subtract(answers, references))))


def compute_mae(answers: Numbers, references: Numbers) -> float:
    """The mean absolute error."""
    return float(np.mean(np.abs(_subtract(answers, references))))


def compute_pearson(answers: Numbers, references: Numbers) -> float:
    """The linear correlation; 0 where one side is always the same and there is none."""
    _check_lengths(answers, references)
    one, two = (np.asarray(each, dtype=np.float64) for each in (answers, references))
    one, two = one - one.mean(), two - two.mean()
    sizes = np.sqrt(np.square(one).sum() * np.square(two).sum())
    return float((one * two).sum() / sizes) if sizes > 0 else 0.0


def compute_spearman(answers: Numbers, references: Numbers) -> float:
    """The correlation of ranks; equal numbers share the mean of their ranks."""
    return compute_pearson(_rank(answers), _rank(references))


def _rank(numbers: Numbers) -> NDArray[np.float64]:
    _, places, counts = np.unique(np.asarray(numbers), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    found: NDArray[np.float64] = (ends - (counts - 1) / 2)[places]
    return found


def _subtract(answers: Numbers, references: Numbers) -> NDArray[np.float64]:
    _check_lengths(answers, references)
    apart: NDArray[np.float64] = np.asarray(answers, dtype=np.float64) - np.asarray(references)
    return apart


def compute_perplexity(loss: float) -> float:
    """e to the mean loss in nats: among how many words the network is undecided; infinite beyond e⁷⁰⁰."""
    return math.exp(loss) if loss < 700 else math.inf


def compute_bits_per_byte(nats: float, size: int) -> float:
    """The code length of a text in bits, for each of its `size` bytes."""
    return nats / math.log(2) / size


def _check_lengths(first: Sized, second: Sized) -> None:
    if len(first) != len(second) or not len(first):
        raise InputError("tasks.scores.unequal", answers=len(first), references=len(second))


def _import_sacrebleu() -> ModuleType:
    try:
        return importlib.import_module("sacrebleu")
    except ModuleNotFoundError as error:
        raise InputError("tasks.scores.not_installed", package="sacrebleu") from error
