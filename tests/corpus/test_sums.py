"""Sums on a device equal the metrics of the same names, one map at a time."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import glassformer as gf
from glassformer.corpus import measuring
from glassformer.corpus.measuring import Settings, Shard, choose_metrics, prepare_shard
from glassformer.corpus.sums import SUMMED, add_rows
from glassformer.recorders.statistics.device import FIELDS, DeviceMap, DeviceStatistics
from glassformer.rounding import SHARPEST
from our_networks import WORDS, build
from tolerances import assert_near

SIZES = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
ROLES = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
GROUPED = {**SIZES, **ROLES, "num_key_value_heads": 2, "intermediate_size": 32, "head_dim": 8}
TEXTS = ["the cat sees", "the dog sees", "", "the big red dog sees the cat"]
IDS = [[5, 6, 7, 8, 9, 10, 11], [9, 8, 7, 6, 5, 4, 3], [12], [21, 22, 23]]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def make_model(kind: str) -> tuple[Any, list[Any]]:
    """A model whose attention has something special, and what it reads."""
    torch.manual_seed(0)
    if kind == "window and groups":
        config = hf.MistralConfig(**GROUPED, sliding_window=3)
        return gf.load(hf.MistralForCausalLM(config).eval()), IDS
    if kind == "sink":
        config = hf.GptOssConfig(**GROUPED, num_local_experts=2, num_experts_per_tok=1, sliding_window=3)
        return gf.load(hf.GptOssForCausalLM(config).eval()), IDS
    if kind == "biases":
        config = hf.T5Config(vocab_size=40, d_model=32, d_kv=8, d_ff=32, num_layers=2, num_heads=4)
        config.decoder_start_token_id = 0
        model = gf.load(hf.T5ForConditionalGeneration(config).eval())
        return model, [(row, row[:3]) for row in IDS]
    if kind == "gpt2":
        config = hf.GPT2Config(vocab_size=40, n_embd=32, n_layer=2, n_head=4, **ROLES)
        return gf.load(hf.GPT2LMHeadModel(config).eval()), IDS
    shape = kind.removeprefix("our ")
    model = gf.load(build(shape=shape), WORDS)
    return model, [(text, text) for text in TEXTS] if shape == "encoder-decoder" else [*TEXTS, *IDS[:1]]


KINDS = (
    *("our encoder", "our decoder", "our encoder-decoder"),
    *("gpt2", "window and groups", "sink", "biases"),
)


def run(model: Any, texts: list[Any]) -> Shard:
    return prepare_shard(model, list(enumerate(texts)), Settings(choose_metrics(None), values=True)).run()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_what_metrics_find(kind: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, texts = make_model(kind)
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "SUMMED", {})
        wanted = run(model, texts)
    used: list[int] = []
    add_rows = measuring.add_rows
    monkeypatch.setattr(measuring, "add_rows", lambda *given: used.append(1) or add_rows(*given))
    model.network.to(device)
    found = run(model, texts)
    assert used  # not one text at a time
    assert found.state.head_keys == wanted.state.head_keys
    assert [row.reason for row in found.rows] == [row.reason for row in wanted.rows]
    assert found.values is not None
    assert wanted.values is not None
    for name in SUMMED:
        columns = [at for at, key in enumerate(found.state.head_keys) if key[-1] == name]
        here, there = found.values[:, columns], wanted.values[:, columns]
        assert columns
        assert (np.isnan(here) == np.isnan(there)).all(), name
        assert_near(np.nan_to_num(here), np.nan_to_num(there), layers=2, scores=SHARPEST, where=name)


def test_every_metric_of_studies_is_summed() -> None:
    assert set(choose_metrics(None)) == set(SUMMED)


def test_a_batch_with_invalid_statistics_is_measured_text_by_text(monkeypatch: pytest.MonkeyPatch) -> None:
    model, texts = make_model("gpt2")
    wanted = run(model, texts)
    add_rows = measuring.add_rows
    monkeypatch.setattr(measuring, "add_rows", lambda *given: (add_rows(*given)[0] * 7, torch.tensor(False)))
    found = run(model, texts)
    assert found.values is not None
    assert wanted.values is not None
    assert_near(np.nan_to_num(found.values), np.nan_to_num(wanted.values), layers=2, scores=SHARPEST)


@pytest.mark.parametrize("wrong", [None, "finite", "mass"])
def test_what_is_not_finite_or_does_not_sum_to_one_is_not_valid(wrong: str | None) -> None:
    arrays = dict.fromkeys(FIELDS, torch.full((2, 3), 1.0))
    arrays["mass"] = arrays["mass"] * (1.1 if wrong == "mass" else 1.0)
    allowed, finite = torch.tensor([[1, 2, 3]]), torch.tensor(wrong != "finite")
    one = DeviceMap(
        gf.Place("decoder", "self", 0), (2, 3, 3), DeviceStatistics(arrays, allowed, None, finite), "float32"
    )
    sums, valid = add_rows([one], ["entropy", "entropy_share"], None)
    assert bool(valid) == (wrong is None)
    totals, counts = sums.numpy()  # (map, metric, head)
    logarithms = np.log([1, 2, 3])
    assert_near(totals[0, :, 0], [3, np.minimum(1, logarithms).sum()], summands=3)
    assert_near(counts[0, :, 0], [3, logarithms.sum()], summands=3)
