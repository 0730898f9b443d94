"""`atlas`: texts in, a folder with atlas.json out."""

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from cli.conftest import Command
from glassformer import open_atlas
from glassformer.cli.verbs.atlas import _read_pairs
from known_heads import WORDS, build_known, write_texts
from tiny_models import build_model


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n\n".join(write_texts(12)), encoding="utf-8")
    return path


def test_a_folder_is_written_and_summed_up(texts: Path, run: Command, tmp_path: Path) -> None:
    from glassformer.weights.checkpoint import save_checkpoint

    model = build_known("encoder")[0]
    save_checkpoint(model.network, tmp_path / "model", WORDS)
    output = tmp_path / "atlas"
    printed = run("atlas", tmp_path / "model", texts, "--output", output, "--limit", "9", "--costs", "0")
    atlas = open_atlas(output)
    assert (atlas.body.corpus.texts, atlas.body.corpus.name) == (9, "texts.txt")
    assert str(atlas) in printed
    assert atlas.heads[0].type == "next_token"


def test_a_folder_of_tables_is_read_and_damaged_lines_are_listed(run: Command, tmp_path: Path) -> None:
    from glassformer.weights.checkpoint import save_checkpoint

    model = build_known("encoder")[0]
    save_checkpoint(model.network, tmp_path / "model", WORDS)
    folder = tmp_path / "texts"
    folder.mkdir()
    texts = write_texts(12)
    parquet.write_table(pyarrow.table({"label": ["x"] * 8, "text": texts[:8]}), folder / "a.parquet")
    rows = ["label\ttext", *(f"x\t{text}" for text in texts[8:]), "x"]
    (folder / "b.tsv").write_text("\n".join(rows), encoding="utf-8")
    output = tmp_path / "atlas"
    printed = run("atlas", tmp_path / "model", folder, "--column", "text", "--output", output, "--costs", "0")
    assert (open_atlas(output).body.corpus.texts, open_atlas(output).body.corpus.name) == (12, "texts")
    assert "b.tsv:6" in printed


def test_damaged_trees_are_listed_and_the_others_read(
    run: Command, complain: Command, tmp_path: Path
) -> None:
    model, trees = build_model(tmp_path / "model", "decoder"), tmp_path / "trees.conllu"
    tree = "1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tstreet\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    trees.write_text(tree * 4 + tree.replace("\t", " ") + tree * 5, encoding="utf-8")
    printed = run("atlas", model, "--trees", trees, "--output", tmp_path / "atlas", "--costs", "0")
    assert "over 9 texts" in printed
    assert "trees.conllu:13" in printed
    trees.write_text("the street\n", encoding="utf-8")
    assert "trees.conllu:1" in complain("atlas", model, "--trees", trees, "--output", tmp_path / "other")


def test_refusals(texts: Path, complain: Command, tmp_path: Path) -> None:
    assert "--trees" in complain("atlas", "zoo/bert", "--output", tmp_path / "atlas")
    assert "--limit is 0" in complain(
        "atlas", "zoo/bert", texts, "--output", tmp_path / "atlas", "--limit", "0"
    )
    pairs = ("atlas", "zoo/bert", "--pairs", texts, "--output", tmp_path / "atlas")
    assert "line 1" in complain(*pairs)
    for option in (("--column", "text"), ("--parallel", texts)):
        assert "none was given" in complain(*pairs, *option)


def test_pairs_are_separated_by_tabs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a cat\tun chat\n\nb\tc\n", encoding="utf-8")
    assert list(_read_pairs(path)) == [("a cat", "un chat"), ("b", "c")]
