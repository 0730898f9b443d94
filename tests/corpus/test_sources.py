from pathlib import Path

import pytest

from glassformer.corpus.sources import TextFiles
from glassformer.errors import InputError

TREE = "# text = cats sleep\n1\tcats\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def test_texts_of_many_formats(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    from pyarrow import parquet

    (tmp_path / "a.txt").write_bytes(b"one\n\xff\ntwo\n")
    (tmp_path / "b.tsv").write_text("text\tlabel\nthree\tx\n")
    (tmp_path / "c.conllu").write_text(TREE + "broken\n")
    parquet.write_table(pyarrow.table({"label": ["x"], "text": ["four"]}), tmp_path / "d.parquet")
    texts = TextFiles(tmp_path / "a.txt")
    assert list(texts) == list(texts) == ["one", "two"]  # each iteration reads anew
    assert texts.problems.count == 1
    assert texts.count() == 2
    assert list(TextFiles(tmp_path / "d.parquet", ("text",))) == ["four"]
    assert list(TextFiles(tmp_path / "b.tsv", ("text", "label"))) == [("three", "x")]
    assert list(TextFiles(tmp_path / "b.tsv")) == ["three"]  # by its words, the first row is a header
    assert list(TextFiles(tmp_path / "b.tsv", header=False)) == ["text", "three"]
    trees = TextFiles(tmp_path / "c.conllu")
    assert list(trees) == ["cats sleep"]
    [tree] = TextFiles(tmp_path / "c.conllu", trees=True)
    assert (tree.text, tree.forms) == ("cats sleep", ("cats", "sleep"))
    assert trees.problems.count == 1


def test_a_damaged_sentence_is_the_only_one_left_out(tmp_path: Path) -> None:
    damaged = (
        b"# text = bad\n1\tbad\n\n",
        b"1\t\xff\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
        TREE.replace("2\tn", "9\tn").encode(),
    )
    tree = TREE.encode()
    (tmp_path / "trees.conllu").write_bytes(tree + b"".join(each + tree for each in damaged))
    texts = TextFiles(tmp_path / "trees.conllu")
    assert list(texts) == ["cats sleep"] * 4
    assert texts.problems.count == 3
    assert [each.line for each in texts.problems.first] == [6, 12, 19]


def test_folders_and_parallel_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.txt").write_text("two\n")
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "picture.png").write_bytes(b"\x89")
    assert list(TextFiles(tmp_path)) == ["one", "two"]
    assert list(TextFiles(tmp_path / "a.txt", parallel=tmp_path / "in" / "b.txt")) == [("one", "two")]


def test_files_of_other_formats_are_named_once(tmp_path: Path) -> None:
    for name in ("a.txt", "b.md", "c.docx", ".DS_Store", "d.jpg", "e.html"):
        (tmp_path / name).write_text("one\n")
    texts = TextFiles(tmp_path)
    assert list(texts) == list(texts) == ["one"]
    [remark] = texts.problems.notes()
    assert (
        str(remark)
        == f"4 files in {tmp_path} were not read, of no known format, such as b.md, c.docx and d.jpg"
    )


def test_no_more_texts_than_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n\xff\nthree\n")
    texts = TextFiles(tmp_path / "a.txt", limit=2)
    assert list(texts) == ["one", "two"]
    assert (texts.count(), texts.problems.count) == (2, 0)  # what was not read is not damaged
    assert list(TextFiles(tmp_path / "a.txt", limit=9)) == ["one", "two", "three"]
    with pytest.raises(InputError, match="at least 1"):
        TextFiles(tmp_path / "a.txt", limit=0)


def test_a_damaged_file_of_a_folder_is_the_only_one_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing else")
    (tmp_path / "c.txt.gz").write_bytes(b"\x1f\x8b damaged")
    (tmp_path / "d.txt").write_text("two\n")
    texts = TextFiles(tmp_path)
    assert list(texts) == ["one", "two"]
    assert [each.path.name for each in texts.problems.first] == ["b.parquet", "c.txt.gz"]
    said = "\n".join(map(str, texts.problems.notes()))
    assert said.startswith("What could not be read was left out (2):")
    assert said.count(str(tmp_path / "b.parquet")) == 1
    assert ".." not in said.replace(str(tmp_path), "")
    with pytest.raises(InputError) as error:  # nothing is left: it says why
        list(TextFiles(tmp_path / "b.parquet"))
    assert error.value.message.code == "text.bad_arrow"


def test_refusals(tmp_path: Path) -> None:
    for code, wrong in {
        "study.no_file": (tmp_path / "none.txt",),
        "study.columns": (tmp_path, (0, 1, 2)),
    }.items():
        with pytest.raises(InputError) as error:
            TextFiles(*wrong)
        assert error.value.message.code == code
    with pytest.raises(InputError) as error:
        list(TextFiles(tmp_path))
    assert error.value.message.code == "study.no_files"
