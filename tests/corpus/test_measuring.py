import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import glassformer as gf
from glassformer.corpus.measuring import Settings, as_bytes, choose_metrics, identify, prepare_shard
from glassformer.errors import ConfigurationError
from glassformer.messages import get_language, set_language
from glassformer.recorders.causes.outcomes import Outcome
from glassformer.recorders.edits.edit import EDITS
from glassformer.rounding import SHARPEST
from our_networks import WORDS, build, build_recurrent
from tolerances import assert_near

TEXTS = ["the cat sees", "the dog sees", "the big red dog sees the cat"]


def test_by_default_what_statistics_give() -> None:
    chosen = choose_metrics(None)
    assert {"entropy", "distance", "delimiter", "sink_mass"} <= set(chosen)
    assert all(gf.METRICS[name].needs == "statistics" for name in chosen)
    with pytest.raises(ConfigurationError):
        choose_metrics({"nonzero_share": {"treshold": 1}})


@pytest.mark.parametrize("kind", ["encoder", "recurrent"])  # in batches, and one by one
def test_every_metric_as_it_is_scored(kind: str) -> None:
    model = gf.load(build(shape="encoder") if kind == "encoder" else build_recurrent(), WORDS)
    metrics = choose_metrics({**choose_metrics(None), "self_token": {}, "nonzero_share": {"threshold": 0.2}})
    unmarked = model.reader.read_source("the cat sees the").ids[:4]  # as long as the first, without </s>
    texts = [*TEXTS, unmarked]
    shard = prepare_shard(model, list(enumerate(texts)), Settings(metrics, values=True)).run()
    assert shard.values is not None
    for number, text in enumerate(texts):
        recording = gf.record(model, text)
        for name, parameters in metrics.items():
            columns = [at for at, key in enumerate(shard.state.head_keys) if key[-1] == name]
            wanted = gf.score(recording, name, **parameters).values.ravel()
            found = shard.values[number, columns]
            assert (np.isnan(found) == np.isnan(wanted)).all()
            assert_near(np.nan_to_num(found), np.nan_to_num(wanted), layers=2, scores=SHARPEST, where=name)


def test_texts_are_told_apart() -> None:
    assert as_bytes("a") != as_bytes("b")
    assert as_bytes(("a", "b")) != as_bytes("ab")
    assert as_bytes(np.array([1, 2])) == as_bytes([1, 2])
    one, other = np.zeros((2, 2000), int)
    other[1000] = 7  # in the middle, which NumPy does not write
    assert as_bytes((one, one)) == as_bytes((one.tolist(), one.tolist()))
    assert as_bytes((one, one)) != as_bytes((one, other))
    assert identify([(0, "a"), (1, "b")]) != identify([(0, "b"), (1, "a")])


HEAD = ("decoder", "self", 0, 0)
SETTINGS = (
    *(gf.Loss((1, 2)), gf.LogProbability("a"), gf.LogitDifference("a", "b"), gf.Rank("a")),
    *(gf.TextScore(), gf.ClassProbability("a"), gf.Similarity()),
    gf.Steer("decoder", 0, np.linspace(0, 1, 1000), (1,)),
    gf.ScaleScores(1.0000001, "decoder", "self", 0),
    gf.AblateHead(*HEAD, "resample", ("a",), (1,)),
    gf.BlockHead(*HEAD, 1, 0),
    gf.CutEdge(*HEAD, 1, 1),
    gf.FirstLayers(1, "decoder"),
    *(kind(*HEAD, "a", (1,), "b") for kind in (gf.PatchHead, gf.PatchPattern, gf.PatchValue)),
    gf.PatchStates("decoder", "residual", 0, "a", (1,), "b"),
    gf.PatchPath(*HEAD, "a", ("decoder.self.5.0.queries",), (1,), "b"),
)
OTHERS: dict[str, Any] = {  # another value of each field
    "positions": (4, 5),
    "vector": np.linspace(0, 1, 1000) + 1e-12 * (np.arange(1000) == 500),
    "factor": 1.0000002,
    "kind": "cross",
    "stack": "text.decoder",
    "how": "mean",
    "reference": ("b",),
    "part": "feed_forward",
    "receivers": ("decoder.self.5.0.keys",),
    "feed_forward": "frozen",
    "position": 0,
    **dict.fromkeys(("token", "against", "label", "source", "target"), "c"),
    **dict.fromkeys(("layer", "head", "key", "first", "query", "count"), 2),
}


@pytest.mark.parametrize("given", SETTINGS, ids=lambda each: type(each).__name__)
def test_settings_that_differ_are_told_apart_in_every_language(given: Any) -> None:
    def describe(each: Any) -> Any:
        outcome = {"outcome": each} if isinstance(each, Outcome) else {"edits": (each,), "outcome": gf.Loss()}
        return Settings({}, **outcome).describe()

    described, language = describe(given), get_language()
    assert json.loads(json.dumps(described)) == described  # what is kept equals what the next call says
    for field in fields(given):
        assert describe(replace(given, **{field.name: OTHERS[field.name]})) != described, field.name
    try:
        set_language("zh")
        assert describe(given) == described
    finally:
        set_language(language)


def test_every_kind_of_edit_and_outcome_is_among_them() -> None:
    names = {type(each).__name__ for each in SETTINGS}
    assert names >= {EDITS[name].__name__ for name in EDITS}
    ours = (each for each in Outcome.__subclasses__() if each.__module__.startswith("glassformer."))
    assert names >= {each.__name__ for each in ours}


def test_tables_are_in_english() -> None:
    model = gf.load(build(shape="decoder"), WORDS)
    settings = Settings({}, (gf.BlockHead("decoder", "self", 0, 0),), gf.Loss())
    language = get_language()
    try:
        set_language("zh")
        shard = prepare_shard(model, [(0, "the cat sees")], settings).run()
    finally:
        set_language(language)
    assert all(str(text).isascii() for key in shard.state.effect_keys for text in key)
