"""The tree of branches of a library; with a worker it is tested in tests/workbench/test_http.py."""

from dataclasses import replace
from pathlib import Path

import pytest

from bundles import make_recording
from glassformer import bundle
from glassformer.api.branches import check_name, list_branches
from glassformer.api.jobs import JobRequest
from glassformer.api.library import Library
from glassformer.errors import ApiError
from glassformer.recording import Branch, Generation, Step


def keep(library: Library, *texts: str, parent: str | None = None, step: int = 0, forced: bool = True) -> str:
    """A recording of a text in the library, which may have left another one."""
    steps = tuple(Step(place, 7, text, -0.5) for place, text in enumerate(texts))
    left = None if parent is None else Branch("x", step, 7)
    where = (step,) if parent is not None and forced else ()
    recording = replace(make_recording(), generation=Generation(steps, forced=where), branch=left)
    path = library.new_partial_path()
    bundle.save(recording, path)
    changes = {} if parent is None else {"parent": parent, "branch": {"step": step, "name": texts[-1]}}
    request = JobRequest(kind="generate", model="zoo/tiny", text="fox", **changes)
    return library.adopt(path, request=request)


@pytest.fixture
def library(tmp_path: Path):
    library = Library(tmp_path)
    yield library
    library.close()


def test_a_tree_lists_parents_first(library: Library) -> None:
    root = keep(library, "a", "b")
    late = keep(library, "a", "c", parent=root, step=1)
    leaf = keep(library, "a", "c", "d", parent=late, step=2)
    early = keep(library, "e", parent=root, forced=False)  # as a hypothesis of a beam search
    keep(library, "another", "text")
    tree = list_branches(library, leaf)
    assert [(each.id, each.parent, each.step, each.token, each.text) for each in tree] == [
        (root, None, 0, None, "ab"),
        (late, root, 1, "c", "c"),
        (early, root, 0, None, "e"),
        (leaf, late, 2, "d", "d"),
    ]
    assert tree[0].score == -1.0
    assert [each.id for each in list_branches(library, early)] == [each.id for each in tree]


def test_branches_survive_their_parent(library: Library) -> None:
    root = keep(library, "a", "b")
    child = keep(library, "a", "c", parent=root, step=1)
    library.remove(root)
    (left,) = list_branches(library, child)
    assert left.lost
    assert left.parent is None


def test_a_name_is_kept(tmp_path: Path) -> None:
    first = Library(tmp_path)
    child = keep(first, "a", "c", parent=keep(first, "a", "b"), step=1)
    first.rename(child, "another")
    assert list_branches(first, child)[1].name == "another"
    first.close()
    for index in tmp_path.glob("*.sqlite*"):
        index.unlink()
    again = Library(tmp_path)
    assert list_branches(again, child)[1].name == "another"
    again.close()


def test_what_cannot_be_is_refused(library: Library) -> None:
    root = keep(library, "a")
    for wrong in (lambda: list_branches(library, "none"), lambda: library.rename(root, "x")):
        with pytest.raises(ApiError):
            wrong()
    with pytest.raises(ApiError) as error:
        check_name("x" * 200)
    assert error.value.code == "bad_name"
    assert check_name(" a  b ") == "a b"
