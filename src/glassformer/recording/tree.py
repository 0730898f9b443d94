"""The tree that recordings form which branch off from each other.

In:   recordings of generated texts.
Out:  `identify`, by which a branch names its parent; `tree`, which `print` shows.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from glassformer.messages import message
from glassformer.recording.arrays import require_type
from glassformer.recording.recording import Recording

IDENTITY = 24  # hexadecimal digits


def identify(recording: Recording) -> str:
    """What a recording is known by: its model, texts, edits and how each token was chosen; not its name."""
    generation, branch = recording.generation, recording.branch
    steps = () if generation is None else generation.steps
    parts = [
        recording.evidence.model_hash,
        recording.source.ids.tolist(),
        None if recording.target is None else recording.target.ids.tolist(),
        [edit.to_json() for edit in recording.evidence.edits],  # the same in every language
        [(step.token, repr(step.log_probability)) for step in steps],
        None if branch is None else (branch.parent, branch.step, branch.token),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:IDENTITY]


@dataclass(frozen=True, slots=True)
class BranchTree:
    """Recordings as a tree; `print` shows it."""

    recordings: tuple[Recording, ...]
    parents: tuple[int | None, ...]  # of each recording, its place among them; None: it is not here

    def children(self, place: int | None) -> list[int]:
        """The branches of a recording, by step; of None those whose parent is not here."""
        found = [each for each, parent in enumerate(self.parents) if parent == place]
        return sorted(found, key=self._step)

    def __str__(self) -> str:
        return "\n".join(line for root in self.children(None) for line in self._draw(root, "", ""))

    __repr__ = __str__

    def _step(self, place: int) -> int:
        branch = self.recordings[place].branch
        return 0 if branch is None else branch.step

    def _draw(self, place: int, first: str, rest: str) -> Iterator[str]:
        recording = self.recordings[place]
        branch, generation = recording.branch, recording.generation
        steps = () if generation is None else generation.steps
        new = "".join(step.text for step in steps[self._step(place) :])
        label = message("recording.tree.root", model=recording.model, text=new)
        if branch is not None:
            forced = generation is not None and branch.step in generation.forced
            code = "recording.tree.forced" if forced else "recording.tree.branch"
            label = message(code, step=branch.step, text=new)
        name = f"{branch.name}: " if branch is not None and branch.name else ""
        yield f"{first}{name}{label}"
        children = self.children(place)
        for each in children:
            last = each == children[-1]
            yield from self._draw(each, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def tree(recordings: Sequence[Recording]) -> BranchTree:
    """The tree that branches form: each below the recording that it left, if that is among them.

    >>> root = gf.record("zoo/gpt2", "Once upon a time", decode={"max_new_tokens": 4})
    >>> other = gf.branch(root, 1, token=" he", name="he")
    >>> print(gf.tree([root, other]))
    zoo/gpt2: ', I was not'
    └─ he: after 1 word, forced: ' he was a'
    """
    for each in recordings:
        require_type("tree", each, Recording)
    known = {identify(each): place for place, each in enumerate(recordings)}
    parents = tuple(None if each.branch is None else known.get(each.branch.parent) for each in recordings)
    return BranchTree(tuple(recordings), parents)
