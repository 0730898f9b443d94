"""Freezing, rates of layers, and LoRA: against the formula in float64, and from a start to a checkpoint."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import glassformer as gf
from glassformer.errors import CheckpointError, ConfigurationError
from glassformer.runlog import read_run
from glassformer.training.evaluate import evaluate
from glassformer.training.finetune import Adapter, apply_adapters, count_parameters, match, merge, prepare
from glassformer.training.optim import SCALE, build_optimiser, find_scales, set_rate
from glassformer.training.recipe import train
from glassformer.training.settings import TrainSettings
from glassformer.weights.checkpoint import open_checkpoint
from tolerances import assert_near
from training.networks import make, make_batch
from training.runs import run, weights

LORA = ("train.lora_rank=2", "train.lora_alpha=6.0", "train.rate=0.05")


def test_patterns_name_parameters() -> None:
    names = [name for name, _ in make("encoder-decoder").named_parameters()]
    assert match("embeddings", names) == ["embeddings.tokens.weight"]
    layers = match("layers 1", names)
    assert {name.split(".layers.")[0] for name in layers} == {"encoder", "decoder"}
    assert all(".layers.1." in name for name in layers)
    assert set(match("encoder layers 0-1", names)) == {name for name in names if name.startswith("encoder.")}
    assert match("*.bias", names) == [name for name in names if name.endswith(".bias")]
    with pytest.raises(ConfigurationError, match="Did you mean 'feed_forward'"):
        match("feedforward", names)
    with pytest.raises(ConfigurationError, match="layers 7-9"):
        match("layers 7-9", names)


@pytest.mark.slow
def test_frozen_parameters_stay_and_raise_no_alarm(recipe: Path) -> None:
    folder = run(recipe, "train.freeze=['embeddings', 'layers 0']", "train.decay=0.1", "train.steps=6")
    torch.manual_seed(1)
    kept = weights(folder)
    first = run(recipe, "train.steps=1", "train.rate=1e-12", name="start")  # as good as no step
    for name, before in weights(first).items():
        if not name.startswith("weights."):
            continue
        frozen = name.startswith(("weights.network.embeddings", "weights.network.decoder.layers.0"))
        moved = (kept[name] - before).abs().max() > 1e-6
        assert moved != frozen, name
    log = read_run(folder)
    assert [name for name in log.scalars if name.startswith("norm.")] == ["norm.decoder.1"]
    assert log.alarms == ()
    assert not any(name.startswith("exp_avg.network.embeddings") for name in kept)


@pytest.mark.slow
def test_frozen_runs_resume_bit_for_bit(recipe: Path) -> None:
    words = ("train.freeze=['embeddings']", "train.schedule=constant", "train.layer_decay=0.7")
    whole = run(recipe, *words, name="whole")
    run(recipe, *words, "train.steps=5", name="parts")
    parts = recipe.parent / "runs" / "parts"
    train(None, {"train.steps": 12}, resume=True, runs=parts.parent, name="parts", silent=True)
    ours, theirs = weights(parts), weights(whole)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_freezing_everything_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="nothing to train"):
        prepare(make("decoder"), TrainSettings(freeze=["*"]))


def test_lower_layers_learn_more_slowly() -> None:
    network = make("encoder", head="classes", classes=3)
    names = [name for name, _ in network.named_parameters()]
    scales = find_scales(names, 0.5)
    assert scales["head.classes.weight"] == 1.0
    assert scales["encoder.layers.1.attention.qkv.weight"] == 0.5
    assert scales["encoder.layers.0.attention.qkv.weight"] == 0.25
    assert scales["embeddings.tokens.weight"] == 0.125
    optimiser = build_optimiser(network, TrainSettings(rate=1.0, layer_decay=0.5))
    set_rate(optimiser, 0.8)
    assert {(group[SCALE], group["lr"]) for group in optimiser.param_groups} == {
        (scale, 0.8 * scale) for scale in (1.0, 0.5, 0.25, 0.125)
    }
    assert len(build_optimiser(network, TrainSettings()).param_groups) == 2  # as before, where all are alike


def test_an_adapter_adds_its_product_to_the_weight_and_its_gradients_are_those_of_the_formula() -> None:
    """W' = W + (alpha/rank) B A; dA = s Bᵀ dW', dB = s dW' Aᵀ, in float64 by NumPy."""
    torch.manual_seed(3)
    weight, inputs, target = torch.randn(7, 5), torch.randn(11, 5), torch.randn(11, 7)
    adapter = Adapter(weight, rank=2, scale=16 / 2)
    with torch.no_grad():
        adapter.up.normal_()
    merged = adapter(weight)
    loss = ((inputs @ merged.T - target) ** 2).sum()
    loss.backward()
    w, x, t, a, b = (
        each.detach().double().numpy() for each in (weight, inputs, target, adapter.down, adapter.up)
    )
    expected = w + 8.0 * b @ a
    assert_near(merged.detach().numpy(), expected)
    gradient = 2 * (x @ expected.T - t).T @ x  # of W'
    assert adapter.up.grad is not None
    assert adapter.down.grad is not None
    assert_near(adapter.down.grad.numpy(), 8.0 * b.T @ gradient, layers=4)
    assert_near(adapter.up.grad.numpy(), 8.0 * gradient @ a.T, layers=4)


