"""Correlations with real cuts: by hand, and as they come with Glassformer."""

import sys
from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from edited_models import make_subject
from glassformer.errors import InputError
from glassformer.recorders.causes.faithfulness import KNOWN, read_measured, write_measured

ROOT = Path(__file__).parents[3]
OUTCOME = gf.LogitDifference(" were", " was")
TEXT = "The men on the road"


@pytest.mark.slow
def test_heads_are_compared_with_heads_silenced() -> None:
    from scipy import stats  # half a second that other tests need not wait for

    found = gf.faithfulness("zoo/gpt2", [TEXT], OUTCOME, ["estimate", "value_weighted"], edges=5)
    effects = gf.sweep("zoo/gpt2", TEXT, outcome=OUTCOME).effects
    said = gf.estimate("zoo/gpt2", TEXT, outcome=OUTCOME).table().ravel()
    row = found.row("estimate", "heads")
    assert row.spearman == pytest.approx(stats.spearmanr(said, effects).statistic, abs=1e-3)
    assert row.pearson == pytest.approx(stats.pearsonr(said, effects).statistic, abs=1e-4)
    assert (row.texts, row.parts) == (1, 48)
    maps = gf.attribute("zoo/gpt2", TEXT, outcome=OUTCOME, method="value_weighted").heads()
    lengths = np.concatenate([*maps.values()])  # without a sign: how much changes
    wanted = stats.spearmanr(lengths, np.abs(effects)).statistic
    assert found.row("value_weighted", "heads").spearman == pytest.approx(wanted, abs=1e-3)
    assert found.row("value_weighted", "edges").parts == 5


@pytest.mark.slow
def test_tokens_are_compared_with_tokens_hidden() -> None:
    from scipy import stats  # half a second that other tests need not wait for

    found = gf.faithfulness("zoo/gpt2", [TEXT], OUTCOME, ["gradient_input"], edges=5)
    hidden = [
        [gf.CutEdge("decoder", "self", None, None, query, key) for query in range(key + 1, 5)]
        for key in range(4)
    ]
    effects = gf.sweep("zoo/gpt2", TEXT, outcome=OUTCOME, edits=hidden).effects
    scores = gf.attribute("zoo/gpt2", TEXT, outcome=OUTCOME, method="gradient_input").scores["source"][:4]
    wanted = stats.pearsonr(scores, -effects).statistic
    assert found.row("gradient_input", "tokens").pearson == pytest.approx(wanted, abs=1e-4)


@pytest.mark.slow
def test_an_encoder_decoder_is_compared_too() -> None:
    found = gf.faithfulness(
        "zoo/translator", ["The cat sleeps."], gf.TextScore(), ["gradient_rollout"], target_language="fr"
    )
    assert -1 <= found.row("gradient_rollout", "tokens").spearman <= 1


@pytest.mark.slow
def test_what_comes_with_glassformer_is_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    import faithfulness as script

    shipped = read_measured()
    assert tuple(shipped) == script.NAMES
    for each in shipped.values():
        assert {row.method for row in each.rows} == set(KNOWN)
    methods = ["gradient_rollout", "gradient_input", "value_weighted"]
    again = gf.faithfulness("zoo/sentiment", script.FELT, gf.ClassProbability("positive"), methods)
    for row in again.rows:
        known = shipped["zoo/sentiment"].row(row.method, row.unit)
        assert (known.texts, known.parts) == (row.texts, row.parts)
        assert known.spearman == pytest.approx(row.spearman, abs=0.01)
        assert known.pearson == pytest.approx(row.pearson, abs=0.01)
    for each in shipped.values():  # what the document says of them
        best = each.row("estimate", "edges").spearman
        assert best > max(each.row(method, "edges").spearman for method in ("attention", "value_weighted"))
    for method in ("gradient_rollout", "gradient_input", "integrated_gradients"):
        assert min(each.row(method, "tokens").spearman for each in shipped.values()) < 0.1
    text = (ROOT / "docs" / "how-to" / "attribution.md").read_text(encoding="utf-8")
    assert script.make_table([*shipped.values()]) in text
    assert write_measured([*shipped.values()]).count("spearman") == sum(
        len(each.rows) for each in shipped.values()
    )
    assert str(again).splitlines()[1].startswith("gradient_rollout (tokens): Spearman")


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused() -> None:
    subject, _ = make_subject("our decoder")
    with pytest.raises(InputError, match="list of texts"):
        gf.faithfulness(subject, "The cat", gf.Loss())
    with pytest.raises(InputError, match="list of texts"):
        gf.faithfulness(subject, ["The cat"], [gf.Loss(), gf.Loss()])
    with pytest.raises(InputError, match="gradient_input"):
        gf.faithfulness("zoo/gpt2", ["The cat"], gf.Loss(), ["gradient_inputs"])
    with pytest.raises(InputError, match="longer texts"):
        gf.faithfulness("zoo/gpt2", ["The cat"], gf.Loss(), ["gradient_input"])
    found = gf.faithfulness("zoo/gpt2", [TEXT], OUTCOME, ["gradient_input"], edges=5)
    with pytest.raises(InputError, match="not compared"):
        found.row("attention", "heads")
