"""`record --texts`: many texts, one bundle each, and going on after a stop."""

from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import bundle

TEXTS = "the animal was tired\n\nto cross the street\nthe animal\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text(TEXTS)
    return path


def test_every_line_becomes_a_bundle(decoder: Path, texts: Path, tmp_path: Path, run: Command) -> None:
    printed = run("record", decoder, "--texts", texts, "--output", tmp_path / "out")
    assert "3 recorded" in printed
    files = sorted((tmp_path / "out").iterdir())
    assert [path.name[:5] for path in files] == ["00001", "00003", "00004"]
    assert [bundle.open(path).source.text for path in files] == TEXTS.split("\n")[:1] + TEXTS.split("\n")[2:4]


def test_only_a_line_feed_ends_a_line(decoder: Path, tmp_path: Path, run: Command) -> None:
    """Not what Unicode calls a line separator, a form feed or a next line: they are part of a text."""
    texts = tmp_path / "texts.txt"
    lines = ["the\u2028animal", "was\x0b\x0c\x1c\x85tired", "to cross"]
    texts.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert "3 recorded" in run("record", decoder, "--texts", texts, "--output", tmp_path / "out")
    found = [bundle.open(path).source.text for path in sorted((tmp_path / "out").iterdir())]
    assert found == lines


def test_it_goes_on_where_it_was(decoder: Path, texts: Path, tmp_path: Path, run: Command) -> None:
    folder = tmp_path / "out"
    run("record", decoder, "--texts", texts, "--output", folder)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    last = sorted(before)[-1]
    (folder / last).unlink()
    assert "1 recorded" in run("record", decoder, "--texts", texts, "--output", folder)
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert set(after) == set(before)
    assert all(after[name] == before[name] for name in before if name != last)


def test_a_changed_text_is_recorded_anew(decoder: Path, texts: Path, tmp_path: Path, run: Command) -> None:
    folder = tmp_path / "out"
    run("record", decoder, "--texts", texts, "--output", folder)
    texts.write_text(TEXTS.replace("the animal\n", "the street\n"))
    assert "1 recorded" in run("record", decoder, "--texts", texts, "--output", folder)


def test_a_line_that_fails_is_named_and_the_others_go_on(
    decoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from glassformer import cli

    texts = tmp_path / "texts.txt"
    texts.write_text("the animal\n" + "the animal " * 40 + "\nthe street\n")
    assert cli.main(["record", str(decoder), "--texts", str(texts), "--output", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert "2 recorded" in printed.out
    assert "line 2" in printed.err
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_refusals(decoder: Path, texts: Path, tmp_path: Path, complain: Command) -> None:
    assert "--output FOLDER" in complain("record", decoder, "--texts", texts)
    assert "beside --texts" in complain(
        "record", decoder, "a text", "--texts", texts, "--output", tmp_path / "o"
    )
    assert "is a file" in complain("record", decoder, "--texts", texts, "--output", texts)
    (tmp_path / "empty.txt").write_text("\n\n")
    assert "no text" in complain(
        "record", decoder, "--texts", tmp_path / "empty.txt", "--output", tmp_path / "o"
    )
