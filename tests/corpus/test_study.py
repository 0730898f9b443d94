"""A study gives what recordings of its texts give, however often it is interrupted and wherever it runs."""

import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import glassformer as gf
from campaigns import campaign, rounds
from engine import tasks
from glassformer.corpus import measuring, workers
from glassformer.corpus import study as module
from glassformer.corpus.measuring import Settings, choose_metrics
from glassformer.errors import InputError
from glassformer.rounding import SHARPEST
from our_networks import WORDS, build
from tiny_models import build_model
from tolerances import assert_near

TEXTS = [
    "the cat sees",
    "the big dog sees the red cat",
    "",
    "the dog sees",
    "a red dog",
    "the cat sees the dog",
    "big cat",
    "the red dog sees the big cat",
] * 2
METRICS = ["entropy", "maximum_nonzero", "previous_token", "delimiter", "nonzero_share"]


@pytest.fixture(scope="module")
def model() -> Any:
    return gf.load(build(shape="encoder"), WORDS, name="ours")


def as_bytes(study: gf.Study) -> dict[str, bytes]:
    """The tables and the state of a study; state.npz holds dates."""
    paths = sorted(study.folder.rglob("*.parquet"))
    tables = {str(path.relative_to(study.folder)): path.read_bytes() for path in paths}
    return {**tables, "digest": study.manifest["digest"].encode()}


def test_a_study_pools_what_recordings_give(model: Any, tmp_path: Path) -> None:
    seen: list[gf.Progress] = []
    study = gf.study(
        model, TEXTS, tmp_path, metrics=METRICS, values=True, examples=2, shard=5, on_progress=seen.append
    )
    assert (study.texts, study.failed, study.complete) == (14, 2, True)
    assert [each.texts for each in seen] == [5, 10, 15, 16]
    assert seen[-1].remaining == 0
    recordings = [gf.record(model, text) for text in TEXTS if text]
    heads, values = study.frame("heads"), study.frame("values")
    for name in METRICS:
        rows = heads[heads["metric"] == name]
        scores = [gf.score(each, name, over="head").values.ravel() for each in recordings]  # (text, head)
        near = {"layers": 2, "scores": SHARPEST, "where": name}
        assert_near(values[values["metric"] == name]["value"].to_numpy().reshape(14, -1), scores, **near)
        assert_near(rows["mean"], np.mean(scores, axis=0), **near)
        if gf.METRICS[name].rule == "mean":
            pooled = gf.pool(gf.score(each, name) for each in recordings)
            assert_near(rows["value"], pooled.values.ravel(), **near)
        assert (rows["low"] <= rows["value"]).all()
        assert (rows["value"] <= rows["high"]).all()
    texts = study.frame("texts")
    assert texts[texts["failed"]]["text"].tolist() == [2, 10]
    assert texts["reason"][2]
    assert gf.Recording.open(tmp_path / "examples" / "00001.bundle").source.text == TEXTS[1]
    assert gf.open_study(tmp_path).frame("heads").equals(heads)
    assert "14 texts" in str(study)


