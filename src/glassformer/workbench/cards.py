"""What is known about a model before it is opened.

In:   a model folder.
Out:  a `ModelDescription` from its config.json, the headers of its weights, its tokenizer's languages and its
      card.toml, if any; None where the folder holds no model that can be opened. Without torch.
"""

import json
import logging
import re
import tomllib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, Field
from safetensors import SafetensorError, safe_open

from glassformer.api.jobs import Drawing, ModelDescription
from glassformer.config import INSIDE_ATTENTION, ModelConfig, Reads, Shape
from glassformer.media.sounds import MOST_SECONDS
from glassformer.messages import Message, message
from glassformer.registry import suggestion
from glassformer.schema import MessageField
from glassformer.workbench.sequences import list_samples

log = logging.getLogger("glassformer.workbench")

Origin = Literal["zoo", "folder", "hub"]

LARGEST_JSON = 64_000_000
TASK = "glassformer_task"  # the task that a network was trained for, where we trained it
LONGEST_TASK = 100  # characters of its name
OURS = "glassformer"
RECURRENT = "glassformer-recurrent"
LANGUAGE = re.compile(r'">>(\w{2,8})<<"|"<2(\w{2,8})>"')  # the two spellings of a token that names one
NAMES: dict[str, tuple[str, ...]] = {  # how the families of transformers call the same thing
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "encoder_layers", "num_layers", "layers"),
    "decoder_layers": ("decoder_layers", "num_decoder_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads", "num_heads", "heads"),
    "width": ("hidden_size", "n_embd", "d_model", "dim", "width"),
    "vocabulary": ("vocab_size", "vocabulary_size"),
    "max_tokens": ("max_position_embeddings", "n_positions", "max_length"),
}
TASKS = {  # the end of a class of transformers, and what such a network is for
    "ForMaskedLM": "masked_language_modelling",
    "ForPreTraining": "masked_language_modelling",
    "ForCausalLM": "language_modelling",
    "LMHeadModel": "language_modelling",
    "ForSequenceClassification": "classification",
    "ForTokenClassification": "tagging",
    "ForConditionalGeneration": "translation",
    "MTModel": "translation",
}
HEADS = {
    "masked": "masked_language_modelling",
    "classes": "classification",
    "tags": "tagging",
    "numbers": "regression",
    "none": "encoding",
}
CLASSIFIES = re.compile(r"For(Image|Audio|Sequence)Classification$")  # a class of transformers
# A processor of pictures, or of sounds, has at least one of these settings.
OF_PICTURES = ("image_processor_type", "image_mean", "do_resize", "do_rescale")
OF_SOUNDS = ("feature_extractor_type", "sampling_rate")
DECODERS = ("gpt2",)  # types of decoders whose classes and settings need not say so


class ModelCard(BaseModel):
    """The card.toml of a model folder: what its configuration does not say."""

    order: int = 1000  # in the list of models
    title: MessageField | None = None
    note: MessageField | None = None
    languages: tuple[str, ...] = ()  # from, into
    pivot_language: str | None = None
    drawing: Drawing | None = None
    # Of the last layer: the head that shows best where the model looks or listens.
    head: Annotated[int, Field(ge=0)] | None = None


def read_model_card(folder: Path) -> ModelCard:
    """The card of a model; an empty one where there is none that can be read."""
    try:
        values = tomllib.loads((folder / "card.toml").read_text(encoding="utf-8"))
        for name in sorted(set(values) - set(ModelCard.model_fields)):
            near = suggestion(name, list(ModelCard.model_fields))
            log.warning("%s/card.toml has the unknown key %r. %s", folder.name, name, near)
        return ModelCard.model_validate(values)
    except (OSError, ValueError):
        return ModelCard()


def describe_model(folder: Path, name: str, origin: Origin) -> ModelDescription | None:
    """What the page shows in its list of models."""
    settings = read_object(folder / "config.json")
    kind = settings.get("model_type")
    parameters = count_parameters(folder)
    if not isinstance(kind, str) or parameters is None:
        return None
    shape, card = _find_shape(settings), read_model_card(folder)
    reads = find_reads(folder, settings)
    task = _find_task(settings, shape, reads)
    languages = card.languages or find_languages(folder)
    one_pair = shape == "encoder-decoder" and bool(languages) and not is_tagged(folder)
    return ModelDescription(
        name=name,
        label=name.removeprefix("zoo/"),
        family={OURS: "glassformer", RECURRENT: "recurrent"}.get(kind, kind),
        shape=shape,
        tasks=name_tasks(task),
        layers=None if kind == RECURRENT else _find_number(settings, "layers"),  # cells are no stack
        heads=1 if kind == RECURRENT else _find_number(settings, "heads"),
        width=_find_number(settings, "width"),
        vocabulary=_find_number(settings, "vocabulary"),
        languages=languages,
        max_tokens=None if _is_endless(settings) else _find_number(settings, "max_tokens"),
        parameters=parameters,
        origin=origin,
        note=card.note,
        decoder_layers=_count_decoder_layers(settings) if shape == "encoder-decoder" else None,
        pivot_language=card.pivot_language,
        one_pair=one_pair,
        title=card.title,
        samples=list_samples(task, languages[:1] if one_pair else languages),
        head=card.head,
        **_describe_media(settings, reads, card),
    )


