"""Requests that cannot be: said in one sentence before a model is opened.

In:   a JobRequest, and what is known about its model.
Out:  nothing; or a ApiError that says what we saw, what we wanted and what to do.

What only the tokenizer or the network can tell (how many tokens a text has, whether a head exists) is refused
by the worker, in the same manner.
"""

import math
from collections.abc import Callable

from glassformer.api.jobs import DecodeRequest, EditRequest, JobRequest, ModelDescription
from glassformer.errors import ApiError
from glassformer.registry import suggest
from glassformer.workbench.models import Model
from glassformer.workbench.settings import WorkbenchSettings

TASKS = ("translation", "language_modelling", "masked_language_modelling", "classification", "encoding")
NEEDS = {  # what each edit has to say
    "ablate": ("stack", "attention", "layer", "head"),
    "cut": ("stack", "attention", "query", "key"),
    "scale": ("factor",),
    "layers": ("count",),
}
KNOWS = {  # and what else it may say
    "ablate": ("how",),
    "cut": ("layer", "head"),
    "scale": ("stack", "attention", "layer"),
    "layers": ("stack",),
}


def check_request(request: JobRequest, model: Model, settings: WorkbenchSettings) -> None:
    """Refuse what cannot be."""
    _check_sequence(request, settings)
    if model.description is not None:
        _check_task(request, model.description)
        _check_languages(request, model.description, tagged=model.tagged)
        _check_layers(request, model.description)
        _check_sides(request, model.description)
    if request.multiplier is not None and not math.isfinite(request.multiplier):
        raise _refuse(
            "multiplier", f"Scores cannot be multiplied by {request.multiplier}; give a finite number."
        )
    for edit in request.edits:
        _check_edit(edit)
    if request.decode is not None:
        _check_decode(request.decode, settings)
        if request.target is not None:
            raise _refuse(
                "decode", "The target is given, so there is nothing to write; leave one of the two out."
            )


def _refuse(what: str, sentence: str) -> ApiError:
    return ApiError(sentence, f"bad_{what}", 422)


def _check_sequence(request: JobRequest, settings: WorkbenchSettings) -> None:
    typed = request.sequence == "text"
    if typed and not (request.text or "").strip():
        raise _refuse("text", "There is no text; type one, or choose a random sequence.")
    if not typed and (request.text or request.second_text):
        raise _refuse(
            "text", f"A text does not go with a {request.sequence} sequence; choose own text, or remove it."
        )
    for text in (request.text, request.second_text, request.target):
        if text is not None and len(text) > settings.characters:
            raise _refuse(
                "text",
                f"A text has {len(text):,} characters; at most {settings.characters:,} are read. Shorten it.",
            )
    if request.sequence == "random":
        if request.length is None:
            raise _refuse("length", "A random sequence needs a length in tokens; give one, such as 16.")
        if request.length > settings.tokens:
            raise _refuse(
                "length", f"{request.length:,} tokens are too many; at most {settings.tokens:,} run here."
            )
    elif request.length is not None:
        raise _refuse("length", "A length goes with a random sequence only; a text is as long as it is.")
    if typed and request.seed is not None:
        raise _refuse("seed", "A seed chooses random and task sequences; a text of your own needs none.")


def _check_task(request: JobRequest, model: ModelDescription) -> None:
    if request.task is None or request.task in model.tasks:
        return
    if request.task not in TASKS:
        raise _refuse("task", f"There is no task {request.task!r}.{suggest(request.task, TASKS)}")
    does = " and ".join(each.replace("_", " ") for each in model.tasks)
    raise _refuse(
        "task",
        f"{model.label} does {does}, not {request.task.replace('_', ' ')}; choose another model or task.",
    )