def test_pandas_polars_and_duckdb_read_a_study(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the lines that docs/how-to/corpus.md shows."""
    for name in ("pandas", "polars", "duckdb"):
        pytest.importorskip(name, reason=f"{name} is not installed (pip install glassformer[dev])")
    monkeypatch.chdir(tmp_path)
    study = gf.study(model, TEXTS, "animals", metrics=["entropy", "distance"], values=True, shard=5)
    document = (Path(__file__).parents[2] / "docs" / "how-to" / "corpus.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python no-run\n(.*?)```", document, re.DOTALL)
    (lines,) = (each for each in blocks if "duckdb" in each)
    found: dict[str, Any] = {}
    exec(lines, found)
    heads, values = (study.table(name).to_pylist() for name in ("heads", "values"))
    assert found["heads"].to_dict("records") == heads
    assert found["values"].to_dicts() == values  # of several files
    means = {(row["layer"], row["head"]): row["mean"] for row in heads if row["metric"] == "entropy"}
    assert {(layer, head): mean for layer, head, mean in found["means"]} == pytest.approx(means)


def test_effects_of_edits_have_intervals(tmp_path: Path) -> None:
    model = gf.load(build(shape="decoder"), WORDS)
    texts = ["the cat sees the dog", "the red dog sees", "the big cat"]
    study = gf.study(model, texts, tmp_path, metrics=(), outcome=gf.Loss())
    effects = study.frame("effects")
    sweeps = [gf.sweep(model, text, outcome=gf.Loss()) for text in texts]
    near = {"layers": 2, "scores": SHARPEST}
    assert_near(effects["mean"][1:], np.mean([each.effects for each in sweeps], axis=0), **near)
    assert_near(effects["mean"][0], np.mean([each.baseline for each in sweeps]), **near)
    assert effects["edit"][0] == ""
    assert (effects["mean_low"] <= effects["mean"]).all()


def test_progress_of_effects_is_told_often() -> None:
    """Every text is read once for each head, so a shard of a thousand texts would say nothing for an hour."""
    model, texts = gf.load(build(shape="decoder"), WORDS), ["the cat sees", "the dog"] * 10
    seen: list[gf.Progress] = []
    gf.study(model, texts, metrics=(), outcome=gf.Loss(), on_progress=seen.append)
    assert [each.texts for each in seen] == [16, 20]
    assert seen[0].remaining is not None
    assert seen[0].remaining > 0
    seen.clear()
    gf.study(model, texts, metrics=["entropy"], on_progress=seen.append)
    assert [each.texts for each in seen] == [20]


@pytest.mark.parametrize(
    ("outcome", "told"), [(None, [(2, 7), (4, 15)]), (gf.Loss(), [(1, 3), (2, 7), (4, 15)])]
)
def test_progress_is_told_within_a_shard(
    outcome: Any, told: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand texts are one shard: without this, nothing would be said before they are all measured."""
    monkeypatch.setattr(measuring, "TOLD_EVERY", 4)
    model = gf.load(build(shape="decoder"), WORDS)
    texts = ["the cat", "the cat sees", "", "the red dog sees the big cat"]  # measured in this order
    seen: list[gf.Progress] = []
    gf.study(model, texts, metrics=["entropy"], outcome=outcome, shard=8, on_progress=seen.append)
    assert [(each.texts, each.tokens) for each in seen] == told
    assert seen[-1].remaining == 0
    assert seen[-2].remaining == pytest.approx(seen[-2].seconds * (15 - 7) / 7)  # by tokens, not by texts


@campaign("when", range(20), sample=(0, 7))
def test_an_interrupted_study_equals_one_that_was_not(when: int, model: Any, tmp_path: Path) -> None:
    """Killed after each of many steps of writing; then it goes on from what is there."""
    whole = gf.study(model, TEXTS, tmp_path / "whole", metrics=METRICS, values=True, shard=3)
    replace, left = os.replace, [0]

    def die_later(*names: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt  # no cleaning up follows: nothing of the study catches it
        replace(*names)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", die_later)
        for attempt in range(40):
            left[0] = (when + attempt) % 5  # 0: killed before study.json is there
            try:
                parts = gf.study(model, TEXTS, tmp_path / "parts", metrics=METRICS, values=True, shard=3)
            except KeyboardInterrupt:
                continue
            break
    assert attempt >= 3
    assert as_bytes(parts) == as_bytes(whole)
    assert not list((tmp_path / "parts").rglob(".*"))


@pytest.mark.slow
def test_a_study_survives_kill_9(tmp_path: Path) -> None:
    path = build_model(tmp_path / "model", "encoder")
    texts = ["the animal was too tired", "the street", "too tired to cross the street"] * 30
    program = (
        "import os, signal, sys, glassformer as gf\n"
        "def die(progress):\n    if progress.texts >= 40: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"gf.study(sys.argv[1], {texts!r}, sys.argv[2], metrics=['entropy'], shard=10, on_progress=die)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path), str(tmp_path / "parts")], check=False)
    assert done.returncode == -signal.SIGKILL
    found = gf.open_study(tmp_path / "parts")
    assert (found.complete, found.texts) == (False, 40)
    begun: list[gf.Progress] = []
    parts = gf.study(path, texts, tmp_path / "parts", metrics=["entropy"], shard=10, on_progress=begun.append)
    assert begun[0].texts == 50  # not from the beginning
    whole = gf.study(path, texts, tmp_path / "whole", metrics=["entropy"], shard=10)
    assert as_bytes(parts) == as_bytes(whole)


