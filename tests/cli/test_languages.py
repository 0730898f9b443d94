"""The terminal in Chinese, and a verb that is one file."""

import json
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import cli
from glassformer.render.terminal.text import measure


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


@pytest.mark.slow
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
