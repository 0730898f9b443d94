"""Intervals cover, adjusted p-values keep the share of false discoveries, baselines are the best offset."""

import numpy as np

from glassformer.corpus.atlas.estimates import (
    adjust,
    bootstrap,
    choose_rows,
    compare_with_chance,
    find_baseline,
)


def test_intervals_cover_the_mean_about_as_often_as_they_say() -> None:
    values = np.random.default_rng(1).normal(2.0, 1.0, (40, 400))
    bounds = bootstrap(values, seed=0)
    covered = ((bounds.low <= 2.0) & (bounds.high >= 2.0)).mean()
    assert 0.9 < covered < 0.99
    assert np.array_equal(bounds.mean, values.mean(axis=0))


def test_of_one_text_the_interval_is_not_known() -> None:
    found = bootstrap(np.array([[1.0, 2.0]]), seed=0).read(1)
    assert (found.mean, found.low, found.high) == (2.0, None, None)
    assert compare_with_chance(np.ones((1, 2)), np.zeros((1, 2))).tolist() == [1.0, 1.0]


def test_of_what_is_found_at_most_a_twentieth_is_chance() -> None:
    randomness = np.random.default_rng(2)
    shares = []
    for _ in range(40):
        scores = randomness.normal(0.0, 1.0, (20, 200))
        scores[:, :40] += 1.5
        found = adjust(compare_with_chance(scores, np.zeros_like(scores))) <= 0.05
        assert found[:40].mean() > 0.9
        shares.append(found[40:].sum() / found.sum())
    assert np.mean(shares) < 0.05


def test_adjusted_values_by_hand() -> None:
    assert adjust(np.array([0.04, 0.01, 0.5])).tolist() == [0.06, 0.03, 0.5]


def test_equal_scores_are_certain_or_never() -> None:
    scores = np.tile([1.0, 0.0], (5, 1))
    assert compare_with_chance(scores, np.full((5, 2), 0.5)).tolist() == [0.0, 1.0]


def test_the_baseline_is_the_best_offset_over_all_texts() -> None:
    assert find_baseline([{-1: 1.0, 2: 0.5}, {2: 0.8}]) == (2, 0.65)
    assert find_baseline([{-1: 0.5, 1: 0.5}]) == (-1, 0.5)
    assert find_baseline([{}, {}]) is None


def test_texts_are_spread_over_the_corpus() -> None:
    assert choose_rows(10, 3).tolist() == [0, 4, 9]
    assert choose_rows(2, 5).tolist() == [0, 1]
