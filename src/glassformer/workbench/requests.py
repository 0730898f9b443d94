"""Refuses requests that cannot be run, in one sentence, before a model is opened.

In:   a JobRequest, and what is known about its model.
Out:  nothing; or an ApiError that says what was seen, what was expected and what to do.

Sizes were checked before, by the route. What only the tokenizer or the network can tell (how many tokens a
text has, whether a head exists) is refused by the worker, in the same manner.
"""

from pathlib import Path
from typing import Any

from glassformer.api.effects import MeasureRequest, PatchingRequest
from glassformer.api.jobs import BranchRequest, DecodeRequest, JobRequest, ModelDescription
from glassformer.config import Reads, Shape
from glassformer.errors import ApiError, GlassformerError, InputError
from glassformer.messages import message
from glassformer.place import name_term
from glassformer.recorders.edits import BlockHead
from glassformer.recording.branch import check_name
from glassformer.registry import suggestion
from glassformer.workbench.models import Model
from glassformer.workbench.settings import WorkbenchSettings

READS = {  # by what a model reads: the error for any other input
    "text": "workbench.request.reads_text",
    "picture": "workbench.request.reads_picture",
    "sound": "workbench.request.reads_sound",
}


def check_request(request: JobRequest, model: Model, settings: WorkbenchSettings) -> None:
    """Raise an ApiError for a request that cannot be run."""
    _check_sequence(request)
    if model.description is not None:
        check_media(request, model.description.reads, model.description.label)
        _check_task(request, model.description)
        _check_languages(request, model.description, tagged=model.tagged)
        _check_layers(request, model.description)
        check_sides(request, model.description.shape, model.description.label)
    try:
        request.read_edits()
    except InputError as error:
        raise ApiError(error.message, code="bad_edit", status=422) from error
    if request.branch is not None:
        _check_branch(request, request.branch, settings)
    if request.decode is not None:
        _check_decode(request.decode, settings)
        if request.target is not None:
            raise _refuse("decode", "workbench.request.target_and_decode")


def check_measurement(request: MeasureRequest) -> None:
    """Raise an ApiError for what would be measured on another model than the request describes."""
    if request.run.branch is not None:
        raise _refuse("branch", "workbench.request.measured_branch")
    if isinstance(request, PatchingRequest) and request.run.sequence == "media":
        raise _refuse("media", "workbench.request.patched_media")
    edits = tuple(request.run.read_edits())
    if isinstance(request, PatchingRequest) and edits:
        raise _refuse("edit", "workbench.request.patched_edits", edits=edits)


def describe_job(
    request: JobRequest,
    model: Model,
    settings: WorkbenchSettings,
    path: Path,
    media: Path | None = None,
) -> dict[str, Any]:
    """What the worker gets: a request that was checked, where the bundle goes, and the file that it reads.

    `media` is the picture or sound as it was sent; with `media_of`, a bundle that has one.
    """
    return {
        "path": str(path),
        "media": None if media is None else str(media),
        "name": model.name,
        "folder": None if model.folder is None else str(model.folder),
        "tagged": model.tagged,
        "languages": [] if model.description is None else list(model.description.languages),
        "request": request.model_dump(),
        "tokens": settings.tokens,
        "new_tokens": settings.new_tokens,
        "download": settings.download,
        "model_bytes": settings.model_bytes,
    }


def _refuse(what: str, message_code: str, **parameters: Any) -> ApiError:
    return ApiError(message(message_code, **parameters), code=f"bad_{what}", status=422)


def _check_sequence(request: JobRequest) -> None:
    typed = request.sequence == "text"
    if typed and not (request.text or "").strip():
        raise _refuse("text", "workbench.request.no_text")
    if not typed and (request.text or request.second_text):
        raise _refuse("text", "workbench.request.text_and_sequence", sequence=request.sequence)
    if (request.sequence == "media") != (request.media is not None or request.media_of is not None):
        raise _refuse("media", "workbench.request.no_media")
    if request.media is not None and request.media_of is not None:
        raise _refuse("media", "workbench.request.two_media")
    if request.sequence == "media" and (request.length is not None or request.seed is not None):
        raise _refuse("media", "workbench.request.length_of_media")
    if request.sequence == "random" and request.length is None:
        raise _refuse("length", "workbench.request.no_length")
    if typed and request.seed is not None:
        raise _refuse("seed", "workbench.request.seed_of_text")


