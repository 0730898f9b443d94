"""`glassformer doctor`."""

import json

import pytest

from glassformer import cli
from glassformer.api.settings import Settings


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
