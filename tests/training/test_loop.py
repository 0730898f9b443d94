"""What a run makes: models that open elsewhere, averages, the best; the same update however it is cut."""

import itertools
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from glassformer.errors import ConfigurationError
from glassformer.loaded.opening import load
from glassformer.rounding import rounding
from glassformer.runlog import read_run
from glassformer.training.loop import Clock, Outcome
from glassformer.training.recipe import read_recipe, train
from glassformer.weights.checkpoint import open_checkpoint
from tolerances import assert_near


def run(recipe: Path, *overrides: str, name: str = "run") -> Path:
    train(recipe, overrides, runs=recipe.parent / "runs", name=name, silent=True)
    return recipe.parent / "runs" / name


def test_a_run_learns_and_leaves_models_and_a_log(recipe: Path) -> None:
    folder = run(recipe, "train.steps=60")
    log = read_run(folder)
    losses = log.scalars["loss"].values
    assert losses[-5:].mean() < 0.8 * losses[:5].mean()
    assert log.state == "finished"
    assert log.recipe == recipe.read_text()
    assert log.environment["parameters"] > 0
    assert log.scalars["dev_loss"].steps.tolist() == list(range(4, 61, 4))
    assert {place.layer for place in log.heads} == {0, 1}
    assert (folder / "last").resolve().name == "step-00000060"
    assert len(list((folder / "checkpoints").iterdir())) <= 2
    recording = load(folder / "best").record("the cat sat")
    assert len(recording.maps) == 2


def test_an_update_is_the_same_however_it_is_cut_into_batches(recipe: Path) -> None:
    """Exact accumulation: two batches of unequal counts weigh by their labels, not by their number."""
    plain = ("model.dropout=0.0", "train.steps=4", "batches.shuffle=false", "train.precision=float32")
    whole = run(recipe, *plain, "batches.tokens=10000", name="whole")
    parts = run(recipe, *plain, "batches.rows=30", "batches.tokens=10000", "train.accumulate=4", name="parts")
    assert read_run(whole).scalars["loss"].values == pytest.approx(
        read_run(parts).scalars["loss"].values, rel=1e-5
    )
    assert read_run(whole).scalars["norm"].values == pytest.approx(
        read_run(parts).scalars["norm"].values, rel=1e-4
    )


def test_recomputing_activations_changes_nothing(recipe: Path) -> None:
    usual, again = run(recipe, name="usual"), run(recipe, "train.recompute=true", name="again")
    assert read_run(usual).scalars["loss"].values == pytest.approx(
        read_run(again).scalars["loss"].values, rel=rounding(layers=2)
    )


def test_the_average_is_what_is_judged_and_saved(recipe: Path) -> None:
    folder = run(recipe, "train.ema=0.5")
    kept = load_file(folder / "last" / "training.safetensors")
    saved = open_checkpoint(folder / "last").network.state_dict()
    name = "embeddings.tokens.weight"
    assert torch.equal(saved[name], kept[f"average.network.{name}"])
    assert not torch.equal(saved[name], kept[f"weights.network.{name}"])


def test_checkpoints_are_averaged_at_the_end(recipe: Path) -> None:
    folder = run(recipe, "train.average=3", "train.evaluate_every=12")
    places = sorted((folder / "checkpoints").iterdir())[-3:]
    assert [place.name for place in places] == ["step-00000006", "step-00000009", "step-00000012"]
    states = [open_checkpoint(place).network.state_dict() for place in places]
    mean = open_checkpoint(folder / "averaged").network.state_dict()
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, torch.stack([state[name] for state in states]).mean(0))
    assert len(read_run(folder).scalars["averaged_loss"]) == 1


def test_a_run_stops_early_and_its_best_stays(recipe: Path) -> None:
    folder = run(recipe, "train.steps=200", "train.rate=0.5", "train.evaluate_every=2", "train.patience=3")
    log = read_run(folder)
    assert log.state == "stopped"
    assert "no better loss for 3 evaluations" in log.events[-1].message
    scores = log.scalars["dev_loss"]
    best = int(scores.steps[scores.values.argmin()])
    assert (folder / "best").resolve().name == f"step-{best:08d}"
    assert log.last_step == best + 6


