"""`glassformer show`."""

from pathlib import Path

from cli.conftest import Command


def test_show_draws_the_head_that_is_asked_for(file: Path, run: Command) -> None:
    printed = run("show", file, "--layer", 1, "--head", 0)
    assert "decoder layer 1, self, head 0" in printed
    assert "Evidence:" in printed


def test_show_refuses_what_is_no_bundle(decoder: Path, tmp_path: Path, complain: Command) -> None:
    (tmp_path / "text.bundle").write_text("no bundle at all")
    for verb in ("show", "serve"):
        assert "text.bundle cannot be read as a bundle: it says" in complain(verb, tmp_path / "text.bundle")
    complain("show", tmp_path / "missing.bundle")
