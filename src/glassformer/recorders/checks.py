"""What a recording is asked for: the words of `want`, and edits.

In:   arguments of `record`, as a person gives them.
Out:  the same, checked; or an error that says what was expected.
"""

from collections.abc import Collection, Iterable, Sequence

from glassformer.errors import InputError
from glassformer.recorders.edits.edit import Edit
from glassformer.registry import suggestion

WANTS = ("statistics", "weights", "scores", "queries", "keys", "values", "hidden", "output")
TRACES = ("trace", "parameters")  # for models with the capability "traces"
USUAL = ("weights", "output")  # what is kept by default; statistics always are


def check_want(want: Collection[str]) -> frozenset[str]:
    """The wanted things as a set; an unknown word is an error that offers the nearest one."""
    words = (want,) if isinstance(want, str) else want
    if not isinstance(words, Collection):
        raise InputError("record.want_not_words", seen=repr(want))
    for word in words:
        if word not in (*WANTS, *TRACES):
            nearest = suggestion(str(word), (*WANTS, *TRACES))
            raise InputError("record.unknown_want", word=str(word), nearest=nearest)
    return frozenset(words)


def check_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, if they are some; a single one has to be in a list, too."""
    if isinstance(edits, str) or not isinstance(edits, Iterable):
        raise InputError("record.edits_not_a_list", seen=repr(edits))
    for edit in edits:
        if not isinstance(edit, Edit):
            raise InputError("record.not_an_edit", seen=repr(edit))
    return tuple(edits)
