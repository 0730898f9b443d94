"""`score` against gold data: the numbers of the library, on files that people annotated."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cli.conftest import Command
from glassformer import load, score
from glassformer.config import ModelConfig
from glassformer.metrics import pool
from glassformer.metrics.dependencies import find_offset_baseline, table_relations
from glassformer.metrics.gold import read_alignments, read_conllu
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_bytes
from glassformer.weights.checkpoint import save_checkpoint

GOLD = Path(__file__).parents[3] / "shared" / "data" / "gold"
needs_gold = pytest.mark.skipif(not GOLD.exists(), reason="the gold data are not beside the repository")

SOURCES = ["the animal was tired", "too tired to cross", "the the the the the street"]
TARGETS = ["was the animal tired", "the street", "street"]
LINKS = ["0-1 1-2 2-0 3-3", "1-0 2p1", "5-0"]
TREES = """# sent_id = one
1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_
2\tanimal\t_\tNOUN\t_\t_\t4\tnsubj\t_\t_
3\twas\t_\tAUX\t_\t_\t4\tcop\t_\t_
4\ttired\t_\tADJ\t_\t_\t0\troot\t_\t_

1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_
2\tstreet\t_\tNOUN\t_\t_\t0\troot\t_\t_

1\ttired\t_\tADJ\t_\t_\t0\troot\t_\t_
"""


@pytest.fixture
def links(tmp_path: Path) -> tuple[Path, Path, Path]:
    files = []
    for name, lines in (("links", LINKS), ("sources", SOURCES), ("targets", TARGETS)):
        files.append(tmp_path / name)
        files[-1].write_text("".join(f"{number}\t{line}\n" for number, line in enumerate(lines)))
    return files[0], files[1], files[2]


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.conllu"
    path.write_text(TREES + "\n")
    return path


@pytest.fixture
def encoder(build: Callable[..., Path]) -> Path:
    return build("encoder", "masked")


@pytest.mark.parametrize("reading", ["entered", "written"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.slow
def test_links_are_scored_as_the_library_does(
    translator: Path, links: tuple[Path, Path, Path], run: Command, reverse: bool, reading: str
) -> None:
    words = ["score", translator, "--links", *links, "--set", f"reading={reading}"]
    words += ["--reverse"] if reverse else []
    told = json.loads(run(*words, "--json"))
    subject = load(translator)
    scores = []
    for pair in read_alignments(*links):
        pair = pair.swapped() if reverse else pair
        recording = subject.record(" ".join(pair.source), " ".join(pair.target))
        scores.append(score(recording, "alignment_error", gold=pair, reading=reading))
    values = pool(scores).part(layer=1, kind="cross").values.tolist()
    [error] = [each for each in told["scores"] if each["metric"] == "alignment_error"]
    assert [part["place"]["kind"] for part in error["parts"]] == ["cross", "cross"]
    assert error["parts"][1]["values"] == pytest.approx(values)
    assert told["pairs"] == 3
    lowest = min(value for part in error["parts"] for value in part["values"])
    assert told["best"]["alignment_error"] == pytest.approx(lowest)
    table = run(*words).splitlines()
    assert f"{lowest:.3f}" in next(line for line in table if line.startswith("best: layer"))
    assert f"{told['diagonal']['alignment_error']:.3f}" in next(line for line in table if "diagonal" in line)
    lines = list(csv.DictReader(run(*words, "--csv").splitlines()))
    assert len(lines) == 3 * 2 * 2  # rates, layers, heads


def test_a_diagonal_on_paper(translator: Path, links: tuple[Path, Path, Path], run: Command) -> None:
    # Pair 0 only: four links found, one of four sure links among them.
    told = json.loads(run("score", translator, "--links", *links, "--most", 1, "--json"))
    assert told["diagonal"] == {
        "alignment_error": pytest.approx(1 - 2 / 8),
        "alignment_precision": pytest.approx(1 / 4),
        "alignment_recall": pytest.approx(1 / 4),
    }
    assert told["pairs"] == 1
    short = json.loads(run("score", translator, "--links", *links, "--longest", 4, "--json"))
    assert (short["pairs"], short["longest"]) == (2, 4)


def test_trees_are_scored_as_the_library_does(encoder: Path, trees: Path, run: Command) -> None:
    sentences = [each for each in read_conllu(trees) if len(each.words) > 1]
    subject = load(encoder)
    rows = table_relations((subject.record(" ".join(each.forms)), each) for each in sentences)
    told = json.loads(run("score", encoder, "--trees", trees, "--json"))
    assert (told["sentences"], told["direction"]) == (2, "head")
    assert [each["relation"] for each in told["relations"]] == [row.relation for row in rows]
    first = told["relations"][0]
    assert (first["relation"], first["count"]) == ("all", 4)
    assert (first["offset"], first["baseline"]) == find_offset_baseline(sentences)
    assert first["accuracy"] == pytest.approx(rows[0].accuracy)
    printed = run("score", encoder, "--trees", trees).splitlines()
    assert printed[1].split()[:2] == ["all", "4"]
    assert "2 sentences of at most 25 words" in printed[-2]
    lines = list(csv.DictReader(run("score", encoder, "--trees", trees, "--csv").splitlines()))
    assert [line["relation"] for line in lines] == [row.relation for row in rows]
    other = json.loads(run("score", encoder, "--trees", trees, "--set", "direction=dependent", "--json"))
    assert other["relations"][0]["count"] == 3  # animal, tired and street have dependents


def test_what_does_not_go_together_is_said(
    encoder: Path, translator: Path, links: tuple[Path, Path, Path], trees: Path, complain: Command
) -> None:
    gold = ("--links", *links)
    assert "one stack" in complain("score", encoder, *gold)
    assert "one of --links and --trees" in complain("score", translator, *gold, "--trees", trees)
    assert "Leave texts" in complain("score", translator, "entropy", *gold)
    assert "Only reading can be set" in complain("score", translator, *gold, "--set", "threshold=1")
    assert "neither head nor dependent" in complain(
        "score", encoder, "--trees", trees, "--set", "direction=up"
    )
    assert "--most 0 leaves no sentence" in complain("score", encoder, "--trees", trees, "--most", 0)
    assert "no sentence of 2 to 1 words" in complain("score", encoder, "--trees", trees, "--longest", 1)
    assert "cannot be read" in complain("score", encoder, "--trees", trees.with_name("none"))
    assert "None of 3 pairs" in complain("score", translator, *gold, "--longest", 1)
    trees.write_text("1\tonly\n")
    assert "line 1: There are 2 columns" in complain("score", encoder, "--trees", trees)


@needs_gold
def test_gold_data_of_whole_books(tmp_path: Path, run: Command) -> None:
    tokenizer = build_bytes()
    torch.manual_seed(0)
    size = {"layers": 1, "width": 16, "heads": 2, "feed_forward": 16, "vocabulary_size": tokenizer.size}
    roles = {f"{role}_id": tokenizer.roles[role] for role in ("padding", "end")}  # type: ignore[index]
    folder, stories = tmp_path / "bytes", GOLD / "alibi_fr-en" / "LaBarbeBleue_BlueBeard"
    config = ModelConfig(**size, **roles, start_id=roles["end_id"])  # type: ignore[arg-type]
    save_checkpoint(Transformer(config), folder, tokenizer)
    files = ("ali_w2w_LaBarbeBleue_BlueBeard.txt", "LaBarbeBleue_sents.txt", "BlueBeard_sents.txt")
    paths = [stories / file for file in files]
    told = json.loads(run("score", folder, "--links", *paths, "--reverse", "--most", 4, "--json"))
    assert told["pairs"] == 4
    assert 0 < told["diagonal"]["alignment_error"] < told["best"]["alignment_error"] < 1
    shape = ModelConfig(**size, **roles, shape="encoder")  # type: ignore[arg-type]
    save_checkpoint(Transformer(shape), tmp_path / "encoder", tokenizer)
    trees = GOLD / "en_ewt-ud-dev.conllu.gz"
    told = json.loads(run("score", tmp_path / "encoder", "--trees", trees, "--most", 5, "--json"))
    assert told["sentences"] == 5
    assert all(0 <= row["accuracy"] <= 1 for row in told["relations"])
