"""Verbs about models themselves: write one as a folder, list what can be opened.

In:   the name of a model.
Out:  a folder; a table.
"""

import json
from dataclasses import asdict
from pathlib import Path

from glassformer.cli.verb import Arguments, Parser, add_model
from glassformer.errors import InputError


def add_convert(parser: Parser) -> None:
    """The words of `convert`."""
    add_model(parser)
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="where to write config.json and model.safetensors"
    )
    parser.add_argument(
        "--dtype", choices=("float32", "float16", "bfloat16"), help="the precision of the file"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the model that is already in FOLDER"
    )


def run_convert(arguments: Arguments) -> None:
    """Write a model as a folder that `transformers` opens, too."""
    import torch

    from glassformer.text.opening import open_tokenizer
    from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
    from glassformer.weights.hub import find_folder

    if (arguments.folder / "config.json").exists() and not arguments.overwrite:
        raise InputError(
            f"There is a model in {arguments.folder} already; choose another folder or add --overwrite."
        )
    checkpoint = open_checkpoint(find_folder(arguments.model))
    kind = save_checkpoint(
        checkpoint.network,
        arguments.folder,
        None if checkpoint.tokenizer is None else open_tokenizer(checkpoint.tokenizer),
        getattr(torch, arguments.dtype) if arguments.dtype else None,
        generation=checkpoint.generation,
        labels=checkpoint.labels,
    )
    print(f"Wrote {arguments.folder}, a model of the kind {kind}.")


def add_models(parser: Parser) -> None:
    """The words of `models`."""
    parser.add_argument("--json", action="store_true", help="for programs")


def run_models(arguments: Arguments) -> None:
    """List what ships with the package, and the published sizes."""
    from glassformer.weights.hub import ZOO
    from glassformer.weights.presets import PRESETS

    if arguments.json:
        names = sorted(path.parent.name for path in ZOO.glob("*/config.json"))
        sizes = {name: asdict(config) for name, config in PRESETS.items()}
        print(json.dumps({"shipped": [f"zoo/{name}" for name in names], "published": sizes}))
        return
    print("MODEL is a folder, or the name of a GPT-2, BERT, ALBERT or Marian on the Hugging Face hub;")
    print("`record` and `score` take any other architecture that transformers knows.")
    shipped = sorted(path.parent.name for path in ZOO.glob("*/config.json"))
    if shipped:
        print("Shipped with this package:  " + "  ".join(f"zoo/{name}" for name in shipped))
    print("Published sizes; encoder-decoders have other names there, such as Helsinki-NLP/opus-mt-en-de:\n")
    print(f"{'':20} {'shape':16} {'layers':>6} {'width':>6} {'heads':>6} {'words':>6}")
    for name, config in PRESETS.items():
        shown = f"({name})" if config.shape == "encoder-decoder" else name
        numbers = (config.layers, config.width, config.heads, config.vocabulary_size)
        print(f"{shown:20} {config.shape:16} " + " ".join(f"{number:6d}" for number in numbers))
