import numpy as np
import pytest

import glassformer as gf
from glassformer.corpus.measuring import Settings, as_bytes, choose_metrics, identify, measure_shard
from glassformer.errors import ConfigurationError
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
    shard = measure_shard(model, list(enumerate(TEXTS)), Settings(metrics, values=True))
    assert shard.values is not None
    for number, text in enumerate(TEXTS):
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
    assert identify([(0, "a"), (1, "b")]) != identify([(0, "b"), (1, "a")])
