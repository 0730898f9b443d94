"""Scores: hand-computed cases, and the field's own programs behind translations."""

import math
import sys

import pytest

from glassformer.errors import InputError
from glassformer.tasks.scores import (
    can_score_translations,
    compute_accuracy,
    compute_bits_per_byte,
    compute_macro_f1,
    compute_perplexity,
    compute_word_errors,
    score_bleu,
    score_chrf,
)

needs_sacrebleu = pytest.mark.skipif(not can_score_translations(), reason="sacrebleu is not installed")


def test_classes_are_scored_by_hand() -> None:
    predicted, labels = [0, 0, 1, 1], [0, 1, 1, 1]
    assert compute_accuracy(predicted, labels) == 0.75
    assert compute_macro_f1(predicted, labels, 2) == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert compute_macro_f1(predicted, labels, 5) == compute_macro_f1(
        predicted, labels, 2
    )  # nobody is of the others
    assert compute_macro_f1([1, 1], [0, 0], 2) == 0


def test_losses_are_told_in_other_words() -> None:
    assert compute_perplexity(math.log(50)) == pytest.approx(50)
    assert compute_perplexity(1e6) == math.inf
    assert compute_bits_per_byte(8 * math.log(2) * 10, 10) == pytest.approx(8)


@needs_sacrebleu
def test_bleu_is_sacrebleus_and_says_how() -> None:
    hypotheses, references = ["The cat sat on the mat today."], ["The cat sat on the red mat today."]
    found = score_bleu(hypotheses, references)
    # 8 tokens against 9: precisions 8/8, 6/7, 4/6, 2/5 and a brevity penalty of e^(1 - 9/8).
    by_hand = 100 * math.exp(1 - 9 / 8) * (1 * 6 / 7 * 4 / 6 * 2 / 5) ** 0.25
    assert found.score == pytest.approx(by_hand)
    assert "tok:13a" in found.signature
    assert "version:" in str(found)


@needs_sacrebleu
def test_chinese_is_scored_by_characters() -> None:
    found = score_bleu(["我爱你们。"], ["我爱他们。"], language="zh")
    assert "tok:zh" in found.signature
    assert found.score > score_bleu(["我爱你们。"], ["我爱他们。"]).score
    assert score_chrf(["我爱你们。"], ["我爱你们。"]).score == pytest.approx(100)


def test_unequal_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="2 answers cannot be compared with 1 references"):
        score_bleu(["a", "b"], ["a"])
    with pytest.raises(InputError, match="0 answers"):
        compute_accuracy([], [])


def test_without_sacrebleu_one_is_told_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(InputError, match="pip install sacrebleu"):
        score_bleu(["a"], ["a"])


def test_word_errors_are_words_to_replace_remove_and_add() -> None:
    assert compute_word_errors(["a b c"], ["a b c"]) == 0
    assert compute_word_errors(["a x c", "b"], ["a b c", "a b"]) == 2 / 5
    assert compute_word_errors(["a b c d", ""], ["a", "b"]) == 4 / 2
