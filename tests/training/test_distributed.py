"""Several processes learn exactly what one learns."""

import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

from campaigns import campaign
from forking import CONTEXT
from glassformer import bundle
from glassformer.errors import ConfigurationError
from glassformer.rounding import rounding
from glassformer.runlog import find_probes, read_run
from glassformer.tasks import task as task_module
from glassformer.tasks.task import Network, Task, build_task
from glassformer.text.batches import Batch, BatchSettings
from glassformer.text.opening import open_tokenizer
from glassformer.training.distributed import join_processes
from glassformer.training.recipe import read_recipe_of_run, train
from glassformer.weights.checkpoint import open_checkpoint
from ports import hold_port

TRANSLATION = """
[task]
name = "translation"
folder = "FOLDER"
files = [{ path = "{split}.tsv", languages = ["en", "fr"] }]

[tokenizer]
size = 290

[model]
layers = 2
width = 16
heads = 2
feed_forward = 32
max_length = 64
dropout = 0.0

[batches]
tokens = 256

[train]
steps = 6
accumulate = 2
rate = 3e-3
schedule = "cosine"
warmup = 2
save_every = 3
evaluate_every = 3
log_every = 1

[monitor]
every = 3
"""
WORDS = {"the": "le", "cat": "chat", "dog": "chien", "red": "rouge", "and": "et", "house": "maison"}


@pytest.fixture
def translation(tmp_path: Path) -> Path:
    words = random.Random(3)
    for split, lines in (("train", 80), ("dev", 10)):
        rows = []
        for _ in range(lines):
            chosen = words.choices(list(WORDS), k=words.randint(2, 7))
            rows.append(" ".join(chosen) + "\t" + " ".join(WORDS[word] for word in chosen))
        (tmp_path / f"{split}.tsv").write_text("\n".join(rows))
    path = tmp_path / "pairs.toml"
    path.write_text(TRANSLATION.replace("FOLDER", str(tmp_path)))
    return path


def take_part(rank: int, port: int, recipe: Path, overrides: list[str], others: dict[str, object]) -> None:
    """What torchrun does for each process."""
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    warnings.simplefilter("error")  # nothing that a person would have to wonder about
    train(recipe, overrides, silent=True, **others)  # type: ignore[arg-type]