def test_autocast_does_not_round_what_adapters_add() -> None:
    """Training in bfloat16 uses the very weights that a checkpoint holds; so do the gradients of adapters."""
    torch.manual_seed(3)
    weight, gradient = torch.randn(7, 5), torch.randn(7, 5)
    adapter = Adapter(weight, rank=2, scale=8.0)
    with torch.no_grad():
        adapter.up.normal_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        merged = adapter(weight)
        assert torch.is_autocast_enabled("cpu")  # for everything else
    assert merged.dtype == torch.float32
    assert torch.equal(merged, merge(weight, adapter.up, adapter.down, 8.0))
    merged.backward(gradient)
    assert adapter.down.grad is not None
    assert torch.equal(adapter.down.grad, 8.0 * (adapter.up.detach().T @ gradient))


def test_only_adapters_learn_and_the_network_begins_as_it_was() -> None:
    network = make("encoder-decoder", dropout=0.0).eval()
    batch = make_batch("encoder-decoder")
    before = network(batch.ids, batch.real, target=batch.target)
    (note,) = prepare(network, TrainSettings(lora_rank=2))
    assert torch.equal(network(batch.ids, batch.real, target=batch.target), before)
    learning = [name for name, each in network.named_parameters() if each.requires_grad]
    assert all(".parametrizations.weight.0." in name for name in learning)
    adapted = sum(isinstance(each, Adapter) for each in network.modules())
    assert adapted == 2 * 2 + 2 * 5  # output and qkv; in the decoder also output, q and kv of cross
    trained, total = count_parameters(network)
    assert note.parameters == {"trained": trained, "total": total, "share": trained / total}


def test_the_head_of_a_classifier_learns_with_the_adapters() -> None:
    network = make("encoder", head="classes", classes=3)
    prepare(network, TrainSettings(lora_rank=2))
    assert network.head.classes.weight.requires_grad  # type: ignore[union-attr]
    other = make("encoder", head="classes", classes=3)
    prepare(other, TrainSettings(lora_rank=2, lora_also=[]))
    assert not other.head.classes.weight.requires_grad  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_checkpoint_has_the_merged_weights(recipe: Path) -> None:
    start = run(recipe, "train.steps=2", name="start")
    base = open_checkpoint(start / "last").network.state_dict()
    path = f"model.start={start / 'last'}"
    text = recipe.read_text()
    own = recipe.with_name("own.toml")  # without a tokenizer and a model of its own
    own.write_text(text[: text.index("[tokenizer]")] + text[text.index("[batches]") :])
    folder = run(own, path, *LORA, "train.ema=0.5", name="lora")
    kept = load_file(folder / "last" / "training.safetensors")
    saved = open_checkpoint(folder / "last").network.state_dict()
    assert saved.keys() == base.keys()  # an ordinary model
    for name, tensor in saved.items():
        inner = f"network.{name.removesuffix('.weight')}.parametrizations.weight"
        if f"average.{inner}.0.up" not in kept:
            assert torch.equal(tensor, base[name])
            continue
        assert torch.equal(kept[f"weights.{inner}.original"], base[name])
        up, down = (kept[f"average.{inner}.0.{part}"].double().numpy() for part in ("up", "down"))
        assert np.abs(up).max() > 0
        assert_near(tensor.numpy(), base[name].double().numpy() + 3.0 * up @ down)
    assert not any(name.startswith("exp_avg.") and ".0." not in name for name in kept)
    scores = evaluate(folder / "last", "dev", device="cpu")  # in another network, without adapters
    assert scores["loss"] == read_run(folder).scalars["dev_loss"].values[-1]
    plain = open_checkpoint(start / "last").network
    apply_adapters(plain, folder / "last" / "adapters.safetensors")
    assert all(torch.equal(each, saved[name]) for name, each in plain.state_dict().items())
    with pytest.raises(CheckpointError, match="adapter for"):
        apply_adapters(make("encoder"), folder / "last" / "adapters.safetensors")
    recording = gf.record(folder / "last", "the cat sat")
    assert recording.evidence.exact


@pytest.mark.slow
def test_lora_resumes_bit_for_bit(recipe: Path) -> None:
    words = (*LORA, "train.schedule=constant")
    whole = run(recipe, *words, name="whole")
    parts = run(recipe, *words, "train.steps=5", "train.evaluate_every=4", name="parts")
    train(None, {"train.steps": 12}, resume=True, runs=parts.parent, name="parts", silent=True)
    ours, theirs = weights(parts), weights(whole)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
