"""`glassformer show`."""

from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer.cli import main


def test_show_draws_the_head_that_is_asked_for(file: Path, run: Command) -> None:
    printed = run("show", file, "--layer", 1, "--head", 0)
    assert "decoder layer 1, self, head 0" in printed
    assert "Evidence:" in printed


def test_a_map_is_named_by_its_address(file: Path, run: Command, complain: Command) -> None:
    printed = run("show", file, "--place", "decoder.self.1", "--head", 0)
    assert "decoder layer 1, self, head 0" in printed
    assert run("show", file, "--part", "decoder", "--layer", 1, "--head", 0) == printed  # as before
    assert "encoder layer 0, self" in complain("show", file, "--place", "encoder.self.0")
    assert "'decoder.1'" in complain("show", file, "--place", "decoder.1")
    assert "Leave out --layer" in complain("show", file, "--place", "decoder.self.1", "--layer", 1)


def test_the_option_before_places_warns(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(file), "--part", "decoder"]) == 0
    assert "Write `--place decoder.cross.2`" in capsys.readouterr().err


def test_studies_and_atlases_are_summed_up(decoder: Path, run: Command, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("the animal was tired\n")
    run("study", decoder, tmp_path / "texts.txt", "--output", tmp_path / "found", "--metric", "entropy")
    printed = run("show", tmp_path / "found")
    assert printed.startswith("1 text (5 tokens)")
    assert f"glassformer study --show {tmp_path / 'found'}" in printed
    assert run("show", "zoo/gpt2").startswith("Atlas of zoo/gpt2: 48 heads")


def test_show_refuses_what_is_no_bundle(decoder: Path, tmp_path: Path, complain: Command) -> None:
    (tmp_path / "text.bundle").write_text("no bundle at all")
    for verb in ("show", "serve"):
        assert "text.bundle is no Glassformer recording" in complain(verb, tmp_path / "text.bundle")
    complain("show", tmp_path / "missing.bundle")