def check_media(request: JobRequest, reads: Reads, model: str) -> None:
    """Refuse text for a model that reads pictures or sounds, and these for a model that reads text."""
    if (request.sequence == "media") != (reads != "text"):
        raise _refuse("media", READS[reads], model=model)


def _check_task(request: JobRequest, model: ModelDescription) -> None:
    if request.task is not None and request.task not in model.tasks:
        task, tasks = name_term(request.task), [name_term(each) for each in model.tasks]
        raise _refuse("task", "workbench.request.other_task", model=model.label, tasks=tasks, task=task)


def _check_languages(request: JobRequest, model: ModelDescription, *, tagged: bool) -> None:
    source, target, known = request.source_language, request.target_language, model.languages
    if tagged and known and target is None:
        raise _refuse("language", "workbench.request.no_language", model=model.label, known=list(known))
    if source is None and target is None:
        return
    if model.shape != "encoder-decoder":
        raise _refuse("language", "workbench.request.no_translation", model=model.label)
    for language in filter(None, (source, target) if known else ()):
        if language not in known:
            code, near = "workbench.request.unknown_language", suggestion(language, known)
            raise _refuse("language", code, model=model.label, language=language, suggestion=near)
    if known and not tagged and (source or known[0], target or known[-1]) != (known[0], known[-1]):
        pair = {"source": known[0], "target": known[-1]}
        raise _refuse("language", "workbench.request.one_pair", model=model.label, **pair)
    if source == target:
        raise _refuse("language", "workbench.request.same_languages", language=source)


def _check_layers(request: JobRequest, model: ModelDescription) -> None:
    if request.layers is not None and model.layers is not None and request.layers > model.layers:
        raise _refuse(
            "layers", "workbench.request.layers", count=request.layers, model=model.label, most=model.layers
        )


def check_sides(request: JobRequest, shape: Shape, model: str) -> None:
    """Refuse texts that a model of this shape cannot read, and decoding where it writes nothing."""
    if request.target is not None and shape != "encoder-decoder":
        raise _refuse("target", "workbench.request.no_target_side", model=model)
    if request.target is not None and not request.target.strip():
        raise _refuse("target", "workbench.request.empty_target")
    if request.decode is not None and shape == "encoder":
        raise _refuse("decode", "workbench.request.encoder", model=model)
    if request.second_text is not None and shape != "encoder":
        raise _refuse("second_text", "workbench.request.one_text", model=model)


def _check_branch(request: JobRequest, branch: BranchRequest, settings: WorkbenchSettings) -> None:
    if request.parent is None or request.kind != "generate":
        raise _refuse("branch", "workbench.request.branch_parent")
    if branch.token is not None and branch.text is not None:
        raise _refuse("branch", "workbench.request.branch_token")
    changes = ("token", "text", "temperature", "seed", "max_new_tokens", "edits")
    given = [name for name in changes if getattr(branch, name) not in (None, ())]
    if branch.node is not None and given:
        raise _refuse("branch", "workbench.request.branch_node", names=given)
    if (branch.max_new_tokens or 0) > settings.new_tokens:
        code, count = "workbench.request.too_many_new_tokens", branch.max_new_tokens
        raise _refuse("branch", code, count=count, most=settings.new_tokens)
    try:
        check_name(branch.name)
        edits = [edit.to_edit() for edit in branch.edits]
    except GlassformerError as error:
        raise ApiError(error.message, code="bad_branch", status=422) from error
    for edit in edits:
        if not isinstance(edit, BlockHead):
            raise ApiError("recorders.branch.whole_text", code="bad_branch", status=422, edit=edit)


def _check_decode(decode: DecodeRequest, settings: WorkbenchSettings) -> None:
    if decode.max_new_tokens is not None and decode.max_new_tokens > settings.new_tokens:
        raise _refuse(
            "decode",
            "workbench.request.too_many_new_tokens",
            count=decode.max_new_tokens,
            most=settings.new_tokens,
        )
    if decode.beams is not None and decode.beams > settings.beams:
        raise _refuse("decode", "workbench.request.too_many_beams", count=decode.beams, most=settings.beams)
    for names, method, what in (
        (("temperature", "top_k", "top_p", "seed"), "sampling", "sampling"),
        (("beams",), "beam", "beam search"),
    ):
        idle = [name for name in names if getattr(decode, name) is not None]
        if idle and decode.method != method:
            raise _refuse("decode", "workbench.request.other_method", names=idle, method=name_term(what))
