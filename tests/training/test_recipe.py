"""Recipes: those that ship are what they claim; changes of one; what is refused, also on resuming."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError, TrainingError
from glassformer.runlog import read_run
from glassformer.settings import read_settings
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.tasks.task import read_task
from glassformer.text.vocabulary import VocabularySettings
from glassformer.training.initial_network import build_network
from glassformer.training.recipe import read_recipe, train
from glassformer.weights.family import FAMILIES
from training.runs import losses, run

FOLDER = Path(__file__).parents[2] / "recipes"
RECIPES = sorted(path.name for path in FOLDER.glob("*.toml"))
WORDS: dict[str, dict[str, Any]] = {
    "language_modelling": {
        "shape": "decoder",
        "head": "language",
        "padding_id": 0,
        "start_id": 0,
        "end_id": 0,
    },
    "masked_language_modelling": {
        "shape": "encoder",
        "head": "masked",
        "output_bias": True,
        "segments": 2,
        "padding_id": 0,
    },
    "translation": {
        "shape": "encoder-decoder",
        "head": "language",
        "padding_id": 0,
        "start_id": 2,
        "end_id": 3,
    },
}
WORDS["classification"] = {"shape": "encoder", "head": "classes", "classes": 2, "padding_id": 0}
WORDS["picture_classification"] = {"reads": "picture", "shape": "encoder", "head": "classes", "classes": 10}
WORDS["captioning"] = {**WORDS["translation"], "reads": "picture"}
WORDS["speech_recognition"] = {**WORDS["translation"], "reads": "sound"}
KINDS = {
    "gpt2.toml": "gpt2",
    "shakespeare.toml": "gpt2",
    "bert.toml": "bert",
    "sentiment.toml": "bert",
    "multi30k.toml": "marian",
    "albert.toml": "albert",
    "translator.toml": "marian",
}


class Words:
    """A task, as far as a network needs one."""

    def __init__(self, words: dict[str, Any]) -> None:
        self._words = words

    def network_settings(self) -> dict[str, Any]:
        return {"vocabulary_size": 500, **self._words}


def test_there_are_recipes() -> None:
    assert {"first.toml", *KINDS} <= set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_every_line_is_commented_and_every_word_known(name: str) -> None:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        assert not line or "#" in line, line
    recipe = read_recipe(FOLDER / name)
    read_task(recipe.tables["task"])
    read_settings(VocabularySettings, recipe.tables.get("tokenizer", {}))


@pytest.mark.parametrize("name", RECIPES)
def test_networks_are_of_the_kind_they_claim(name: str) -> None:
    recipe = read_recipe(FOLDER / name)
    network, _ = build_network(recipe.tables["model"], Words(WORDS[recipe.tables["task"]["name"]]))  # type: ignore[arg-type]
    assert isinstance(network.config, ModelConfig | RecurrentConfig)
    if name in KINDS:
        assert isinstance(network.config, ModelConfig)
        assert isinstance(FAMILIES[KINDS[name]].write_config(network.config), dict)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("train.raet=1", r"\[train\] TrainSettings has no setting 'raet'. Did you mean 'rate'\?"),
        ("trian.rate=1", r"unknown table \[trian\]. Did you mean 'train'\?"),
        ("train.steps=many", r"\[train\] steps = 'many' is not possible; it must be a whole number"),
        ("monitor.every=-1", r"\[monitor\] every = -1 is not possible"),
        ("batches.tokens=0", r"\[batches\] tokens = 0 is not possible"),
        ("train.rate", "is not a change. Write table.key=value"),
        ("rate=3", "is not a change. Write table.key=value"),
    ],
)
def test_a_wrong_word_is_refused_by_table_and_key(recipe: Path, override: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_recipe(recipe, [override])


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("model.haeds=3", r"\[model\] ModelConfig has no setting 'haeds'. Did you mean 'heads'\?"),
        ("model.heads=3", r"\[model\] width = 16 cannot be divided"),
        (
            "task.name=language_modeling",
            r"\[task\] There is no task called 'language_modeling'. Did you mean",
        ),
        ("tokenizer.kind=wordpeice", r"\[tokenizer\] kind = 'wordpeice' is not possible"),
        ("train.precision=bfloat16", "is for GPUs"),
        ("train.device=tpu9", "device = 'tpu9' is not a device"),
        ("train.best_by=bleu", r"\[train\] best_by = 'bleu' is not a score.*Known: .*loss"),
        ("model.kind=recurent", r"\[model\] kind = 'recurent'"),
    ],
)
def test_what_cannot_be_is_refused_before_it_begins(recipe: Path, override: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        run(recipe, override)


def test_values_of_overrides_are_toml_or_text(recipe: Path) -> None:
    read = read_recipe(
        recipe, ["train.rate=3e-4", "train.schedule=linear", "train.recompute=true", "model.width=32"]
    )
    assert (read.train.rate, read.train.schedule, read.train.recompute) == (3e-4, "linear", True)
    assert read.tables["model"]["width"] == 32


def test_overrides_may_be_a_mapping(recipe: Path) -> None:
    changed = read_recipe(recipe, {"train.steps": 3, "train.device": "cpu"})
    assert changed.train == read_recipe(recipe, ["train.steps=3", "train.device=cpu"]).train
    assert changed.train.steps == 3
    with pytest.raises(ConfigurationError, match="'steps=3' is not a change"):
        read_recipe(recipe, {"steps": 3})


def test_a_changed_recipe_is_refused_by_the_name_of_the_key(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    for change, said in (
        ("train.rate=1e-3", "train.rate was 0.005 and is 0.001"),
        ("model.heads=4", "model.heads was 2 and is 4"),
        ("task.context=20", "task.context was 16 and is 20"),
        ("train.clip=0.5", "train.clip was 1.0 and is 0.5"),
    ):
        with pytest.raises(TrainingError, match=said):
            train(recipe, ["train.steps=3", change], resume=True, runs=tmp_path, silent=True)
    with pytest.raises(TrainingError, match="already contains a run"):
        train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    free = ["train.steps=3", "train.log_every=7", "train.patience=9"]
    assert train(recipe, free, resume=True, runs=tmp_path, silent=True).step == 3


@pytest.mark.slow
def test_an_open_ended_schedule_may_be_continued(recipe: Path, tmp_path: Path) -> None:
    constant = ["train.schedule=constant"]
    train(recipe, constant, runs=tmp_path, name="whole", silent=True)
    train(recipe, [*constant, "train.steps=6"], runs=tmp_path, name="more", silent=True)
    more = [*constant, "train.steps=12"]
    train(recipe, more, resume=True, runs=tmp_path, name="more", silent=True)
    assert losses(read_run(tmp_path / "more")) == losses(read_run(tmp_path / "whole"))


def test_two_trainings_do_not_share_a_run(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = LanguageModelling.loss

    def intrude(self: LanguageModelling, *arguments: object, **others: object) -> torch.Tensor:
        with pytest.raises(TrainingError, match="being trained right now"):
            train(recipe, resume=True, runs=tmp_path, silent=True)
        return loss(self, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(LanguageModelling, "loss", intrude)
    assert train(recipe, ["train.steps=1"], runs=tmp_path, silent=True).step == 1


@pytest.mark.slow
def test_a_tokenizer_that_was_deleted_comes_from_the_last_checkpoint(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, ["train.steps=4", "train.schedule=constant"], runs=tmp_path, name="bare", silent=True)
    shutil.rmtree(tmp_path / "bare" / "tokenizer")
    monkeypatch.delattr("glassformer.training.recipe.train_vocabulary")  # learnt anew, it could be another
    words = ["train.steps=6", "train.schedule=constant"]
    assert train(recipe, words, resume=True, runs=tmp_path, name="bare", silent=True).step == 6
    assert (tmp_path / "bare" / "tokenizer").is_dir()