def _describe_media(settings: Mapping[str, Any], reads: Reads, card: ModelCard) -> dict[str, Any]:
    """What a model looks at or listens to, and in which form."""
    if reads != "sound" or settings["model_type"] != OURS:
        return {"reads": reads, "drawing": card.drawing if reads == "picture" else None}
    usual = ModelConfig.__dataclass_fields__
    names = ("sample_rate", "hop", "frame_stride", "max_length")
    values = {name: settings.get(name, usual[name].default) for name in names}
    values["tokens"] = settings.get("sound_length") or values["max_length"]
    if not all(isinstance(each, int) and each > 0 for each in values.values()):
        return {"reads": reads}
    seconds = values["tokens"] * values["hop"] * values["frame_stride"] / values["sample_rate"]
    endless = _is_endless(settings)
    return {
        "reads": reads,
        "sample_rate": values["sample_rate"],
        "max_seconds": None if endless else min(seconds, MOST_SECONDS),
    }


def find_reads(folder: Path, settings: Mapping[str, Any]) -> Reads:
    """What a model reads, without opening it: ours say so; of others, by the settings of their processor."""
    if settings.get("model_type") == OURS:
        named = settings.get("reads")
        return cast(Reads, named) if named in get_args(Reads) else "text"
    if "text_config" in settings:  # a picture beside a text
        return "text"
    for file in ("preprocessor_config.json", "processor_config.json"):
        names = read_object(folder / file)
        if not names.keys().isdisjoint(OF_PICTURES):  # older ones call an image processor a feature extractor
            return "picture"
        if not names.keys().isdisjoint(OF_SOUNDS):
            return "sound"
    return "text"


def name_tasks(task: str) -> dict[str, Message]:
    """What a model that was trained for a task can do, and what a person reads."""
    found = {task: message(f"tasks.titles.{task}", task.replace("_", " ").capitalize())}
    if task == "language_modelling":
        found["generation"] = message("workbench.generation")
    return found


def count_parameters(folder: Path) -> int | None:
    """Numbers in the weights, as the headers of the files say; None where there are no safetensors."""
    files = [folder / "model.safetensors"]
    if not files[0].is_file():
        files = sorted(folder.glob("model-*-of-*.safetensors"))
    total = 0
    try:
        for path in files:
            with safe_open(path, framework="numpy") as file:
                total += sum(prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except (OSError, SafetensorError):
        return None
    return total if files else None


def find_languages(folder: Path) -> tuple[str, ...]:
    """Languages that tokens name, or the pair that the tokenizer was made for: from, into."""
    settings = read_object(folder / "tokenizer_config.json")
    pair = tuple(settings.get(key) for key in ("source_lang", "target_lang"))
    if all(isinstance(each, str) and each for each in pair):
        return tuple(str(each) for each in pair)
    path = folder / "tokenizer.json"
    try:
        if path.stat().st_size > LARGEST_JSON:
            return ()
        found = LANGUAGE.findall(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(sorted({one or other for one, other in found}, key=lambda each: (each != "en", each)))


def is_tagged(folder: Path) -> bool:
    """Whether the language to translate into is named by a token."""
    return "source_lang" not in read_object(folder / "tokenizer_config.json") and bool(find_languages(folder))


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where there is none that can be read."""
    try:
        if path.stat().st_size > LARGEST_JSON:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _find_shape(settings: Mapping[str, Any]) -> Shape:
    kind, task = settings["model_type"], _name_task(settings)
    shape = settings.get("shape") if kind == OURS else None
    if shape in ("encoder", "decoder", "encoder-decoder"):
        return cast(Shape, shape)
    if kind in (OURS, RECURRENT) or settings.get("is_encoder_decoder") or task == "translation":
        return "encoder-decoder"
    return "decoder" if task == "language_modelling" or kind in DECODERS else "encoder"


def _find_task(settings: Mapping[str, Any], shape: Shape, reads: Reads) -> str:
    named = settings.get(TASK)
    if isinstance(named, str) and named.isidentifier() and len(named) <= LONGEST_TASK:
        return named
    if reads != "text":
        written = "captioning" if reads == "picture" else "speech_recognition"
        classifies = settings.get("head") == "classes" or CLASSIFIES.search(_name_architecture(settings))
        return (
            written if shape == "encoder-decoder" else f"{reads}_classification" if classifies else "encoding"
        )
    if settings["model_type"] == OURS:
        usual = "translation" if shape == "encoder-decoder" else "language_modelling"
        return HEADS.get(str(settings.get("head", "language")), usual)
    return "translation" if shape == "encoder-decoder" else _name_task(settings)


def _name_task(settings: Mapping[str, Any]) -> str:
    """What the class of transformers in a configuration is for."""
    architecture = _name_architecture(settings)
    return next((task for end, task in TASKS.items() if architecture.endswith(end)), "encoding")


def _name_architecture(settings: Mapping[str, Any]) -> str:
    named = settings.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else ""


def _is_endless(settings: Mapping[str, Any]) -> bool:
    """Whether texts may be of any length, because positions are turned or compared, not looked up."""
    turned = settings.get("rope_parameters") or settings.get("rope_theta")
    return bool(turned) or settings.get("positions") in INSIDE_ATTENTION


def _count_decoder_layers(settings: Mapping[str, Any]) -> int | None:
    """As many as the encoder has where nothing else is said."""
    if settings["model_type"] == RECURRENT:
        return None
    return _find_number(settings, "decoder_layers") or _find_number(settings, "layers")


def _find_number(settings: Mapping[str, Any], what: str) -> int | None:
    values = (settings.get(name) for name in NAMES[what])
    return next((each for each in values if isinstance(each, int) and not isinstance(each, bool)), None)
