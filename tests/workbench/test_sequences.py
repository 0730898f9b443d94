"""Random tokens and sentences: real ones, and the same for the same seed."""

import re

import pytest

from glassformer.errors import InputError
from glassformer.tasks.media_task import MediaTask
from glassformer.tasks.task import TASKS
from glassformer.workbench.sequences import (
    crop_text,
    draw_tokens,
    find_sentences,
    list_samples,
    read_sentences,
)


def test_drawn_tokens_are_real_and_repeatable() -> None:
    def draw(seed: int) -> tuple[int, ...]:
        return draw_tokens(
            100, 500, seed, lambda token: token < 10, lambda token: f"[unused{token}]" if token > 90 else "a"
        )

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert set(draw(1)) <= set(range(10, 91))
    assert len(set(draw(1))) > 60


def test_a_vocabulary_of_special_tokens_is_refused() -> None:
    with pytest.raises(InputError, match="special"):
        draw_tokens(10, 3, 0, lambda token: True, str)


def test_every_task_has_sentences_in_both_languages() -> None:
    of_text = {name for name in TASKS if not issubclass(TASKS[name], MediaTask)}
    assert set(read_sentences()) == {"encoding", *of_text}  # encoding: of models that no task trained
    for task, languages in read_sentences().items():
        assert {"en", "zh"} <= set(languages)
        for language, sentences in languages.items():
            assert len(set(sentences)) == len(sentences) > 1
            assert find_sentences(task, language) == sentences
            assert list_samples(task, (language,)) == {language: tuple(sentences)}
            if task == "masked_language_modelling":
                assert all("[MASK]" in each for each in sentences)


def test_an_unknown_language_gets_english() -> None:
    assert find_sentences("translation", "tlh") == read_sentences()["translation"]["en"]
    assert list_samples("translation", ("tlh",)) == {}
    assert list_samples("a plug-in's own", ()) == {}


def test_a_text_is_cut_behind_a_token() -> None:
    def find_spans(text: str) -> list[tuple[int, int]]:
        """Words; but a word that was cut to \"ab\" falls into its letters."""
        words = [match.span() for match in re.finditer(r"\w+", text)]
        return [(i, i + 1) for i in range(len(text))] if text == "ab" else words

    assert crop_text("one two three", 2, find_spans) == "one two"
    assert crop_text("one two three", 3, find_spans) == "one two three"
    assert crop_text("one", 9, find_spans) == "one"
    assert crop_text("ab cd", 1, find_spans) == "a"
