"""Every text of the terminal comes from the catalogues: in a pseudo-language no English of ours is left."""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from cli.pseudo_language import (
    LANGUAGE,
    accent,
    accent_template,
    find_plain_words,
    words_of,
    write_catalogues,
)
from glassformer import cli
from glassformer.cli.edits import list_forms
from glassformer.cli.verbs import doctor
from glassformer.config import ModelConfig
from glassformer.messages import set_language
from glassformer.messages.catalogues import read_area
from glassformer.metrics import METRICS
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.tasks import task
from glassformer.text.builders import build_words
from glassformer.training.settings import TrainSettings
from glassformer.weights.checkpoint import save_checkpoint
from glassformer.weights.presets import PRESETS

WORDS = [f"xq{letter}" for letter in "abcdefgh"]  # a user's words: no English, and easy to tell
TEXT = "xqa xqb xqc"
RECIPE = """
[task]
name = "language_modelling"
path = "xq{split}.txt"
context = 16

[tokenizer]
kind = "characters"

[model]
layers = 1
width = 16
heads = 2
feed_forward = 16
max_length = 16

[batches]
tokens = 64

[train]
steps = 3
device = "cpu"
evaluate_every = 3
log_every = 1

[monitor]
every = 1
"""

# What is not ours to translate, and what verbs, options and values are called in every language.
NOT_OURS = re.compile(
    r"""
    [\w.…~@-]*/[\w./…@+-]*      # paths, zoo/gpt2
    | \b\w*\.(py|txt|toml|json|html|bundle|pdf|svg|safetensors)\b
    | \b0.FF\b                  # a byte
    | --?[a-z][a-z-]*           # options
    | \{[\w,]+\}                # choices
    | \b[A-Z]+(\.\w+)?\b        # metavariables: FILE.bundle
    | \b[a-z]+\.(self|cross)\.\d+\b # addresses, as --place takes them
    | </?\w+>                   # special tokens
    | \bxq\w*                   # a user's words
    | \b[0-9a-f]{12}\b          # hashes
    """,
    re.VERBOSE,
)


