"""Bundles for tests: a recording of everything, comparison of two, and changes of a file."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np

from glassformer.place import Place
from glassformer.recording import (
    Alternative,
    AttentionMap,
    Evidence,
    Factors,
    Generation,
    Output,
    Pyramid,
    Recording,
    Step,
    Tokens,
    measure,
    pool_max,
    pool_mean,
)


def make_recording(seed=0, tokens=12, heads=2, text="héllo 世界", score=-1.5) -> Recording:
    """Everything a recording can hold, small."""
    random = np.random.default_rng(seed)
    texts = tuple(text[index % len(text)] if text else "" for index in range(tokens))
    offsets = np.stack([np.arange(tokens), np.arange(tokens)], axis=1) % (len(text) + 1)
    source = Tokens("source", texts, random.integers(0, 99, tokens), offsets, text, np.arange(tokens) < 1)
    target = Tokens("target", texts, np.arange(tokens), words=np.arange(tokens) - 1)
    queries, keys, values = (random.normal(size=(heads, tokens, 4)).astype(np.float32) for _ in range(3))
    allowed = np.tri(tokens, dtype=bool)
    scores = np.where(allowed, queries.astype(np.float64) @ keys.swapaxes(1, 2) * 0.5, -np.inf)
    log_sum_exp = np.log(np.exp(scores).sum(axis=-1))
    weights = np.exp(scores - log_sum_exp[..., None]).astype(np.float32)
    statistics = measure(weights, allowed, log_sum_exp=log_sum_exp)
    factors = Factors(queries, keys, statistics.log_sum_exp, 0.5, causal=True)
    maps = (
        AttentionMap(
            Place("decoder", "self", 0), target, target, statistics, factors=factors, values=values,
            pyramids={0: Pyramid(1, pool_mean(weights[0], 1), pool_max(weights[0], 1))},
        ),
        AttentionMap(
            Place("decoder", "self", 1), target, target, statistics, dense=weights, dense_scores=scores
        ),
        AttentionMap(
            Place("decoder", "cross", 0), target, source, statistics, dense=weights, relaxed="zeroed"
        ),
    )  # fmt: skip
    alternatives = (Alternative(3, "c", -0.1), Alternative(4, "d", float("-inf")))
    nodes = (Step(0, 3, "c", -0.1, alternatives, score=score), Step(1, 4, "d", -2.0, beam=1, parent=0))
    edits, versions, notes = ("zero head 0",), {"numpy": "2"}, ("a note",)
    return Recording(
        "tiny",
        Evidence("tiny", "ab" * 20, "eager", "float32", True, 1e-7, "eager", edits, versions, notes),
        source,
        target,
        maps,
        {"decoder": random.normal(size=(3, tokens, 5)).astype(np.float16)},
        Output("decoder", [[1, 2]], [[-0.1, -2.0]], {1: "one", 2: "two"}, "classes"),
        Generation(nodes, nodes, "beam"),
    )  # fmt: skip


def assert_same(left, right):
    """Every field, every bit, every type."""
    assert type(left) is type(right)
    if is_dataclass(left):
        for field in fields(left):
            assert_same(getattr(left, field.name), getattr(right, field.name))
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
        assert not right.flags.writeable
    elif isinstance(left, tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    elif hasattr(left, "items"):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    else:
        assert left == right or (left != left and right != right)


def read_table(path: Path) -> dict:
    content = path.read_bytes()
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def rewrite(path: Path, change) -> None:
    """Change the header of a bundle, leaving its data as they are."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(content[8:end])
    changed = change(table)
    text = json.dumps(table if changed is None else changed).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[end:])


def describe(path: Path, change) -> None:
    """Change the description inside a bundle and move the end of its data accordingly."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(content[8:end])
    start, stop = table["recording"]["data_offsets"]
    assert stop == len(content) - end
    description = json.loads(content[end + start : end + stop])
    changed = change(description)
    text = changed if isinstance(changed, bytes) else json.dumps(description).encode()
    table["recording"] = {"dtype": "U8", "shape": [len(text)], "data_offsets": [start, start + len(text)]}
    header = json.dumps(table).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[end : end + start] + text)
