"""The terminal in Chinese, and a verb that is one file."""

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import cli
from glassformer.cli import verbs
from glassformer.render.terminal.text import measure

VERB = '''
"""A verb of somebody else."""

from glassformer.cli.parser import help_text

SUMMARY = "say hello"
EXAMPLES = ("glassformer greet --loud",)


def add_arguments(parser):
    parser.add_argument("--loud", action="store_true", help=help_text("greet.loud", "in capitals, 100 %"))


def run(arguments):
    print("HELLO" if arguments.loud else "hello")
'''


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", "zh")


@pytest.mark.usefixtures("chinese")
def test_help_and_errors_are_in_chinese(capsys: pytest.CaptureFixture[str], complain: Command) -> None:
    with pytest.raises(SystemExit):
        cli.main(["record", "--help"])
    printed = capsys.readouterr().out
    assert printed.startswith("用法： glassformer record [-h]")
    assert "\n选项:\n" in printed
    assert "先生成：greedy、beam N 或 sample [SEED]" in printed
    assert complain("metrics", "entropi").startswith(
        "glassformer: 没有名为 'entropi' 的指标。是否想用 'entropy'？"
    )
    with pytest.raises(SystemExit):
        cli.main(["show"])
    assert capsys.readouterr().err == (
        "glassformer: 缺少必需的参数：FILE.bundle。用法见 `glassformer show --help`。\n"
    )


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("columns", [40, 80])
def test_chinese_stays_within_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for verb in cli.find_verbs():
        with pytest.raises(SystemExit):
            cli.main([verb.name, "--help"])
        lines = capsys.readouterr().out.splitlines()
        commands = {f"  {example}" for example in verb.examples}
        wide = [line for line in lines if measure(line) > columns and line not in commands]
        assert not [line for line in wide if any("一" <= letter <= "鿿" for letter in line)], wide


def test_the_locale_is_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], run: Command
) -> None:
    for name in ("GLASSFORMER_LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "这里还没有训练过程" in run("runs", "--folder", "/nowhere-at-all")
    monkeypatch.setenv("LANG", "C")
    assert "There are no runs" in run("runs", "--folder", "/nowhere-at-all")


def test_programs_read_the_same_in_every_language(
    decoder: Path, tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one.bundle"
    run("record", decoder, "the animal", "--output", file)
    commands = (
        ("score", file, "--json"),
        ("score", file, "entropy", "--csv"),
        ("models", "--json"),
        ("doctor", "--json"),
        ("record", decoder, "the animal", "--json"),
    )
    english = [run(*command) for command in commands]
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", "zh")
    assert [run(*command) for command in commands] == english
    assert json.loads(english[0])[0]["label"] == "Overall Sparsity"


def test_colour_is_for_terminals(
    decoder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    run: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "one.bundle"
    run("record", decoder, "the animal", "--output", file)
    plain = run("score", file, "entropy")
    assert "\x1b" not in plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[" in run("score", file, "entropy")
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("score", file, "entropy") == plain


def test_a_verb_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], run: Command
) -> None:
    (tmp_path / "greet.py").write_text(VERB)
    monkeypatch.setattr(verbs, "__path__", [*verbs.__path__, str(tmp_path)])
    assert run("greet") == "hello\n"
    assert run("greet", "--loud") == "HELLO\n"
    assert "greet" in run("completion", "bash")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "greet       say hello" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["greet", "--help"])
    printed = capsys.readouterr().out
    assert "Say hello." in printed
    assert "in capitals, 100 %" in printed
    assert "  glassformer greet --loud" in printed
    monkeypatch.delitem(sys.modules, "glassformer.cli.verbs.greet")