def run_two(recipe: Path, overrides: list[str], **others: object) -> list[int | None]:
    port = hold_port()
    processes = [
        CONTEXT.Process(target=take_part, args=(rank, port, recipe, overrides, others)) for rank in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(600)
    return [process.exitcode for process in processes]


def assert_same_probes(one: Path, two: Path) -> None:
    """The first of several processes records, and from whole weights."""
    pairs = list(zip(find_probes(one), find_probes(two), strict=True))
    assert len(pairs) == 6
    for ours, theirs in pairs:
        assert (ours.step, ours.text) == (theirs.step, theirs.text)
        first, second = bundle.open(ours.path), bundle.open(theirs.path)
        assert second.evidence.exact
        for mine, other in zip(first.maps, second.maps, strict=True):
            # Adam makes steps of the rounding of gradients that are 0, as below.
            assert other.weights() == pytest.approx(mine.weights(), abs=1e-4)


@campaign(
    "words",
    [
        ["train.parallel=ddp"],
        ["train.parallel=fsdp"],
        ["train.parallel=fsdp", "train.ema=0.5"],
        ["train.parallel=ddp", "train.lora_rank=2", "train.rate=0.05"],
        ["train.parallel=fsdp", "train.lora_rank=2", "train.rate=0.05", "train.freeze=['encoder layer 0']"],
        ["train.parallel=fsdp", "task.consistency=2.5"],  # all of the network in one call, not its parts
    ],
    sample=3,  # with both ways, low ranks and a second call of the network
)
def test_two_processes_have_the_losses_of_one(translation: Path, tmp_path: Path, words: list[str]) -> None:
    words = [*words, "probe.steps=[0, 2, 5]"]
    train(translation, words, runs=tmp_path, name="one", silent=True)
    assert run_two(translation, words, runs=tmp_path, name="two") == [0, 0]
    assert_same_probes(tmp_path / "one", tmp_path / "two")
    one, two = read_run(tmp_path / "one"), read_run(tmp_path / "two")
    for name in ("loss", "norm", "tokens", "dev_loss"):
        assert two.scalars[name].values == pytest.approx(one.scalars[name].values, rel=rounding(layers=2))
    assert two.heads.keys() == one.heads.keys()
    saved = open_checkpoint(tmp_path / "two" / "last").network.state_dict()
    for name, tensor in open_checkpoint(tmp_path / "one" / "last").network.state_dict().items():
        if tensor.dim() == 2:  # the true gradient of a key's bias is 0: Adam makes steps of its rounding
            assert saved[name].numpy() == pytest.approx(tensor.numpy(), abs=1e-4)


def evaluate_part(rank: int, port: int, run: Path, answers: Path) -> None:
    """One of two processes that evaluate a checkpoint together."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    task, network = open_task(run)
    done: list[int] = []
    collate = task.collate

    def count(*words: object) -> Batch:
        batch = collate(*words)  # type: ignore[arg-type]
        done.append(len(batch.ids))
        return batch

    task.collate = count  # type: ignore[method-assign]
    with join_processes("ddp", torch.device("cpu")) as processes:
        task.together = processes
        scores = task.evaluate(network, "train")
    (answers / f"{rank}.json").write_text(json.dumps({"scores": scores, "rows": sum(done)}))


def open_task(run: Path) -> tuple[Task, Network]:
    """The task and the network of a run, with batches so small that there are several."""
    task_module.EVALUATION = BatchSettings(tokens=100, shuffle=False, prefetch=2)
    opened = open_checkpoint(run / "last")
    assert opened.tokenizer is not None
    task = build_task(read_recipe_of_run(run).tables["task"], open_tokenizer(opened.tokenizer))
    task.accept(opened.config)
    return task, opened.network


@pytest.mark.slow
def test_two_processes_that_evaluate_have_the_scores_of_one(
    translation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each does its part; both know all scores, which are those of one process, bit for bit."""
    train(translation, ["task.scored=70", "train.steps=3"], runs=tmp_path, name="one", silent=True)
    monkeypatch.setattr(task_module, "EVALUATION", task_module.EVALUATION)  # is put back
    task, network = open_task(tmp_path / "one")
    expected = task.evaluate(network, "train")
    port = hold_port()
    parts = [
        CONTEXT.Process(target=evaluate_part, args=(rank, port, tmp_path / "one", tmp_path))
        for rank in (0, 1)
    ]
    for part in parts:
        part.start()
    for part in parts:
        part.join(600)
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert "bleu_en-fr" in expected
    assert [each["scores"] for each in found] == [expected, expected]
    rows = [each["rows"] for each in found]
    assert sum(rows) == len(task.examples("train").lengths)
    assert min(rows) > 0


@pytest.mark.slow
def test_shards_are_kept_whole_and_one_process_goes_on_with_them(translation: Path, tmp_path: Path) -> None:
    constant = ["train.schedule=constant"]
    train(translation, constant, runs=tmp_path, name="one", silent=True)
    shared = [*constant, "train.steps=3", "train.parallel=fsdp"]
    assert run_two(translation, shared, runs=tmp_path, name="both") == [0, 0]
    alone = ["train.steps=6", "train.parallel=none"]
    train(translation, alone, runs=tmp_path, name="both", resume=True, silent=True)
    losses = read_run(tmp_path / "one").scalars["loss"].values
    assert read_run(tmp_path / "both").scalars["loss"].values == pytest.approx(losses, rel=rounding(layers=2))
    assert run_two(
        translation, [*shared[:1], "train.steps=9", shared[2]], runs=tmp_path, name="both", resume=True
    ) == [0, 0]
    assert read_run(tmp_path / "both").last_step == 9


@pytest.mark.slow
@pytest.mark.first
def test_torchrun_starts_it(translation: Path, tmp_path: Path) -> None:
    script = tmp_path / "go.py"
    script.write_text(
        "from glassformer.training.recipe import train\n"
        f"words = ['train.parallel=ddp', 'train.steps=3']\n"
        f"train({str(translation)!r}, words, runs={str(tmp_path)!r}, name='two')\n"
    )
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        str(script),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    train(translation, ["train.steps=3"], runs=tmp_path, name="one", silent=True)
    losses = read_run(tmp_path / "one").scalars["loss"].values
    assert read_run(tmp_path / "two").scalars["loss"].values == pytest.approx(losses, rel=rounding(layers=2))
    assert done.stderr.count("Finished at step 3.") == 1  # one of them speaks


def test_processes_that_would_all_do_the_same_are_refused(
    translation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigurationError, match="each would train the same network"):
        train(translation, runs=tmp_path, silent=True)


def test_batches_that_cannot_be_shared_are_refused() -> None:
    from glassformer.training.loop import _share

    assert _share(6, 3) == 2
    with pytest.raises(ConfigurationError, match="Choose a multiple of 2"):
        _share(3, 2)
