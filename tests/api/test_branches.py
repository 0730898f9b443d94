"""The tree of branches of a library; with a worker it is tested in tests/workbench/test_http.py."""

from dataclasses import replace
from pathlib import Path

import pytest

from bundles import make_recording
from glassformer import bundle
from glassformer.api.branches import check_name, complete_request, list_branches, list_texts
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


@pytest.mark.slow
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


def test_what_is_in_no_list_is_in_no_tree(library: Library) -> None:
    root = keep(library, "a", "b")
    child = keep(library, "a", "c", parent=root, step=1)
    path = library.new_partial_path()
    bundle.save(make_recording(seed=1), path)  # what was measured of the branch
    measured = library.adopt(path, request=library.request(child).model_copy(update={"listed": False}))
    assert [each.id for each in list_branches(library, root)] == [root, child]
    assert [each.id for each in list_branches(library, measured)] == [measured]


def test_a_card_that_cannot_be_written_stays(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    child = keep(library, "a", "c", parent=keep(library, "a", "b"), step=1)
    before = library.path(child).with_suffix(".json").read_text()

    def fail(path: Path, text: str, **_: object) -> None:
        path.write_bytes(text.encode()[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="No space"):
        library.rename(child, "another")
    assert library.path(child).with_suffix(".json").read_text() == before
    assert list_branches(library, child)[1].name == "c"
    assert not list(library.folder.glob(".*.part*"))


class TestRequests:
    def test_a_branch_says_what_its_parent_read(self, library: Library) -> None:
        root = keep(library, "a", "b")
        sent = JobRequest(
            kind="generate",
            model="zoo/tiny",
            text="another text",
            decode={"max_new_tokens": 7},
            multiplier=2.0,
            parent=root,
            branch={"step": 1, "name": "  two   words "},
        )
        request = complete_request(library, sent)
        assert (request.text, request.decode, request.multiplier) == ("fox", None, None)
        assert (request.parent, request.branch.step, request.branch.name) == (root, 1, "two words")
        assert complete_request(library, sent.model_copy(update={"parent": None})).text == "another text"

    def test_a_file_has_no_request(self, library: Library) -> None:
        recording = make_recording()
        edit = {"edit": "ablate", "head": 1, "reference": ("a text", "another")}
        written = Generation((Step(0, 7, "x", -0.5),), edits=(edit,))
        path = library.new_partial_path()
        bundle.save(replace(recording, generation=written), path)
        parent = library.adopt(path, "file")
        sent = JobRequest(kind="generate", model="zoo/tiny", text="y", layers=1, parent=parent, branch={})
        request = complete_request(library, sent)
        assert (request.text, request.layers) == (recording.source.text, None)
        assert {"a text", "another"} < set(list_texts(library, request))


def test_what_cannot_be_is_refused(library: Library) -> None:
    root = keep(library, "a")
    for wrong in (lambda: list_branches(library, "none"), lambda: library.rename(root, "x")):
        with pytest.raises(ApiError):
            wrong()
    with pytest.raises(ApiError) as error:
        check_name("x" * 200)
    assert error.value.code == "bad_name"
    assert check_name(" a  b ") == "a b"
