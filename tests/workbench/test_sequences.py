"""Random tokens and sentences: real ones, and the same for the same seed."""

import pytest

from glassformer.errors import InputError
from glassformer.tasks.task import TASKS
from glassformer.workbench.sequences import choose_sentence, draw_tokens, read_sentences


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
    assert set(read_sentences()) == {"encoding", *TASKS}  # encoding: of models that no task trained
    for task, languages in read_sentences().items():
        assert {"en", "zh"} <= set(languages)
        for language, sentences in languages.items():
            assert len(set(sentences)) == len(sentences) > 1
            assert choose_sentence(task, language, 0) == sentences[0]
            assert choose_sentence(task, language, len(sentences) + 1) == sentences[1]
            if task == "masked_language_modelling":
                assert all("[MASK]" in each for each in sentences)


def test_an_unknown_language_gets_english() -> None:
    assert choose_sentence("translation", "tlh", 0) == read_sentences()["translation"]["en"][0]
