"""Where a recording branched off from another one.

In:   the identity of the parent, a step, a token, a name.
Out:  `Branch`, checked and read-only; a recording keeps it.
"""

from dataclasses import dataclass

from glassformer.errors import RecordingError
from glassformer.recording.arrays import Rebuilt, keep, require_count, require_text, wrong_value

LONGEST_NAME = 120  # characters of the name of a branch


@dataclass(frozen=True, slots=True)
class Branch(Rebuilt):
    """Where a recording left another one. Steps before `step` are those of the parent.

    >>> root = gf.record("zoo/gpt2", "Once upon a time", decode={"max_new_tokens": 4})
    >>> gf.branch(root, 1, token=" he", name="he").branch.name
    'he'
    """

    parent: str  # `identify` (tree.py) of the parent
    step: int
    token: int | None = None  # that was forced at this step; None: the model chose
    name: str = ""

    def __post_init__(self) -> None:
        require_text("Branch.parent", self.parent)
        require_count("Branch.step", self.step)
        if self.token is not None:
            require_count("Branch.token", self.token)
        keep(self, name=check_name(self.name))


def check_name(name: str) -> str:
    """The name of a branch, in one line and without blanks at its ends; refuses a long one."""
    if not isinstance(name, str):
        raise wrong_value("Branch.name", name, "string")
    short = " ".join(name.split())
    if len(short) > LONGEST_NAME or not short.isprintable():
        raise RecordingError("recording.branch_name", count=len(short), most=LONGEST_NAME)
    return short
