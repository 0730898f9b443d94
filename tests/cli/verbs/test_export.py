"""`glassformer export`."""

from pathlib import Path

import pytest

from atlases.invented import invent_atlas
from cli.conftest import Command
from glassformer import cli
from glassformer.render.html.export import EMBEDDED
from glassformer.runlog import RunWriter
from glassformer.studies.files import FORMAT
from glassformer.studies.study import State, finish_study

built = pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")


@built
def test_export_writes_beside_the_bundle(file: Path, run: Command) -> None:
    printed = run("export", file)
    page = file.with_suffix(".html")
    assert str(page) in printed
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@built
def test_export_wants_html(file: Path, tmp_path: Path, complain: Command) -> None:
    assert "Expected .html" in complain("export", file, tmp_path / "page.pdf")


@built
def test_export_says_what_the_recording_lacks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", str(file), "--hidden", "--vectors"]) == 0
    said = capsys.readouterr().err
    assert "has no hidden states, so --hidden adds nothing" in said
    assert "has no queries, keys and values, so --vectors adds nothing" in said


def test_a_study_is_refused(tmp_path: Path, complain: Command) -> None:
    about = {"format": FORMAT, "model": "m", "model_hash": "", "settings": {}}
    finish_study(tmp_path, about, State(texts=1))
    assert "is a study: tables without maps" in complain("export", tmp_path, tmp_path / "page.html")


@built
def test_a_run_is_exported(tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RunWriter(tmp_path / "runs" / "first") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 6))
    assert "first.html" in run("export", Path("runs") / "first", "--megabytes", "1")
    assert (tmp_path / "first.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@built
@pytest.mark.slow
def test_an_atlas_is_exported_and_drawn(
    tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    invent_atlas(layers=1, heads=2).save(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert "mine.html" in run("export", tmp_path / "mine")
    assert (tmp_path / "mine.html").is_file()
    run("figure", tmp_path / "mine", tmp_path / "mine.svg", "--metric", "induction")
    assert (tmp_path / "mine.svg").is_file()
