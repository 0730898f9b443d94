"""What is known about a model before it is opened.

In:   a model folder.
Out:  a `ModelDescription` from its config.json, the headers of its weights and its tokenizer's languages;
      None where the folder holds no model that can be opened. Without torch.
"""

import json
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError, safe_open

from glassformer.api.jobs import ModelDescription
from glassformer.messages import Message, message

Shape = Literal["encoder", "decoder", "encoder-decoder"]
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
    "ForConditionalGeneration": "translation",
    "MTModel": "translation",
}
HEADS = {"masked": "masked_language_modelling", "classes": "classification", "none": "encoding"}
LANGUAGES = {"zoo/recurrent": ("en", "fr")}  # what a folder does not say itself
ENDLESS = ("rotary", "relative", "none")  # positions that go on for ever


def describe_model(folder: Path, name: str, origin: Origin) -> ModelDescription | None:
    """What the page shows in its list of models."""
    settings = read_object(folder / "config.json")
    kind = settings.get("model_type")
    parameters = count_parameters(folder)
    if not isinstance(kind, str) or parameters is None:
        return None
    shape = _find_shape(settings)
    task = _find_task(settings, shape)
    return ModelDescription(
        name=name,
        label=name.removeprefix("zoo/"),
        family={OURS: "glassformer", RECURRENT: "recurrent"}.get(kind, kind),
        shape=shape,
        tasks={task: message(f"tasks.titles.{task}", task.replace("_", " ").capitalize())},
        layers=None if kind == RECURRENT else _find_number(settings, "layers"),  # cells are no stack
        heads=1 if kind == RECURRENT else _find_number(settings, "heads"),
        width=_find_number(settings, "width"),
        vocabulary=_find_number(settings, "vocabulary"),
        languages=LANGUAGES.get(name) or find_languages(folder),
        max_tokens=None if _is_endless(settings) else _find_number(settings, "max_tokens"),
        parameters=parameters,
        origin=origin,
        note=_find_note(name),
        decoder_layers=_count_decoder_layers(settings) if shape == "encoder-decoder" else None,
    )


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
    """Languages that a translator is told by a token, or that its tokenizer was made for: from, into."""
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
    if settings["model_type"] == RECURRENT:
        return "encoder-decoder"
    if settings["model_type"] == OURS:
        shape = settings.get("shape", "encoder-decoder")
        return shape if shape in ("encoder", "decoder", "encoder-decoder") else "encoder-decoder"
    if settings.get("is_encoder_decoder") or settings["model_type"] == "marian":
        return "encoder-decoder"
    writes = _find_architecture(settings).endswith(("ForCausalLM", "LMHeadModel"))
    return "decoder" if writes or settings["model_type"] == "gpt2" else "encoder"


def _find_task(settings: Mapping[str, Any], shape: Shape) -> str:
    named = settings.get(TASK)
    if isinstance(named, str) and named.isidentifier() and len(named) <= LONGEST_TASK:
        return named
    if settings["model_type"] == OURS:
        usual = "translation" if shape == "encoder-decoder" else "language_modelling"
        return HEADS.get(str(settings.get("head", "language")), usual)
    if shape == "encoder-decoder":
        return "translation"
    architecture = _find_architecture(settings)
    return next((task for end, task in TASKS.items() if architecture.endswith(end)), "encoding")


def _is_endless(settings: Mapping[str, Any]) -> bool:
    """Whether texts may be of any length, because positions are turned or compared, not looked up."""
    turned = settings.get("rope_parameters") or settings.get("rope_theta")
    return bool(turned) or settings.get("positions") in ENDLESS


def _find_architecture(settings: Mapping[str, Any]) -> str:
    named = settings.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else ""


def _count_decoder_layers(settings: Mapping[str, Any]) -> int | None:
    """As many as the encoder has where nothing else is said."""
    if settings["model_type"] == RECURRENT:
        return None
    return _find_number(settings, "decoder_layers") or _find_number(settings, "layers")


def _find_number(settings: Mapping[str, Any], what: str) -> int | None:
    values = (settings.get(name) for name in NAMES[what])
    return next((each for each in values if isinstance(each, int) and not isinstance(each, bool)), None)


ZOO_ORDER = (
    "translator",
    "gpt2",
    "bert",
    "albert",
    "sentiment",
    "recurrent",
    "rotary",
)  # as models are listed


def _find_note(name: str) -> Message | None:
    """What to know about a shipped model."""
    shipped = name.removeprefix("zoo/")
    if shipped == name or shipped not in ZOO_ORDER:
        return None
    return message(f"workbench.note.{shipped}")
