"""Tiny random models of every kind in one folder, and a workbench over them with its worker process."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.model.choosing import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.show.workbench import Job, JobRequest
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import save_checkpoint
from glassformer.workbench import LocalWorkbench, WorkbenchSettings

WORDS = ["the", "animal", "street", "was", "too", "tired", "to", "cross"]
TAGS = [">>en<<", ">>fr<<"]
LAST = ("done", "failed", "cancelled")
Ask = Callable[..., JobRequest]
Wait = Callable[..., Job]
Build = Callable[..., Path]


def build_model(folder: Path, shape: str, head: str = "language", **words: object) -> Path:
    """Write one model."""
    tokenizer = build_words([*WORDS, *TAGS] if shape == "encoder-decoder" else WORDS)
    torch.manual_seed(0)
    settings: dict[str, object] = {
        "vocabulary_size": tokenizer.size,
        "shape": shape,
        "head": head,
        "layers": 2,
        "width": 16,
        "heads": 2,
        "feed_forward": 32,
        "max_length": 24,
        "dropout": 0.0,
        "classes": 2 if head == "classes" else 0,
        "segments": 2 if shape == "encoder" else 0,
        "padding_id": tokenizer.roles["padding"],
        "start_id": tokenizer.roles["start"],
        "end_id": tokenizer.roles["end"],
    }
    network = Transformer(ModelConfig(**{**settings, **words}))  # type: ignore[arg-type]
    labels = ("bad", "good") if head == "classes" else ()
    save_checkpoint(
        network, folder, tokenizer, generation=GenerationSettings(max_new_tokens=6), labels=labels
    )
    return folder


def build_recurrent(folder: Path) -> Path:
    """Write a recurrent translator with attention."""
    tokenizer = build_words(WORDS)
    torch.manual_seed(0)
    roles = tokenizer.roles
    config = RecurrentConfig(
        vocabulary_size=tokenizer.size,
        width=16,
        embedding_width=16,
        max_length=24,
        dropout=0.0,
        padding_id=roles["padding"],
        start_id=roles["start"],
        end_id=roles["end"],
    )
    save_checkpoint(RecurrentTranslator(config), folder, tokenizer)
    return folder


def build_theirs(folder: Path) -> Path:
    """Write a model that only transformers has a network for."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    tokenizer = build_words(WORDS, end=False)
    roles = tokenizer.roles
    ids = {"bos_token_id": roles["start"], "eos_token_id": roles["end"], "pad_token_id": roles["padding"]}
    LlamaForCausalLM(LlamaConfig(vocab_size=tokenizer.size, **sizes, **ids)).save_pretrained(folder)
    tokenizer.save(folder)
    return folder


@pytest.fixture(scope="session")
def build() -> Build:
    """A function that writes a model into a folder."""
    return build_model


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one model of each kind, as the zoo has them."""
    folder = tmp_path_factory.mktemp("zoo")
    build_model(folder / "decoder", "decoder")
    build_model(folder / "translator", "encoder-decoder")
    build_model(folder / "masked", "encoder", "masked")
    build_model(folder / "classifier", "encoder", "classes")
    build_model(folder / "encoder", "encoder", "none")
    build_model(folder / "endless", "decoder", positions="rotary")
    build_model(
        folder / "slow", "decoder", positions="rotary", layers=24, width=512, feed_forward=2048, heads=8
    )
    build_recurrent(folder / "recurrent")
    build_theirs(folder / "theirs")
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where bundles go."""
    return tmp_path_factory.mktemp("recordings")


def open_bench(zoo: Path, folder: Path, **words: object) -> LocalWorkbench:
    """A workbench whose recordings are called by their files."""
    settings = WorkbenchSettings(offline=True, **words)  # type: ignore[arg-type]
    return LocalWorkbench(settings, folder=folder, add=lambda path, request: path.name, zoo=zoo)


@pytest.fixture(scope="session")
def bench(zoo: Path, folder: Path) -> Iterator[LocalWorkbench]:
    """One worker for all tests that do not harm it."""
    bench = open_bench(zoo, folder, queue=3)
    yield bench
    bench.close()


@pytest.fixture
def fresh(zoo: Path, folder: Path) -> Iterator[Callable[..., LocalWorkbench]]:
    """A function that opens a workbench of its own; all are closed in the end."""
    opened: list[LocalWorkbench] = []

    def make(**words: object) -> LocalWorkbench:
        opened.append(open_bench(zoo, folder, **words))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture(scope="session")
def ask() -> Ask:
    """A function that makes a request; whatever is not said is the plainest."""
    return make_request


def make_request(**words: object) -> JobRequest:
    plain: dict[str, object] = {"kind": "record", "model": "zoo/decoder", "text": "the animal was too tired"}
    if words.get("sequence", "text") != "text":
        del plain["text"]
    return JobRequest.model_validate({**plain, **words})


@pytest.fixture(scope="session")
def wait() -> Wait:
    """A function that gives the job when it is in such a state; its limit only ends a test that hangs."""
    return wait_for


def wait_for(bench: LocalWorkbench, job: Job, state: tuple[str, ...] = LAST, seconds: float = 120.0) -> Job:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = bench.job(job.id)
        if now.state in state:
            return now
        time.sleep(0.01)
    raise AssertionError(f"the job is still {bench.job(job.id)}")
