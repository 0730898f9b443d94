"""`glassformer doctor`."""

import json
from contextlib import suppress

import pytest

from glassformer import cli
from glassformer.api.settings import Settings
from glassformer.render.terminal.text import measure


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


def test_chinese_explanations_begin_in_one_column(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", "zh")
    monkeypatch.setenv("COLUMNS", "60")
    with suppress(SystemExit):
        cli.main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    starts = {measure(line[: len(line) - len(line.lstrip(" "))]) for line in lines if line.startswith("   ")}
    first = next(line for line in lines if "Python" in line)
    wanted = measure(first[: first.index("0.")])
    assert wanted in starts
    assert starts <= {wanted, wanted + 2}
