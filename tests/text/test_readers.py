"""Readers: every format, every way to be broken, each with its file and line, and nothing passed over."""

import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.text.files import Problems
from glassformer.text.readers import (
    read_labelled_folders,
    read_numbered_rows,
    read_parallel,
    read_rows,
)
from glassformer.text.table import TableFormat

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data of recipes is not here")

Cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(str.strip)


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def skip(path: Path, columns: tuple[int | str, ...]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Rows that could be read, and what was said about the others."""
    problems = Problems("skip")
    rows = list(read_rows(path, columns, problems))
    return rows, [str(problem).removeprefix(str(path)) for problem in problems.first]


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
def test_plain_and_packed_files_read_the_same(tmp_path: Path, packed: str) -> None:
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[packed]
    path = write(tmp_path / f"pairs.tsv{packed}", pack(b"one\tun\ntwo\tdeux\n"))
    assert list(read_rows(path, (1, 0), Problems())) == [("un", "one"), ("deux", "two")]


BROKEN = [
    (
        "a.tsv",
        b"x\ty\nx\ny\tz\n",
        (0, 1),
        [("x", "y"), ("y", "z")],
        ":2: 1 columns; the first row has 2",
    ),
    ("a.tsv", b"\nx\ty\n", (0, 1), [("x", "y")], ":1: the line is empty"),
    ("a.tsv", b"x\ty\nx\ty\tz\n", (0, 1), [("x", "y")], ":2: 3 columns; the first row has 2"),
    ("a.tsv", b"x\ty\nx\t \n", (0, 1), [("x", "y")], ":2: column 1 is empty"),
    ("a.tsv", b"x\ty\nx\t\xff\n", (0, 1), [("x", "y")], ":2: byte 3 (0xFF) is not UTF-8"),
    ("a.txt", "xy".encode("utf-16-le"), (0,), [], ":1: the line contains zero bytes"),
    ("a.csv", b'x,y\n"x"z,y\na,b\n', (0, 1), [("x", "y"), ("a", "b")], ":2: not CSV"),
    (
        "a.csv",
        b'x,y\na,b\n"x,\ny\n',
        (0, 1),
        [("x", "y"), ("a", "b")],
        ":3: not CSV (unexpected end of data)",
    ),
    ("a.csv", b"x,y\n\na,b\n", (0, 1), [("x", "y"), ("a", "b")], ":2: 0 columns"),
    ("a.jsonl", b'{"t": "x"}\n{"t": \n', ("t",), [("x",)], ":2: not JSON"),
    ("a.jsonl", b'{"t": "x"}\n' + b"[" * 100_000 + b"\n", ("t",), [("x",)], ":2: not JSON"),
    (
        "a.jsonl",
        b'{"t": "x"}\n{"t": "\\ud800"}\n',
        ("t",),
        [("x",)],
        ":2: the field 't' contains half a character",
    ),
    ("a.jsonl", b'{"t": 3}\n[1]\n', ("t",), [("3",)], ":2: a list; expected an object"),
    (
        "a.jsonl",
        b'{"t": "x"}\n{"u": "y"}\n',
        ("t",),
        [("x",)],
        ":2: there is no field 't'; the fields are u",
    ),
    ("a.txt.gz", gzip.compress(b"x\n" * 9, mtime=0)[:-9], (0,), None, "the file cannot be read from here on"),
    ("a.txt.gz", b"no archive", (0,), [], ":1: the file cannot be read from here on"),
    ("a.txt.xz", lzma.compress(b"x\n")[:-20], (0,), None, "the file cannot be read from here on"),
]


@pytest.mark.parametrize(("name", "content", "columns", "rows", "reason"), BROKEN)
def test_a_broken_line_is_named_and_skipped_or_refused(
    tmp_path: Path,
    name: str,
    content: bytes,
    columns: tuple[int | str, ...],
    rows: list[tuple[str, ...]] | None,
    reason: str,
) -> None:
    path = write(tmp_path / name, content)
    found, reasons = skip(path, columns)
    assert rows is None or found == rows
    assert len(reasons) == 1
    assert reason in reasons[0]
    with pytest.raises(InputError, match="Fix it, or set on_error") as refused:
        list(read_rows(path, columns, Problems("refuse")))
    assert str(path) in str(refused.value)
    assert reason in str(refused.value)


def test_blank_lines_of_plain_text_stand_between_paragraphs(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x\n\n \t\ny\n")
    assert list(read_numbered_rows(path, (0,), Problems("refuse"))) == [(1, ("x",)), (4, ("y",))]


def test_columns_go_by_the_names_of_a_header(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", 'label,text\nbad,"a, b\nc"\n')
    assert list(read_rows(table, ("text", "label"), Problems())) == [("a, b\nc", "bad")]
    with pytest.raises(InputError, match=r"no column 'txt' in its first row. Did you mean 'text'"):
        list(read_rows(table, ("txt",), Problems()))
    with pytest.raises(InputError, match="has 2 columns, so there is no column 2"):
        list(read_rows(table, (2,), Problems()))
    for name, between in (("a.tsv", "tab"), ("b.csv", "comma")):
        spaces = write(tmp_path / name, "a cat  un chat\n")
        said = rf"has 1 column, so there is no column 1; columns count from 0\. Is a {between} missing"
        with pytest.raises(InputError, match=said):
            list(read_rows(spaces, (0, 1), Problems()))


def test_what_is_no_such_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot read .*absent.tsv: No such file"):
        list(read_rows(tmp_path / "absent.tsv", (0,), Problems("skip")))
    with pytest.raises(InputError, match=r"a format that cannot be read. Did you mean 'jsonl'"):
        list(read_rows(tmp_path / "a.json", (0,), Problems()))
    with pytest.raises(InputError, match="plain text and has one column"):
        list(read_rows(write(tmp_path / "a.txt", "x"), (0, 1), Problems()))


@given(st.lists(st.tuples(Cells, Cells), min_size=1, max_size=5))
def test_csv_and_json_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    table = io.StringIO(newline="")
    csv.writer(table).writerows(rows)
    assert list(read_rows(write(folder / "a.csv", table.getvalue()), (0, 1), Problems())) == rows
    lines = "".join(json.dumps({"a": one, "b": two}) + "\n" for one, two in rows)
    assert list(read_rows(write(folder / "a.jsonl", lines), ("a", "b"), Problems())) == rows


def test_parallel_files_stay_in_step(tmp_path: Path) -> None:
    english = write(tmp_path / "a.en", b"one\ntwo\n\xff\nfour\n\nsix\n")
    french = write(tmp_path / "a.fr", b"un\n\ntrois\nquatre\ncinq\n")
    problems = Problems("skip")
    assert list(read_parallel(english, french, problems)) == [("one", "un"), ("four", "quatre")]
    reasons = [(problem.path.name, problem.line) for problem in problems.first]
    assert reasons == [("a.fr", 2), ("a.en", 3), ("a.en", 5), ("a.fr", 6)]
    assert "the file ends before" in str(problems.first[-1].reason)
    with pytest.raises(InputError, match=r"a.fr:2: the line is empty"):
        list(read_parallel(english, french, Problems()))


def test_folders_named_after_labels_are_read(tmp_path: Path) -> None:
    for name, text in {
        "pos/1": "good<br /><br />film",
        "pos/0": "fine",
        "neg/7": "bad",
        "unsup/1": "what",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / f"{name}.txt", text)
    write(tmp_path / "neg" / "8.txt", " ")
    problems = Problems("skip")
    rows = list(read_labelled_folders(tmp_path, problems))
    assert rows == [("neg", "bad"), ("pos", "fine"), ("pos", "good\n\nfilm")]
    assert [str(problem) for problem in problems.first] == [
        f"{tmp_path / 'neg' / '8.txt'}: the file is empty"
    ]
    with pytest.raises(InputError, match="no folders named after labels"):
        list(read_labelled_folders(tmp_path / "pos", Problems()))


@needs_data
def test_real_data_is_read_without_a_broken_line() -> None:
    problems = Problems("refuse")
    assert len(list(read_rows(DATA / "translation" / "en-zh" / "dev.tsv.gz", (0, 1), problems))) == 610
    assert len(list(read_rows(DATA / "benchmark-only" / "multi30k" / "val.tsv.gz", (0, 2), problems))) == 1014


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_header_is_known_by_its_words_and_that_is_said(tmp_path: Path, name: str) -> None:
    between = "\t" if name == "a.tsv" else ","
    lines = [("Label", "text"), ("good", "fine"), ("bad", "dull")]
    path = write(tmp_path / name, "".join(between.join(line) + "\n" for line in lines))
    problems = Problems()
    assert list(read_rows(path, (0, 1), problems)) == lines[1:]
    assert [str(note) for note in problems.notes()] == [
        f"The first row of {path} (Label, text) was taken for a header. If it is data: --no-header, "
        "header=False of TextFiles, or header = false in [task] of a recipe."
    ]
    assert list(read_rows(path, (0, 1), Problems(), TableFormat(header=False))) == lines
    assert list(read_rows(path, (1,), Problems(), TableFormat(header=True))) == [("fine",), ("dull",)]
    with pytest.raises(InputError, match=r"has no header .* no column 'text'; give its number"):
        list(read_rows(path, ("text",), Problems(), TableFormat(header=False)))


def test_data_is_no_header(tmp_path: Path) -> None:
    for row in (("good", "text"), ("label", "a fine film"), ("text", "text"), ("en", "bonjour")):
        path = write(tmp_path / "a.tsv", "\t".join(row) + "\n")
        assert list(read_rows(path, (0, 1), Problems())) == [row]
    path = write(tmp_path / "a.tsv", "it\tes\nciao\thola\n")
    table = TableFormat(names=("it", "es"))
    assert list(read_rows(path, (0, 1), Problems(), table)) == [("ciao", "hola")]


def test_a_wrong_column_names_those_there_are(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "label,text\nbad,x\n")
    with pytest.raises(InputError, match=r"no column 2; columns count from 0. Its first row: label, text."):
        list(read_rows(table, (2,), Problems()))
    lines = write(tmp_path / "a.jsonl", '{"label": "bad", "text": "x"}\n')
    assert list(read_rows(lines, (1, 0), Problems())) == [("x", "bad")]  # by number, as in a table
    with pytest.raises(InputError, match=r"there is no field 'txt'; the fields are label, text"):
        list(read_rows(lines, ("txt",), Problems()))
    with pytest.raises(InputError, match=r"has 2 columns, so there is no column 5.*label, text"):
        list(read_rows(lines, (5,), Problems()))


def test_quotation_marks_of_a_tsv_file_are_characters_unless_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'good\t"Who, ""me""?"\n')
    assert list(read_rows(path, (1,), Problems())) == [('"Who, ""me""?"',)]
    assert list(read_rows(path, (1,), Problems(), TableFormat(quotes=True))) == [('Who, "me"?',)]
    plain = write(tmp_path / "a.csv", 'good,"fine"\n')
    assert list(read_rows(plain, (1,), Problems(), TableFormat(quotes=False))) == [('"fine"',)]


def test_parquet_is_read_by_name_and_number(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    feature = {"label": {"names": ["bad", "good"], "_type": "ClassLabel"}}
    table = arrow.table({"text": ["one", "two", None] * 900, "label": [0, 1, 1] * 900, "x": [0.5] * 2700})
    table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": feature}})})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, row_group_size=1000)
    found, reasons = skip(path, ("label", 0))
    assert found == [("bad", "one"), ("good", "two")] * 900
    assert reasons[0] == ":3: the field 'text' is None; expected text"
    with pytest.raises(InputError, match=r"no column 'txt' .* Did you mean 'text'"):
        list(read_rows(path, ("txt",), Problems()))
    with pytest.raises(InputError, match=r"3 columns, so there is no column 3; .* text, label, x"):
        list(read_rows(path, (3,), Problems()))
    with pytest.raises(InputError, match="cannot be read: "):
        list(read_rows(write(tmp_path / "b.parquet", b"no such thing"), (0,), Problems()))
    with pytest.raises(InputError, match=r"Cannot read .*absent.parquet"):
        list(read_rows(tmp_path / "absent.parquet", (0,), Problems()))