def study_some(model: Path, texts: list[str], folder: Path, most: int, call: dict[str, Any]) -> None:
    """A study that waits for ever behind some of its texts."""

    def read() -> Iterator[str]:
        yield from texts[:most]
        while True:
            time.sleep(1)

    gf.study(model, read(), folder, **call)


@pytest.mark.slow
@pytest.mark.long
def test_a_study_killed_again_and_again_equals_one_that_was_not(tmp_path: Path) -> None:
    """By SIGKILL at random moments, twenty times (three in `make test`); then it goes on to its end."""
    path = build_model(tmp_path / "model", "encoder")
    texts, kills = tasks.TEXTS * 12, rounds(3, 20)
    call: Any = {"metrics": ["entropy", "distance"], "values": True, "shard": 2}
    whole = gf.study(path, texts, tmp_path / "whole", **call)
    randomness, parts = random.Random(0), tmp_path / "parts"
    for kill in range(1, kills + 1):
        wanted = len(texts) // 2 * kill // (kills + 1)  # shards
        given = (path, texts, parts, 2 * wanted + 10, call)
        process = multiprocessing.get_context("fork").Process(target=study_some, args=given)
        process.start()
        while process.is_alive() and len(list(parts.glob("texts/[0-9]*"))) < wanted:
            time.sleep(0.001)
        time.sleep(randomness.uniform(0, 0.01))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert as_bytes(gf.study(path, texts, parts, **call)) == as_bytes(whole)
    assert not [each for each in parts.rglob("*") if each.name.startswith(".")]


def test_two_processes_do_not_share_the_folder_of_a_study(model: Any, tmp_path: Path) -> None:
    seen: list[str] = []

    def read() -> Iterator[str]:
        with pytest.raises(InputError, match="Another process works on the study") as refused:
            gf.study(model, TEXTS, tmp_path, metrics=METRICS)  # a lock of another opening of the folder
        seen.append(str(refused.value))
        yield from TEXTS

    gf.study(model, read(), tmp_path, metrics=METRICS, shard=3)
    assert len(seen) == 1
    assert str(tmp_path) in seen[0]
    assert gf.study(model, TEXTS, tmp_path, metrics=METRICS, shard=3).complete  # free again


OTHER_WORDS = gf.build_words(["dog", "the", "cat", "sees"])  # the same words, other numbers
CHANGES: dict[str, tuple[Callable[[Any], dict[str, Any]], str]] = {
    "another metric": (lambda model: {"metrics": ["distance"]}, "study.other_setting"),
    "another shard": (lambda model: {"shard": 4}, "study.other_setting"),
    "other texts": (lambda model: {"texts": ["the dog", *TEXTS[1:]]}, "study.other_texts"),
    "more texts": (lambda model: {"texts": [*TEXTS, "the dog"]}, "study.other_texts"),
    "other weights": (
        lambda model: {"model": gf.load(build(shape="encoder", layers=1), WORDS)},
        "study.other_weights",
    ),
    "another tokenizer": (
        lambda model: {"model": gf.load(model.network, OTHER_WORDS, name="ours")},
        "study.other_tokenizer",
    ),
}


def test_what_has_changed_is_refused(model: Any, tmp_path: Path) -> None:
    call = {"model": model, "texts": TEXTS, "folder": tmp_path, "metrics": ["entropy"], "shard": 8}
    first = gf.study(**call)
    assert gf.study(**call).manifest == first.manifest
    for name, (change, code) in CHANGES.items():
        with pytest.raises(InputError) as error:
            gf.study(**{**call, **change(model)})
        assert error.value.message.code == code, name


def test_a_study_that_has_measured_nothing_may_be_changed(model: Any, tmp_path: Path) -> None:
    def fail() -> Iterator[str]:
        raise InputError("study.no_file", path="texts.txt")
        yield ""

    with pytest.raises(InputError, match="There is no file"):
        gf.study(model, fail(), tmp_path, metrics=["distance"])
    study = gf.study(model, TEXTS, tmp_path, metrics=["entropy"])
    assert study.manifest["settings"]["metrics"] == {"entropy": {}}


def test_values_of_texts_that_were_not_counted_do_not_stay(model: Any, tmp_path: Path) -> None:
    """Tables are written before the state: a kill between them leaves values that no study counts."""
    begun = gf.study(model, TEXTS[:2], tmp_path, metrics=["distance"], values=True, shard=1)
    (begun.folder / "state.npz").unlink()
    study = gf.study(model, TEXTS[:2], tmp_path, metrics=["entropy"])
    assert len(study.table("texts")) == 2
    with pytest.raises(InputError, match=r"no table .values"):
        study.table("values")