def test_a_run_ends_when_its_time_is_up_and_goes_on_with_what_is_left(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = itertools.count()
    monkeypatch.setattr("glassformer.training.loop.time.monotonic", lambda: float(next(seconds)))
    folder = run(recipe, "train.steps=1000", "train.minutes=0.5", "train.evaluate_every=1000")
    log = read_run(folder)
    assert log.state == "finished"
    assert 10 < log.last_step < 60  # a second for every look at the clock
    assert log.scalars["rate"].values[-1] == pytest.approx(5e-4)  # a tenth of the highest: the floor
    assert log.scalars["dev_loss"].steps.tolist() == [log.last_step]
    assert (folder / "last").resolve().name == f"step-{log.last_step:08d}"
    assert Clock(1.0, used=30.0).used_share > 0.5
    assert Clock(None, used=30.0).used_share == 0


def test_fine_tuning_starts_from_the_weights_of_a_model(recipe: Path) -> None:
    first = run(recipe, name="first")
    text = recipe.read_text()
    begin, end = text.index("[tokenizer]"), text.index("[batches]")
    tuned = recipe.with_name("tuned.toml")
    tuned.write_text(text[:begin] + f'[model]\nstart = "{first / "last"}"\n' + text[end:])
    low = ("train.rate=1e-9", "train.steps=1")
    second = run(tuned, *low, name="second")
    old, new = (open_checkpoint(folder / "last").network.state_dict() for folder in (first, second))
    for name in old:
        assert_near(old[name], new[name])
    wider = run(tuned, *low, "model.output_bias=true", name="third")
    assert open_checkpoint(wider / "last").config.output_bias  # type: ignore[union-attr]
    both = recipe.with_name("both.toml")
    both.write_text(tuned.read_text() + '\n[tokenizer]\nkind = "bytes"\n')
    with pytest.raises(ConfigurationError, match="has its own tokenizer"):
        run(both, name="fourth")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("train.raet=1", r"\[train\] TrainSettings has no setting 'raet'. Did you mean 'rate'\?"),
        ("trian.rate=1", r"unknown table \[trian\]. Did you mean 'train'\?"),
        ("train.steps=many", r"\[train\] steps = 'many' is not possible; it must be a whole number"),
        ("monitor.every=-1", r"\[monitor\] every = -1 is too small"),
        ("batches.tokens=0", r"\[batches\] tokens = 0 is too small"),
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


def test_alarms_reach_the_log_and_the_terminal(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(recipe, ["monitor.explode=0.001"], runs=recipe.parent, name="loud")
    alarms = read_run(recipe.parent / "loud").alarms
    assert {alarm.topic for alarm in alarms} == {"exploding scores"}
    assert alarms[0].step == 4
    assert (
        "Alarm at step 4, exploding scores: Scores of decoder layer 0, self, head 0"
        in capsys.readouterr().err
    )
    train(recipe, runs=recipe.parent, name="quiet")
    assert read_run(recipe.parent / "quiet").alarms == ()
    assert "Alarm" not in capsys.readouterr().err


def test_a_recipe_for_a_gpu_runs_on_a_cpu_and_says_so(
    recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train.compile=graphs", "train.device=cpu", "train.steps=2"]
    assert train(recipe, words, runs=recipe.parent).step == 2
    assert "is for GPUs" in capsys.readouterr().err


def test_tensorboard_gets_what_the_log_gets(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str, list[tuple[int, float]]] = {}

    class Board:
        def __init__(self, folder: str) -> None:
            assert Path(folder) == recipe.parent / "runs" / "board" / "tensorboard"

        def add_scalar(self, name: str, value: float, step: int) -> None:
            written.setdefault(name, []).append((step, value))

        def close(self) -> None:
            written["closed"] = []

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Board))
    scalars = read_run(run(recipe, "monitor.tensorboard=true", name="board")).scalars
    for name in ("loss", "dev_loss"):
        assert written[name] == list(zip(scalars[name].steps, scalars[name].values, strict=True))
    assert "closed" in written


def test_tensorboard_is_asked_for(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigurationError, match="pip install tensorboard"):
        run(recipe, "monitor.tensorboard=true")


def test_overrides_may_be_a_mapping(recipe: Path) -> None:
    changed = read_recipe(recipe, {"train.steps": 3, "train.device": "cpu"})
    assert changed.train == read_recipe(recipe, ["train.steps=3", "train.device=cpu"]).train
    assert changed.train.steps == 3
    with pytest.raises(ConfigurationError, match="'steps=3' is not a change"):
        read_recipe(recipe, {"steps": 3})


def test_why_still_works_and_warns() -> None:
    for ending, why in (("finished", "finished"), ("interrupted", "stopped: asked to")):
        with pytest.warns(DeprecationWarning, match=r"Outcome\.ending"):
            assert Outcome(1, None, "loss", None, None, ending).why == why
