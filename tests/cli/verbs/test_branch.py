"""`glassformer branch`: the steps before stay, the rest is as it was asked for."""

import json
from pathlib import Path

from cli.conftest import Command
from glassformer import bundle, record

TEXT = "the animal was too tired"


def test_a_branch_is_printed_and_kept(decoder: Path, tmp_path: Path, run: Command) -> None:
    root = record(decoder, TEXT, decode={"max_new_tokens": 3})
    root.save(tmp_path / "root.bundle")
    assert root.generation is not None
    steps = root.generation.steps
    other = next(word for word in ("animal", "tired") if word != steps[1].text.strip())
    file = tmp_path / "other.bundle"
    words = ("--token", other, "--edit", "block decoder self 0 1", "--output", file)
    named = ("--name", "other", "--model", decoder)
    printed = run("branch", tmp_path / "root.bundle", 1, *words, *named)
    assert "└─ other: after 1 word, forced" in printed
    made = bundle.open(file)
    assert made.generation is not None
    assert made.generation.steps[0].token == steps[0].token
    assert made.generation.steps[1].text.strip() == other
    assert len(made.evidence.edits) == 1
    summary = json.loads(
        run("branch", file, 2, "--temperature", 2, "--seed", 1, "--model", decoder, "--json")
    )
    assert len(summary["generation"]) == 3


def test_a_hypothesis_is_opened(decoder: Path, tmp_path: Path, run: Command, complain: Command) -> None:
    found = record(decoder, TEXT, decode={"num_beams": 2, "max_new_tokens": 2})
    found.save(tmp_path / "found.bundle")
    assert found.generation is not None
    node = found.generation.hypotheses()[1]
    file = tmp_path / "node.bundle"
    printed = run("branch", tmp_path / "found.bundle", "--node", node, "--model", decoder, "--output", file)
    assert "forced" not in printed
    made = bundle.open(file)
    assert made.generation is not None
    path = [each.token for each in found.generation.path(node)]
    assert [each.token for each in made.generation.steps] == path
    for words in ((), (0, "--node", node)):
        assert "needs one place to begin" in complain("branch", tmp_path / "found.bundle", *words)
    assert "as it is" in complain("branch", tmp_path / "found.bundle", "--node", node, "--seed", 1)