def test_a_study_whose_texts_have_all_failed_may_be_changed(model: Any, tmp_path: Path) -> None:
    """As with a language that the model does not know: the folder is not lost."""
    failed = gf.study(model, ["", ""], tmp_path, metrics=["distance"], shard=1)
    assert (failed.texts, failed.failed) == (0, 2)
    study = gf.study(model, TEXTS, tmp_path, metrics=["entropy"])
    assert (study.texts, study.failed) == (len(study.table("texts")) - study.failed, study.failed)
    assert study.table("texts")["text"].to_pylist() == list(range(len(TEXTS)))  # none of the first call
    assert study.frame("heads")["metric"].unique().tolist() == ["entropy"]


def test_wrong_calls_are_refused(model: Any) -> None:
    with pytest.raises(InputError, match="`examples` \\(-1\\) at least 0"):
        gf.study(model, TEXTS, examples=-1)
    with pytest.raises(InputError, match="`texts` has to be a list"):
        gf.study(model, 5)  # type: ignore[arg-type]
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    with pytest.raises(InputError, match=r"is a Table; give the texts of a column, as in texts\['text'\]"):
        gf.study(model, pyarrow.table({"text": TEXTS}))  # which is no iterable
    for code, wrong in {
        "study.single_text": {"texts": "one text"},
        "record.many.table": {"texts": {"text": TEXTS}},
        "study.metrics_not_a_list": {"metrics": "entropy"},
        "study.not_of_heads": {"metrics": ["rollout"]},
        "study.nothing_to_measure": {"metrics": ()},
        "study.live_model": {"jobs": 2},
        "study.no_texts": {"texts": []},
    }.items():
        with pytest.raises(InputError) as error:
            gf.study(**{"model": model, "texts": TEXTS, **wrong})
        assert error.value.message.code == code


WRONG: dict[str, dict[str, Any]] = {
    "recorders.causes.no_loss": {"outcome": gf.Loss()},
    "recorders.causes.no_vectors": {"outcome": gf.Similarity()},
    "recorders.causes.several_tokens": {"outcome": gf.LogProbability("cat dog")},
    "recorders.causes.not_an_outcome": {"outcome": "loss"},
    "recorders.causes.no_edits": {"outcome": gf.LogProbability("cat"), "edits": []},
    "loaded.cannot.classifies": {"outcome": gf.ClassProbability("good")},
    "text.no_language.none": {"target_language": "zz"},
}


@pytest.mark.parametrize("code", WRONG)
def test_what_no_text_could_be_measured_with_is_refused_before_any_is_read(code: str, tmp_path: Path) -> None:
    """A million texts would be refused one by one."""

    def texts() -> Iterator[str]:
        raise AssertionError("a text was read")
        yield ""

    model = gf.load(build(shape="encoder", head="masked"), WORDS)
    with pytest.raises(InputError) as error:
        gf.study(model, texts(), tmp_path / "found", **WRONG[code])
    assert error.value.message.code == code
    assert not (tmp_path / "found").exists()


