"""The branches of generated texts in a library: the tree that they form, and their names.

In:   the id of a recording; a request for a branch.
Out:  every recording of its tree, parents before their branches; the request as it is run.
"""

from collections.abc import Callable, Iterator, Mapping

from glassformer.api.description import Visible
from glassformer.api.jobs import JobRequest
from glassformer.api.library import Library
from glassformer.errors import ApiError, GlassformerError
from glassformer.recording import Recording
from glassformer.recording.branch import LONGEST_NAME
from glassformer.recording.branch import check_name as check
from glassformer.schema import ResponseModel

MOST = 200  # recordings of one tree
SHOWN = 80  # characters of what a branch wrote


class BranchEntry(ResponseModel):
    """One recording of a tree of branches."""

    id: str
    parent: str | None  # None: nothing in the library is its parent
    lost: bool  # its parent was removed
    step: int  # from which on it differs from its parent
    token: Visible | None  # that was forced there
    name: str
    text: Visible  # what it wrote from this step on
    score: float | None  # logarithm of the probability of the whole text; None: minus infinity


def list_branches(
    library: Library, id: str, sees: Callable[[str], bool] = lambda _: True
) -> list[BranchEntry]:
    """The tree that a recording belongs to; only itself where nothing branched off.

    What the reader may not see is not there: its branches have lost their parent.
    """
    library.entry(id)  # ApiError where there is none
    parents = {each: parent for each, parent in library.parents().items() if sees(each) and sees(parent)}
    root, seen = id, {id}
    while (above := parents.get(root)) is not None and above not in seen and _exists(library, above):
        root = above
        seen.add(root)
    found, waiting = dict[str, BranchEntry](), [root]
    while waiting and len(found) < MOST:
        now = waiting.pop(0)
        entry = None if now in found else _describe(library, now, parents.get(now), sees)
        if entry is not None:
            found[now] = entry
            waiting += [each for each, parent in parents.items() if parent == now]
    return list(found.values())


def complete_request(library: Library, request: JobRequest) -> JobRequest:
    """A branch reads what its parent read: its request says the same, whatever was sent beside it."""
    if request.branch is None or request.parent is None:
        return request
    branch = request.branch.model_copy(update={"name": check_name(request.branch.name, "bad_branch")})
    read = library.request(request.parent)
    if read is None:  # a file: its settings and edits are in the recording
        languages = {"source_language": request.source_language, "target_language": request.target_language}
        read = JobRequest(kind="generate", model=request.model)
        read = read.model_copy(update={"text": _find_prompt(library.get(request.parent)), **languages})
    own = {name: getattr(request, name) for name in ("kind", "model", "want", "listed", "parent")}
    return read.model_copy(update={**own, "branch": branch})


def list_texts(library: Library, request: JobRequest) -> list[str]:
    """The other texts that the model reads for the edits that the parent of a branch keeps."""
    if request.branch is None or request.parent is None:
        return []
    generation = library.get(request.parent).generation
    return [] if generation is None else [text for edit in generation.edits for text in _walk(edit)]


def check_name(name: str, code: str = "bad_name") -> str:
    """A name without blanks at its ends; ApiError where it cannot be one."""
    try:
        return check(name)
    except GlassformerError as error:
        raise ApiError(error.message, code=code, status=422) from error


def _find_prompt(recording: Recording) -> str:
    """The text that was read before anything was written."""
    text, generation = recording.source.text or "", recording.generation
    if generation is None or recording.target is not None:
        return text
    return text.removesuffix(generation.text)


def _walk(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _walk(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _walk(each)


def _exists(library: Library, id: str | None) -> bool:
    if id is None:
        return False
    try:
        library.entry(id)
    except ApiError:
        return False
    return True


def _describe(
    library: Library, id: str, parent: str | None, sees: Callable[[str], bool]
) -> BranchEntry | None:
    try:
        recording, request = library.get(id), library.request(id)
    except (GlassformerError, OSError):  # removed meanwhile
        return None
    generation, left = recording.generation, recording.branch
    step = 0 if left is None else left.step
    steps = () if generation is None else generation.steps
    above = None if request is None else request.parent
    there = _exists(library, above) and above is not None and sees(above)
    name = "" if left is None else left.name
    if request is not None and request.branch is not None:
        name = request.branch.name
    score = None if generation is None else generation.score
    forced = left is not None and generation is not None and step in generation.forced
    return BranchEntry(
        id=id,
        parent=parent if there else None,  # None: it is no branch, or in no list
        lost=left is not None and not there,
        step=step,
        token=steps[step].text if forced else None,
        name=name[:LONGEST_NAME],
        text="".join(each.text for each in steps[step:])[:SHOWN],
        score=None if score is None or score == float("-inf") else score,
    )
