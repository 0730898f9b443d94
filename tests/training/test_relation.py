"""The second head of BERT and ALBERT: in every checkpoint of a run, and `transformers` opens it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from glassformer.model.transformer import Transformer
from glassformer.runlog import read_run
from glassformer.training.recipe import train
from glassformer.weights.checkpoint import open_checkpoint
from tolerances import assert_near

RECIPE = """
[task]
name = "masked_language_modelling"
path = "text.txt"
context = 24
relation = "{relation}"

[tokenizer]
kind = "wordpiece"
size = 120

[model]
preset = "{preset}"
layers = 1
width = 16
heads = 2
feed_forward = 20
max_length = 24
dropout = 0.0
{more}

[train]
steps = 6
rate = 1e-2
warmup = 2
save_every = 3
evaluate_every = 6
log_every = 1
device = "cpu"

[batches]
rows = 8
"""
KINDS = {
    "bert": ("next-sentence", "bert-base-uncased", "", "seq_relationship_logits"),
    "albert": ("sentence-order", "albert-base-v2", "embedding_width = 8", "sop_logits"),
}


def write_recipe(folder: Path, kind: str) -> Path:
    relation, preset, more, _ = KINDS[kind]
    text = "".join(
        f"the {n % 7} cats saw {n % 5} dogs and {n % 3} birds in the garden .\n" for n in range(60)
    )
    (folder / "text.txt").write_text(text, encoding="utf-8")
    path = folder / f"{kind}.toml"
    recipe = RECIPE.format(relation=relation, preset=preset, more=more)
    path.write_text(recipe.replace("text.txt", str(folder / "text.txt")), encoding="utf-8")
    return path


def run(path: Path, *overrides: str, **settings: Any) -> Path:
    name = settings.pop("name", "run")
    train(path, overrides, runs=path.parent / "runs", name=name, silent=True, **settings)
    return path.parent / "runs" / name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_the_second_head_is_saved_and_opens_in_transformers(kind: str, tmp_path: Path) -> None:
    folder = run(write_recipe(tmp_path, kind))
    assert 0 <= read_run(folder).scalars["dev_relation_accuracy"].values[-1] <= 1
    network = open_checkpoint(folder / "last").network
    assert isinstance(network, Transformer)
    theirs, report = transformers.AutoModelForPreTraining.from_pretrained(
        folder / "last", output_loading_info=True
    )
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    named = json.loads((folder / "last" / "config.json").read_text())["architectures"]
    assert named == [type(theirs).__name__]
    ids = torch.randint(5, 40, (2, 11), generator=torch.Generator().manual_seed(1))
    segments = (torch.arange(11) > 5).long().expand(2, 11)
    with torch.no_grad():
        answer = theirs.eval()(ids, token_type_ids=segments)
        hidden = network.encode(ids, None, segments)
        words, relation = network.logits(hidden), network.relate(hidden)
    assert_near(words, answer.prediction_logits, layers=2)
    assert_near(relation, answer[KINDS[kind][3]], layers=2)
    assert relation.std() > 1e-4


@pytest.mark.slow
def test_a_run_goes_on_with_it_and_another_begins_with_it(tmp_path: Path) -> None:
    path = write_recipe(tmp_path, "bert")
    overrides = ("train.schedule=constant", "train.ema=0.5")
    whole = run(path, *overrides, name="whole")
    parted = run(path, *overrides, "train.steps=3", name="parted")
    run(path, "train.steps=6", name="parted", resume=True)
    states = [open_checkpoint(each / "last").network.state_dict() for each in (whole, parted)]
    assert {"head.pooler.weight", "head.relation.weight", "head.relation.bias"} <= set(states[0])
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name
    start = [f"model.start={whole / 'last'}", "train.steps=1", "train.rate=1e-9", "train.warmup=0"]
    tuned = path.with_name("tuned.toml")
    text = path.read_text()
    tuned.write_text(text[: text.index("[tokenizer]")] + text[text.index("[train]") :])
    again = open_checkpoint(run(tuned, *start, name="again") / "last").network.state_dict()
    torch.testing.assert_close(again["head.relation.weight"], states[0]["head.relation.weight"])
    alone = open_checkpoint(run(tuned, *start, "task.relation=none", name="alone") / "last")
    assert "head.relation.weight" not in alone.network.state_dict()