@pytest.fixture(scope="module")
def catalogues(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("catalogues")
    write_catalogues(folder)
    yield folder
    read_area.cache_clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models, a recording, a recipe and broken files: what the commands below are about."""
    place = tmp_path_factory.mktemp("xq")
    for shape, head in (
        ("decoder", "language"),
        ("encoder-decoder", "language"),
        ("encoder", "masked"),
        ("encoder", "classes"),
    ):
        save_model(place / f"xq{shape.replace('-', '')}{head}", shape, head)
    (place / "xq.txt").write_text(f"{TEXT}\n" * 200, encoding="utf-8")
    (place / "xqbroken.txt").write_bytes(b"xqa \xff\n")
    (place / "xqbroken.bundle").write_text("xqa", encoding="utf-8")
    for split in ("train", "dev"):
        (place / f"xq{split}.txt").write_text(f"{TEXT}\n" * 50, encoding="utf-8")
    (place / "xq.toml").write_text(RECIPE, encoding="utf-8")
    model = str(place / "xqencoderdecoderlanguage")
    assert cli.main(["record", model, TEXT, "--target", "xqb xqc", "--output", str(place / "xq.bundle")]) == 0
    with chdir(place):
        assert cli.main(["train", "xq.toml", "--name", "xqrun"]) == 0
    return place


def save_model(folder: Path, shape: str, head: str) -> None:
    tokenizer = build_words(WORDS)
    torch.manual_seed(0)
    config = ModelConfig(
        vocabulary_size=tokenizer.size,
        shape=shape,
        head=head,
        classes=2 if head == "classes" else 0,
        layers=2,
        width=16,
        heads=2,
        feed_forward=32,
        max_length=24,
        dropout=0.0,
        padding_id=tokenizer.roles["padding"],
        start_id=tokenizer.roles["start"],
        end_id=tokenizer.roles["end"],
    )
    labels = ("xqbad", "xqgood") if head == "classes" else ()
    habit = GenerationSettings(max_new_tokens=4)
    save_checkpoint(Transformer(config), folder, tokenizer, generation=habit, labels=labels)


@pytest.fixture
def speak(
    catalogues: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[[str], tuple[int, str]]]:
    """Run a command in the pseudo-language: its exit code, and what it printed."""
    monkeypatch.setenv("GLASSFORMER_CATALOGUES", str(catalogues))
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", LANGUAGE)
    monkeypatch.setenv("COLUMNS", "2000")  # lines are not wrapped
    monkeypatch.chdir(folder)
    capsys.readouterr()

    def call(command: str) -> tuple[int, str]:
        try:
            code = cli.main(shlex.split(command))
        except SystemExit as end:
            code = int(str(end.code or 0))
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    yield call
    set_language(None)


def left_over(text: str, allowed: str = "") -> list[str]:
    """English words that no catalogue has accented."""
    return find_plain_words(NOT_OURS.sub(" ", text), words_of("glassformer", allowed))


def test_templates_keep_their_parameters() -> None:
    assert accent_template("{count} {count:plural token|tokens} of {name:q}: {{x}}") == (
        f"{{count}} {{count:plural {accent('token')}|{accent('tokens')}}} {accent('of')} {{name:q}}: "
        f"{{{{{accent('x')}}}}}"
    )


def test_english_is_found() -> None:
    """The check can fail."""
    assert left_over("xqa --part FILE.bundle zoo/gpt2 Wanted one") == ["Wanted", "one"]


@pytest.mark.parametrize("verb", cli.find_verbs(), ids=lambda verb: verb.name)
@pytest.mark.slow
def test_the_help_of_each_verb(verb: cli.Verb, speak: Callable[[str], tuple[int, str]]) -> None:
    code, text = speak(f"{verb.name} --help")
    for example in sorted(verb.examples, key=len, reverse=True):
        assert f"\n  {example}" in text
        text = text.replace(f"\n  {example}", "")
    assert code == 0
    edits = " ".join(list_forms())
    usual = {"translate": "split", "fill": "split", "classify": "truncate", "generate": "truncate"}
    usual |= {
        "completion": "bash zsh fish",
        "runs": "diff rm",
        "record": f"weights,output all FEED FORWARD {edits}",
    }
    usual["branch"] = "weights,output"
    usual["serve"] = "warning text"  # of --log-level and --log-format
    usual["users"] = "list add passwd token role remove viewer"
    values = usual.get(verb.name, "")
    assert left_over(text, f"{verb.name} {values}") == []


def test_the_help(speak: Callable[[str], tuple[int, str]]) -> None:
    code, text = speak("--help")
    assert code == 0
    assert left_over(text, " ".join(verb.name for verb in cli.find_verbs())) == []


SENTENCES = "the white cat follows black dog le chat blanc suit chien noir th wh ca fo bl do"
MODELS = " ".join(PRESETS) + " encoder decoder"
PACKAGES = " ".join((*doctor.REQUIRED, *doctor.OPTIONAL))
ZOO = "albert bert captioner digits gpt2 listener recurrent fixed reviews rotary sentiment translator"
TOOLS = f"Python dev {ZOO} Noto Sans CJK SC cpu"
PARAMETERS = (
    " ".join(each.name for name in METRICS for each in METRICS[name].parameters)
    + " False True all entering written"
)
FAMILIES = " ".join(METRICS[name].family for name in METRICS)
TASKS = " ".join(task.TASKS) + " task"
RECORDED = "hidden keys logits output parameters queries scores statistics trace values weights"
RUN = "loss dev_loss dev_perplexity dev_bits_per_byte cpu x86_64"
TRAIN = " ".join(each.name for each in fields(TrainSettings))
TORCH = (
    "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
    "vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string"
)
DECODER, TRANSLATOR = "xqdecoderlanguage", "xqencoderdecoderlanguage"


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("demo", f"float32 {SENTENCES} demo record The animal was too tired to cross the street"),
        (f"record ./{TRANSLATOR} '{TEXT}'", "float32"),
        (f"record ./{DECODER} '{TEXT}' --decode beam 2", "float32"),
        (f"record ./{DECODER} '{TEXT}' --decode sample 1 --output xqnew.bundle", "float32"),
        (f"record ./{DECODER} '{TEXT}' --edit 'zero decoder self 0 0' --edit 'scale 2'", "float32"),
        (
            f"record ./{DECODER} '{TEXT}' --edit 'mean decoder self 0 0' --edit 'cut decoder self all 0 1 0'",
            "float32",
        ),
        (f"record ./{DECODER} '{TEXT}' --edit 'first 1'", "float32"),
        (f"record ./{DECODER} --texts xq.txt --output xqmany", ""),
        ("show xq.bundle", "float32"),
        ("show xq.bundle --place encoder.self.1 --head 0", "float32"),
        ("score xq.bundle", " ".join(METRICS)),
        ("score xq.bundle entropy", "entropy"),
        ("score xq.bundle entropy --over layer", "entropy"),
        (f"score ./{DECODER} '{TEXT}' induction previous_token", "induction previous_token"),
        ("metrics", " ".join((*METRICS, PARAMETERS, FAMILIES))),
        ("export xq.bundle xq.html", "MB"),
        ("figure xq.bundle xq.svg", ""),
        ("models", MODELS),
        ("train xq.toml --name xqother", f"{RUN} train"),  # a split
        ("runs", "dev_loss"),
        ("runs xqrun", RUN),
        ("figure runs/xqrun xqrun.svg", ""),
        (f"translate ./{TRANSLATOR} '{TEXT}'", ""),
        (f"generate ./{DECODER} '{TEXT}' --beams 2 --n-best 2", ""),
        (f"classify ./xqencoderclasses '{TEXT}'", ""),
        ("fill ./xqencodermasked 'xqa <mask> xqb'", ""),
        (f"convert ./{DECODER} xqcopy", "glassformer"),
        ("doctor", f"{PACKAGES} {TOOLS}"),
    ],
)
@pytest.mark.slow
def test_what_verbs_print(command: str, allowed: str, speak: Callable[[str], tuple[int, str]]) -> None:
    code, text = speak(command)
    assert code == 0 or command == "doctor", text
    assert left_over(text, allowed) == [], text


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        # argparse
        ("xqrecord", "verbs"),
        ("--xq", "serve"),
        ("record", ""),
        ("record a b c", ""),
        ("show", ""),
        ("show xq.bundle --layer xq", "int"),
        ("show xq.bundle --part xq", "encoder decoder cross"),
        ("show xq.bundle --head", ""),
        ("record a b --decode", ""),
        ("score xq.bundle --links xqa", ""),
        ("score xq.bundle --json --csv", ""),
        ("serve --no-browser=xq", ""),
        # models and texts
        ("record 'xqa xqb.' xq", "gpt2 models"),
        ("record ./xqnowhere xq", ""),
        (f"record ./{DECODER}", ""),
        (f"record ./{DECODER} ' '", ""),
        (f"record ./{DECODER} xqa --file xq.txt", ""),
        (f"record ./{DECODER} --file xqnone.txt", "No such file or directory"),
        (f"record ./{DECODER} --file xqbroken.txt", ""),
        (f"record ./{DECODER} '{TEXT * 20}'", ""),
        (f"record ./{DECODER} xqa --layer 9", ""),
        (f"record ./{DECODER} xqa --place encoder.self.0", "encoder.self.0 decoder"),
        (f"record ./{DECODER} xqa --head 9", ""),
        (f"record ./{DECODER} xqa --want xq", RECORDED),
        (f"record ./{DECODER} xqa --device xq", TORCH),
        (f"record ./{DECODER} xqa --target xqb", ""),
        (f"record ./{DECODER} xqa --max-new-tokens 2", ""),
        (f"record ./{DECODER} xqa --decode xq", "greedy beam sample"),
        (f"record ./{DECODER} xqa --decode beam xq", "beam"),
        (f"record ./{DECODER} xqa --decode beam", "beam"),
        (
            f"record ./{DECODER} xqa --edit 'xq'",
            "zero mean resample uniform cut scale first block steer "
            "patch-head patch-path patch-pattern patch-states patch-value",
        ),
        (f"record ./{DECODER} xqa --edit 'zero'", "zero all"),
        (f"record ./{DECODER} xqa --edit 'zero decoder self 0 0 0 0'", "zero all"),
        (f"record ./{DECODER} xqa --edit 'zero xq self 0 0'", "zero encoder decoder"),
        (f"record ./{DECODER} xqa --edit 'cut decoder self xq 0 0 0'", "cut all"),
        (f"record ./{DECODER} xqa --edit 'zero decoder self 9 0'", ""),
        (f"record ./{DECODER} xqa --edit 'zero decoder self 0 9'", ""),
        (f"record ./{DECODER} xqa --edit 'zero encoder self 0 0'", ""),
        (f"record ./{DECODER} xqa --edit 'first 9'", ""),
        (f"record ./{DECODER} xqa --edit 'cut decoder self 0 0 9 9'", ""),
        (f"record ./{DECODER} xqa --output xqnowhere/xq.bundle", "No such file or directory"),
        (f"record ./{DECODER} xqa --edit 'first 1' --kernel fast", ""),
        (f"record ./{DECODER} xqa --output .", ""),
        (f"record ./{DECODER} xqa --texts xq.txt --output xqmany", ""),
        (f"record ./{DECODER} --texts xq.txt", ""),
        (f"record ./{DECODER} --texts xq.txt --output xq.txt", ""),
        (f"record ./{DECODER} --texts xq.txt --output xqmany --json", ""),
        # recordings
        ("show xqnone.bundle", "No such file or directory"),
        ("show xqbroken.bundle", ""),
        ("show xq.bundle --layer 9", "cross encoder decoder"),
        ("score xq.bundle xqmetric", " ".join(METRICS)),
        ("score xq.bundle entropy --set xq=1", ""),
        ("score xq.bundle entropy --set xq", "threshold"),
        ("score xq.bundle overall_sparsity --set threshold=xq", "threshold overall_sparsity"),
        ("score xq.bundle rollout --over layer", "rollout pair"),
        ("score xq.bundle alignment_error", "alignment_error"),
        (f"score ./{DECODER}", ""),
        (f"score ./{DECODER} entropy --trees xq.txt", ""),
        (f"score ./{DECODER} --trees xq.txt", ""),
        (f"score ./{DECODER} --trees xq.txt --most 0", ""),
        (f"score ./{DECODER} --links xq.txt xq.txt xq.txt", ""),
        ("metrics xqmetric", " ".join(METRICS)),
        ("export xq.bundle xq.pdf", "html"),
        (
            "figure xq.bundle xq.svg --view xq",
            "heatmap heads lines bars rollout difference curves learning strip atlas picture sound study",
        ),
        ("figure xq.bundle xq.svg --view curves", "curves Recording RunLog"),
        ("figure xq.bundle xq.svg --width xq", "column page"),
        ("figure xq.bundle xq.svg --width 99", ""),
        ("figure xq.bundle xq.svg --view difference --head 0 1", ""),
        ("figure xq.bundle xq.svg --font xq", ""),
        ("figure xq.bundle xq.doc", "doc pdf svg png"),
        ("figure xq.bundle xq.svg --view bars --metric rollout", "rollout"),
        # answers
        (f"generate ./{TRANSLATOR} xqa", "encoder decoder"),
        (f"translate ./{DECODER} xqa", "encoder decoder"),
        (f"translate ./{TRANSLATOR} xqa --to xq", ""),
        (f"classify ./{DECODER} xqa", "decoder"),
        (f"fill ./{DECODER} xqa", "decoder"),
        ("fill ./xqencodermasked xqa", ""),
        ("fill ./xqencodermasked xqa --best 0", ""),
        (f"generate ./{DECODER} ''", ""),
        (f"generate ./{DECODER} xqa --sample --beams 2", "beams sample false"),
        (f"generate ./{DECODER} xqa --beams 5000", ""),
        (f"generate ./{DECODER} xqa --seed 1", ""),
        (f"generate ./{DECODER} xqa --length-penalty 2", ""),
        (f"generate ./{DECODER} xqa --max-new-tokens 0", "max_new_tokens"),
        (f"generate ./{DECODER} xqa --sample --temperature 0", "temperature"),
        (f"generate ./{DECODER} xqa --input xq.txt", ""),
        (f"generate ./{DECODER} --input xqnone.txt", "No such file or directory"),
        (f"generate ./{DECODER} xqa --output .", ""),
        (f"generate ./{DECODER} xqa xqb --output xqnowhere/xq.txt", "No such file or directory"),
        (f"generate ./{DECODER} '{TEXT * 20}' --long refuse", ""),
        # training
        ("train xqnone.toml", "No such file or directory"),
        ("train xq.toml --name a/b", ""),
        ("train xq.toml --name xqother --set train.xq=1", f"train TrainSettings {TRAIN}"),
        ("train xq.toml --name xqother --set train.steps=xq", "train steps"),
        ("train xq.toml --name xqother --set xq", ""),
        ("train xq.toml --name xqother --set task.name=xq", TASKS),
        ("train xq.toml --name xqother --set task.path=xqnone.txt", "No such file or directory"),
        ("train xq.toml --name xqother --set model.heads=3", "model heads width"),
        ("runs xqnone", ""),
        # the rest
        (f"convert ./{DECODER} ./{TRANSLATOR}", ""),
        ("completion xq", "bash zsh fish"),
        ("serve --port 70000 --no-browser", ""),
        ("serve --models xqnowhere --no-browser", ""),
        ("serve --token ' ' --no-browser --port 0", ""),
        ("serve xqnone.bundle --no-browser --port 0", "No such file or directory"),
        ("long --tokens 0 --output xqlong.bundle", ""),
    ],
)
def test_what_errors_say(command: str, allowed: str, speak: Callable[[str], tuple[int, str]]) -> None:
    code, text = speak(command)
    assert code == 2, text
    verbs = " ".join(verb.name for verb in cli.find_verbs()) if allowed == "verbs" else command.split()[0]
    assert left_over(text, f"{allowed} {verbs}") == [], text
