"""`show`, `export`, `figure`, `doctor` and `completion`."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer import bundle, cli, record
from glassformer.api.settings import Settings
from glassformer.render.html.export import EMBEDDED

TEXT = "the animal was too tired to cross the street"

Command = Callable[..., str]

built = pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")


@pytest.fixture
def file(decoder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "one.bundle"
    bundle.save(record(decoder, TEXT), path)
    return path


def test_show_draws_the_head_that_is_asked_for(file: Path, run: Command) -> None:
    printed = run("show", file, "--layer", 1, "--head", 0)
    assert "decoder layer 1, self, head 0" in printed
    assert "Evidence:" in printed


def test_show_refuses_what_is_no_bundle(decoder: Path, tmp_path: Path, complain: Command) -> None:
    (tmp_path / "text.bundle").write_text("no bundle at all")
    for verb in ("show", "serve"):
        assert "text.bundle cannot be read as a bundle: it says" in complain(verb, tmp_path / "text.bundle")
    complain("show", tmp_path / "missing.bundle")


@built
def test_export_writes_beside_the_bundle(file: Path, run: Command) -> None:
    printed = run("export", file)
    page = file.with_suffix(".html")
    assert str(page) in printed
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@built
def test_export_wants_html(file: Path, tmp_path: Path, complain: Command) -> None:
    assert "Expected .html" in complain("export", file, tmp_path / "page.pdf")


@pytest.mark.parametrize("view", ["heatmap", "heads", "lines", "bars"])
def test_figure_draws_each_view(file: Path, run: Command, tmp_path: Path, view: str) -> None:
    run("figure", file, tmp_path / "figure.svg", "--view", view)
    assert "</svg>" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_figure_complains_in_a_sentence(file: Path, tmp_path: Path, complain: Command) -> None:
    assert "heatmap" in complain("figure", file, tmp_path / "figure.svg", "--view", "heatmop")
    assert "inches" in complain("figure", file, tmp_path / "figure.svg", "--width", "broad")
    assert list(tmp_path.glob("*.svg")) == []


def test_doctor_names_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        cli.main(["doctor", "--json"])
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    findings = json.loads(capsys.readouterr().out)
    states = {finding["topic"]: finding["state"] for finding in findings}
    assert states["numpy"] == states["torch"] == "good"
    assert code == int("missing" in states.values())
    [limits] = [finding["text"] for finding in findings if finding["topic"] == "limits"]
    assert f"{Settings().tokens:,} tokens, {Settings().seconds:g} seconds, " in limits  # those that serve has
    assert all(finding["do"] for finding in findings if finding["state"] == "missing")


def test_bash_completes_verbs_and_options() -> None:
    script = subprocess.run(
        [sys.executable, "-m", "glassformer", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tries = (
        "COMP_WORDS=(glassformer fig); COMP_CWORD=1; _glassformer; echo ${COMPREPLY[@]}\n"
        "COMP_WORDS=(glassformer figure --vi); COMP_CWORD=2; _glassformer; echo ${COMPREPLY[@]}\n"
    )
    printed = subprocess.run(["bash", "-c", f"{script}\n{tries}"], capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["figure", "--view"]


def test_every_shell_has_every_verb(run: Command, complain: Command) -> None:
    for shell in ("bash", "zsh", "fish"):
        printed = run("completion", shell)
        assert all(verb.name in printed for verb in cli.find_verbs())
    assert "tcsh" in complain("completion", "tcsh")


def test_models_for_programs(run: Command) -> None:
    listed = json.loads(run("models", "--json"))
    assert "zoo/translator" in listed["shipped"]
    assert listed["published"]["gpt2"]["layers"] == 12
