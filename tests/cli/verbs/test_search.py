"""`glassformer search`: a search of a recipe, and what is printed of it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra `search` is not installed")

from glassformer.cli import main
from training.conftest import RECIPE, WORDS

TABLE = """
[search]
trials = 3
confirm = 2
"model.heads" = [2, 4]
"model.layers" = [1, 2]
"""


@pytest.mark.slow
def test_a_search_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for split, lines in (("train", 40), ("dev", 8)):
        (tmp_path / f"{split}.txt").write_text("\n".join(" ".join(WORDS) for _ in range(lines)))
    (tmp_path / "tiny.toml").write_text(RECIPE.replace("FOLDER", str(tmp_path)) + TABLE)
    assert main(["search", "tiny.toml", "--set", "train.steps=4", "--set", "train.evaluate_every=2"]) == 0
    shown = capsys.readouterr()
    assert "3 of 3 configurations trained" in shown.out
    assert "trial 0" in shown.err
    assert main(["search", "--show", "runs/tiny-search"]) == 0
    assert capsys.readouterr().out == shown.out
    assert main(["search", "--show", "tiny-search", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["trials"]) == 3
    assert found["baseline"] == 0
    assert main(["runs", "--json"]) == 0
    listed = capsys.readouterr().out
    assert all(run in listed for trial in found["trials"] for run in trial["runs"])
    assert main(["search", "tiny.toml"]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["train", "tiny.toml", "--set", "train.steps=1"]) == 0  # which ignores [search]


def test_mistakes_are_sentences(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words in (
        ["search"],
        ["search", "--show", str(tmp_path)],
        ["search", "x.toml", "--show", "s"],
        ["search", "x.toml", "--jobs", "0"],
        ["search", str(tmp_path / "none.toml")],
        ["search", "--resume", "--name", "none", "--folder", str(tmp_path)],
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.startswith("glassformer: ")
        assert "Traceback" not in error
