"""`glassformer tree`."""

from pathlib import Path

from cli.conftest import Command
from glassformer import branch, record


def test_branches_are_drawn_below_what_they_left(decoder: Path, tmp_path: Path, run: Command) -> None:
    root = record(decoder, "the animal was too tired", decode={"max_new_tokens": 3})
    one = branch(root, 1, temperature=2, seed=1, name="one", model=decoder)
    two = branch(one, 2, temperature=2, seed=2, name="two", model=decoder)
    files = [tmp_path / f"{place}.bundle" for place in range(3)]
    for recording, file in zip((root, one, two), files, strict=True):
        recording.save(file)
    lines = run("tree", files[2], files[0], files[1]).splitlines()
    assert [line[:8] for line in lines[1:]] == ["└─ one: ", "   └─ tw"]
    assert run("tree", files[1]).startswith("one: after 1 word")
