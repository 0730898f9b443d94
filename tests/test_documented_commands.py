"""The commands of the documents run as they stand, in their order: every line ends with exit code 0.

Names on the hub stand for models that this machine may not have: here models of the zoo take their place.
Servers and trainings have tests of their own; `SKIPPED` says why a verb is not run.
"""

import gzip
import shlex
import shutil
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from glassformer.api.searches import SHIPPED
from glassformer.cli import main
from test_readme import DOCUMENTS, ROOT, TRANSLATED, blocks

HUB = {
    "gpt2": "zoo/gpt2",
    "Qwen/Qwen2.5-0.5B": "zoo/gpt2",
    "bert-base-uncased": "zoo/bert",
    "Helsinki-NLP/opus-mt-en-de": "zoo/recurrent",  # one direction, no --to
    "my-model": "zoo/rotary",
    "runs/first/last": "zoo/gpt2",
    "runs/my-translator/best": "zoo/recurrent",
}
SKIPPED = {
    "atlas": "reads a large file: tests/cli/verbs/test_atlas.py",
    "serve": "does not end by itself: tests/cli/verbs/test_serve.py",
    "train": "takes minutes: tests/training",
    "evaluate": "needs a training run: tests/cli/verbs/test_evaluate.py",
    "runs": "needs a training run: tests/cli/verbs/test_runs.py",
    "search": "takes minutes: tests/cli/verbs/test_search.py",  # but for --show
    "long": "takes minutes: tests/cli/verbs/test_long.py",
    "demo": "trains: tests/cli/verbs/test_demo.py",
}
TREES = """1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tanimal\tanimal\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_

"""


def list_commands(document: Path) -> list[list[str]]:
    """The lines that call `glassformer`, split as a shell does."""
    lines = "".join(blocks(document, "sh", "bash", "console")).splitlines()
    split = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    return [words[1:] for words in split if words[:1] == ["glassformer"]]


def is_skipped(words: list[str]) -> bool:
    """Whether a command has a test of its own; `search --show` only reads a search that exists."""
    return words[0] in SKIPPED and words[:2] != ["search", "--show"]


RUN = [
    document
    for document in DOCUMENTS
    if document not in TRANSLATED.values()
    and any(words and not is_skipped(words) for words in list_commands(document))
]


def test_what_is_skipped_has_its_own_test() -> None:
    for reason in SKIPPED.values():
        assert (ROOT / reason.split(": ")[1]).exists(), reason


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the documents take for granted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "chapter.txt").write_text("It was late. The street was dark, and nobody was there.\n" * 3)
    (tmp_path / "book.txt").write_text("It was late. The street was dark, and nobody was there.\n" * 3)
    with gzip.open(tmp_path / "english.txt.gz", "wt") as file:
        file.write("Where is my umbrella?\nI love you.\n")
    (tmp_path / "english.txt").write_text("1\tI love you\n2\tI am here\n")
    (tmp_path / "french.txt").write_text("1\tje vous aime\n2\tje suis ici\n")
    (tmp_path / "links.txt").write_text("1\t0-0 1-2 2-1\n2\t0-0 1-1 2-2\n")
    shutil.copytree(SHIPPED / "translation", tmp_path / "runs" / "search-search")
    with gzip.open(tmp_path / "en_ewt-ud-dev.conllu.gz", "wt") as file:
        file.write(TREES * 3)
    for name in ("seven.png", "face.png"):
        Image.new("RGB", (28, 28), "white").save(tmp_path / name)
    with wave.open(str(tmp_path / "digits.wav"), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        noise = np.random.default_rng(0).integers(-3000, 3000, 4000)
        sound.writeframes(noise.astype("<i2").tobytes())
    return tmp_path


def prepare(words: list[str]) -> list[str]:
    """The command as it can run here: models of the zoo for those of the hub, and bundles that it reads."""
    words = [HUB.get(word, word) for word in words]
    for name in (word for word in words[1:] if word.endswith(".bundle")):
        if not Path(name).exists() and words[words.index(name) - 1] != "--output":
            record_bundle(Path(name))
    return words


def record_bundle(path: Path) -> None:
    """What a page takes as given: a recording of two stacks for figures of cross-attention, else of one."""
    model = ["zoo/translator", "Where is my umbrella?", "--to", "fr"]
    if path.name in ("animal.bundle", "silenced.bundle"):
        model = ["zoo/gpt2", "The animal didn't cross the street because it was too tired"]
    everything = "weights,output,hidden,queries,keys,values"
    assert main(["record", *model, "--want", everything, "--output", str(path)]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("document", RUN, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_run(document: Path, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in list_commands(document):
        if not words or is_skipped(words) or words[1:2] == ["runs/first"]:
            continue
        if words == ["--help"]:
            with pytest.raises(SystemExit, match="0"):
                main(words)
            continue
        fine = (0, 1) if words[0] == "doctor" else (0,)  # 1: this machine lacks something
        assert main(prepare(words)) in fine, shlex.join(words)
        if "--output" in words:
            made = words[words.index("--output") + 1]
            assert (desk / made).exists(), shlex.join(words)
        capsys.readouterr()
