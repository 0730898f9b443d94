"""Rows that do not sum to one are found, whatever backs a map."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recording import AttentionMap, Tokens, measure


def spoil(weights, head, query, factor):
    changed = weights.astype(np.float32)
    changed[head, query] *= factor
    return changed


def test_one_wrong_row_is_found_and_named(make):
    example = make("causal")
    with pytest.raises(RecordingError, match=r"head 2, the weights of query 7 sum to 1.1. Expected 1"):
        example.map("dense", dense=spoil(example.weights, 2, 7, 1.1))
    with pytest.raises(RecordingError, match=r"query 7 sum to nan"):
        example.map("dense", dense=spoil(example.weights, 2, 7, np.nan))


def test_a_negative_weight_is_found(make):
    example = make("full")
    weights = example.weights.astype(np.float32)
    weights[1, 3, :2] = [-0.5, weights[1, 3, :2].sum() + 0.5]
    with pytest.raises(RecordingError, match=r"head 1, a weight is -0\.5"):
        example.map("dense", dense=weights)


def test_half_precision_may_be_further_off(make):
    example = make("causal")
    for total, dtypes in ((1.0005, ("float16", "bfloat16")), (1.005, ("bfloat16",))):
        slightly = spoil(example.weights, 2, 7, total)
        for dtype in dtypes:
            example.map("dense", dense=slightly, dtype=dtype)
        for dtype in {"float32", "float16", "bfloat16"} - set(dtypes):
            with pytest.raises(RecordingError):
                example.map("dense", dense=slightly, dtype=dtype)


def test_a_relaxed_map_needs_a_reason_not_ones(make):
    example = make("causal")
    assert example.map("dense", dense=spoil(example.weights, 2, 7, 0), relaxed="head 2 zeroed").relaxed


def test_padded_rows_and_rows_without_keys_need_not_sum_to_one():
    weights = np.full((1, 3, 2), 0.5)
    weights[0, 1:] = 0
    allowed = np.array([[True, True], [False, False], [True, True]])
    statistics = measure(weights, allowed, rows=[True, True, False])
    tokens = Tokens.positional("target", 3), Tokens.positional("source", 2)
    AttentionMap(Place("decoder", "cross", 0), *tokens, statistics, dense=weights)
    statistics = measure(weights, allowed)
    with pytest.raises(RecordingError, match=r"all keys together received 1\. Expected 2, one for each row"):
        AttentionMap(Place("decoder", "cross", 0), *tokens, statistics, dense=weights)


def test_a_forgotten_sink_is_found_without_any_weights(make):
    example = make("sink")
    with pytest.raises(RecordingError, match=r"all keys together received .*Expected 24, .*sink"):
        example.map("none", sink_weights=None)


def test_factors_that_do_not_fit_are_found(make):
    example = make("causal")
    for wrong in (
        replace(example.factors, scale=0.25),
        replace(example.factors, causal=False),
        replace(example.factors, log_sum_exp=example.log_sum_exp + 0.01),
        replace(example.factors, keys=example.factors.keys[::-1]),
        replace(example.factors, keys=example.factors.keys * np.nan),
    ):
        with pytest.raises(RecordingError, match=r"the weights of query \d+ sum to"):
            example.map("none", factors=wrong)