def test_what_could_not_be_read_is_counted_and_listed(model: Any, tmp_path: Path) -> None:
    """Also by those who did not see the files: in the study itself, and in a pool of studies."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_bytes(b"the cat sees\n\xff\n" + name.encode() + b"\n")
        (tmp_path / name / "b.parquet").write_bytes(b"PAR1 and nothing else")
    studies = [gf.study(model, tmp_path / name, metrics=["entropy"]) for name in ("one", "other")]
    study = gf.open_study(studies[0].folder)
    assert study.left_out == 2
    [line, file] = study.manifest["left_out"]["first"]
    assert line == f"{tmp_path / 'one' / 'a.txt'}:2: byte 1 (0xFF) is not UTF-8"
    assert str(tmp_path / "one" / "b.parquet") in file
    assert str(study).endswith("2 lines or files could not be read as text and were left out")
    pooled = gf.pool_studies(studies, tmp_path / "pooled")
    assert pooled.left_out == 4
    assert pooled.manifest["left_out"]["first"][:2] == [line, file]
    assert gf.study(model, TEXTS, metrics=["entropy"]).left_out == 0


def test_a_study_is_not_among_its_own_texts(model: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the cat sees\n")
    for folder in (tmp_path, tmp_path / "found"):
        with pytest.raises(InputError, match="outside of it"):
            gf.study(model, tmp_path, folder, metrics=["entropy"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert gf.study(model, tmp_path / "a.txt", tmp_path / "found", metrics=["entropy"]).texts == 1


def test_examples_that_exist_are_not_recorded_again(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"model": model, "texts": TEXTS, "folder": tmp_path, "metrics": ["entropy"], "examples": 4}
    gf.study(**call)
    names = sorted(path.name for path in (tmp_path / "examples").iterdir())
    assert names == ["00000.bundle", "00001.bundle", "00003.bundle"]  # the third text is empty
    (tmp_path / "examples" / "00001.bundle").unlink()
    given: list[str] = []

    def watch(model: Any, texts: list[str], **how: Any) -> Any:
        given.extend(texts)
        return gf.record_many(model, texts, **how)

    monkeypatch.setattr(module, "record_many", watch)
    gf.study(**call)
    assert given == [TEXTS[1], TEXTS[2]]
    opened = gf.Recording.open(tmp_path / "examples" / "00001.bundle")
    assert opened.source.text == TEXTS[1]


def test_studies_and_recordings_are_pooled(model: Any, tmp_path: Path) -> None:
    parts = [
        gf.study(model, TEXTS[part], tmp_path / name, metrics=METRICS, values=True)
        for name, part in {"one": slice(0, 5), "two": slice(5, 8)}.items()
    ]
    pooled = gf.pool_studies([parts[0], tmp_path / "two"], tmp_path / "pooled")
    whole = gf.study(model, TEXTS[:8], tmp_path / "whole", metrics=METRICS, values=True)
    assert (pooled.texts, pooled.failed) == (whole.texts, whole.failed) == (7, 1)
    for name in ("value", "mean", "deviation", "most"):
        assert_near(pooled.frame()[name], whole.frame()[name])
    assert pooled.frame("texts")["text"].tolist() == list(range(8))
    for code, wrong in {
        "study.pool_twice": [parts[0], parts[0]],
        "study.nothing_to_pool": [],
        "study.pool_setting": [parts[0], gf.study(model, TEXTS[5:8], metrics=["entropy"])],
    }.items():
        with pytest.raises(InputError) as error:
            gf.pool_studies(wrong, tmp_path / "never")
        assert error.value.message.code == code
    recordings = [recording for _, recording in gf.record_many(model, TEXTS[:8])]
    recordings[0].save(tmp_path / "first.bundle")
    found = gf.study_recordings([tmp_path / "first.bundle", *recordings[1:]], metrics=METRICS)
    assert_near(found.frame()["value"], whole.frame()["value"], layers=2, scores=SHARPEST)


def test_pools_are_pooled_and_no_text_counts_twice(model: Any, tmp_path: Path) -> None:
    one, two, three, four = (
        gf.study(model, [text], metrics=["entropy"])
        for text in ("the cat sees", "a red dog", "big cat", "dog")
    )
    first, second = (
        gf.pool_studies(parts, tmp_path / str(at)) for at, parts in enumerate(((one, two), (three, four)))
    )
    both = gf.pool_studies([first, second], tmp_path / "both")
    assert both.texts == 4
    assert len({each.manifest["digest"] for each in (one, first, second, both)}) == 4
    whole = gf.pool_studies([one, two, three, four], tmp_path / "whole")
    assert_near(both.frame()["value"], whole.frame()["value"])
    for twice in ([first, one], [both, second], [tmp_path / "both", four]):
        with pytest.raises(InputError) as error:
            gf.pool_studies(twice, tmp_path / "never")
        assert error.value.message.code == "study.pool_twice"
    other = gf.study(gf.load(model.network, OTHER_WORDS), ["the dog"], metrics=["entropy"])
    with pytest.raises(InputError, match="another tokenizer"):
        gf.pool_studies([first, other], tmp_path / "never")


def test_tokens_are_those_of_the_longer_side(tmp_path: Path) -> None:
    model = gf.load(build(shape="encoder-decoder"), WORDS)
    pair = ("the cat", "le chat voit le chat")
    study = gf.study(model, [pair], metrics=["entropy"])
    again = gf.study_recordings([gf.record(model, *pair)], metrics=["entropy"])
    assert study.tokens == again.tokens == len(gf.record(model, *pair).target)


@pytest.mark.slow
def test_a_lost_process_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = build_model(tmp_path / "model", "encoder")
    call: Any = {"model": str(model), "texts": tasks.TEXTS, "values": True, "shard": 4}
    here = gf.study(**call)
    monkeypatch.setattr(module, "measure_shard", partial(tasks.measure_or_die, mark=model / tasks.DIED))
    spread = gf.study(**call, jobs=2)
    assert (model / tasks.DIED).exists()
    assert spread.manifest == here.manifest
    for name in ("heads", "texts", "values"):
        assert spread.frame(name).equals(here.frame(name)), name


def test_no_more_than_a_few_shards_wait(model: Any, tmp_path: Path) -> None:
    """Texts are read as they are needed: memory does not grow with them."""
    read = [0]

    def texts() -> Any:
        for text in TEXTS:
            read[0] += 1
            yield text

    ahead = []
    gf.study(
        model, texts(), tmp_path, metrics=["entropy"], shard=2,
        on_progress=lambda progress: ahead.append(read[0] - progress.texts),
    )  # fmt: skip
    assert max(ahead) <= 2


class SlowAtFirst:
    """An engine that finishes its first task last."""

    slots = 2

    def __init__(self) -> None:
        self.tasks: dict[str, Callable[[], Any]] = {}

    def __enter__(self) -> "SlowAtFirst":
        return self

    def __exit__(self, *_: object) -> None: ...

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.tasks)

    def submit(self, key: str, function: Any, *given: Any, resources: Any) -> None:
        self.tasks[key] = lambda: function(*given)

    def wait(self) -> Any:
        if not self.tasks:
            return None
        key = max(self.tasks, key=int)
        return SimpleNamespace(key=key, get=self.tasks.pop(key))


@pytest.mark.slow
def test_shards_that_wait_for_a_slow_one_are_few(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, ahead, given = [0], [], TEXTS * 2

    def texts() -> Any:
        for text in given:
            read[0] += 1
            yield text

    monkeypatch.setattr(workers, "open_engine", lambda *_, **__: SlowAtFirst())
    monkeypatch.setattr(workers, "load", lambda *_, **__: model)
    spread = gf.study(
        "ours", texts(), tmp_path, metrics=["entropy"], shard=1, jobs=2,
        on_progress=lambda progress: ahead.append(read[0] - progress.texts),
    )  # fmt: skip
    assert max(ahead) <= 2 * SlowAtFirst.slots
    assert as_bytes(spread) == as_bytes(gf.study(model, given, metrics=["entropy"], shard=1))


def test_reading_ahead_for_a_gpu_changes_nothing() -> None:
    model = gf.load(build(shape="encoder"), WORDS)
    texts = [f"the {word} dog sees the cat" for word in ("big", "red", "", "cat", "dog")]
    shards = [(number, [(number, text)]) for number, text in enumerate(texts)]
    inside = module._InProcess(model, Settings(choose_metrics(None)))
    ahead = list(inside._measure_ahead(model, iter(shards)))
    assert [number for number, _ in ahead] == list(range(5))
    for (_, one), (_, other) in zip(ahead, inside.measure(iter(shards)), strict=True):
        assert one.rows == other.rows
        assert one.state.heads is not None
        assert other.state.heads is not None
        for name, array in one.state.heads.arrays().items():
            np.testing.assert_array_equal(array, other.state.heads.arrays()[name])


def test_an_error_while_reading_ahead_ends_the_study() -> None:
    model = gf.load(build(shape="encoder"), WORDS)
    inside = module._InProcess(model, Settings(choose_metrics(None)))

    def fail() -> Iterator[Any]:
        yield 0, [(0, "the cat")]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        list(inside._measure_ahead(model, fail()))


def test_pictures_count_their_patches() -> None:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    pictures = hf.ViTModel(hf.ViTConfig(**sizes, image_size=8, patch_size=4)).eval()
    study = gf.study(pictures, [{"pixel_values": torch.full((1, 3, 8, 8), shade)} for shade in (0.1, 0.9)])
    assert (study.texts, study.tokens) == (2, 2 * (1 + 4))
    assert study.frame()["value"].notna().any()