def _check_languages(request: JobRequest, model: ModelDescription, *, tagged: bool) -> None:
    asked = (request.source_language, request.target_language)
    if tagged and model.languages and asked[1] is None:
        known = ", ".join(model.languages)
        raise _refuse("language", f"{model.label} has to be told the language to translate into: {known}.")
    if not any(asked):
        return
    if "translation" not in model.tasks:
        raise _refuse("language", f"{model.label} does not translate; leave the languages out.")
    for language in filter(None, asked):
        if model.languages and language not in model.languages:
            raise _refuse(
                "language",
                f"{model.label} does not know the language {language!r}.{suggest(language, model.languages)}",
            )
    if (
        not tagged
        and model.languages
        and asked
        != tuple(known if said else None for said, known in zip(asked, model.languages, strict=False))
    ):
        raise _refuse("language", f"{model.label} translates from {' into '.join(model.languages)} only.")
    if asked[0] is not None and asked[0] == asked[1]:
        raise _refuse(
            "language", f"Source and target language are both {asked[0]!r}; choose two different ones."
        )


def _check_layers(request: JobRequest, model: ModelDescription) -> None:
    if request.layers is None:
        return
    if model.family == "recurrent":
        raise _refuse("layers", f"{model.label} is recurrent: it has no stack of layers to stop early.")
    if model.layers is not None and request.layers > model.layers:
        raise _refuse(
            "layers", f"{request.layers} layers cannot run: {model.label} has {model.layers}. Name fewer."
        )


def _check_sides(request: JobRequest, model: ModelDescription) -> None:
    if request.target is not None and model.shape != "encoder-decoder":
        raise _refuse("target", f"{model.label} has no target side; put everything into one text.")
    if request.target is not None and not request.target.strip():
        raise _refuse("target", "The target is empty; type one, or leave it out and the model writes it.")
    if request.decode is not None and model.shape == "encoder":
        raise _refuse("decode", f"{model.label} is an encoder and writes nothing; leave the decoding out.")
    if request.second_text is not None and model.shape != "encoder":
        raise _refuse(
            "second_text", f"{model.label} reads one text; two sentences are for models of BERT's kind."
        )


def _check_edit(edit: EditRequest) -> None:
    said = {name for name, value in edit.model_dump(exclude={"kind"}).items() if value is not None}
    missing = [name for name in NEEDS[edit.kind] if name not in said]
    if missing:
        raise _refuse("edit", f"An edit of the kind {edit.kind!r} needs {', '.join(missing)}; say it.")
    idle = sorted(said - {*NEEDS[edit.kind], *KNOWS[edit.kind]})
    if idle:
        raise _refuse(
            "edit", f"{', '.join(idle)} would do nothing in an edit of the kind {edit.kind!r}; leave it out."
        )
    if edit.factor is not None and not math.isfinite(edit.factor):
        raise _refuse("edit", f"Scores cannot be multiplied by {edit.factor}; give a finite number.")
    if edit.stack is not None and edit.stack not in ("encoder", "decoder"):
        raise _refuse(
            "edit", f"There is no stack {edit.stack!r}.{suggest(edit.stack, ('encoder', 'decoder'))}"
        )


def _check_decode(decode: DecodeRequest, settings: WorkbenchSettings) -> None:
    if decode.max_new_tokens is not None and decode.max_new_tokens > settings.new_tokens:
        raise _refuse(
            "decode",
            f"{decode.max_new_tokens:,} new tokens are too many; {settings.new_tokens:,} may be written.",
        )
    if decode.beams is not None and decode.beams > settings.beams:
        raise _refuse("decode", f"{decode.beams} beams are too many; at most {settings.beams} are followed.")
    rules: tuple[tuple[tuple[str, ...], str, Callable[[], bool]], ...] = (
        (("temperature", "top_k", "top_p", "seed"), "sampling", lambda: decode.method == "sampling"),
        (("beams",), "beam search", lambda: decode.method == "beam"),
    )
    for names, what, holds in rules:
        idle = [name for name in names if getattr(decode, name) is not None]
        if idle and not holds():
            raise _refuse(
                "decode", f"{' and '.join(idle)} counts for {what} only; choose {what}, or leave it out."
            )
