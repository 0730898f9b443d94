"""`glassformer convert`: a model as a folder that `transformers` opens, too."""

from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message

POSITION = 160
EXAMPLES = ("glassformer convert zoo/gpt2 my-folder --dtype float32",)


def add_arguments(parser: Parser) -> None:
    """A model, a folder, and the precision."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"))
    parser.add_argument("--overwrite", action="store_true")


def run(arguments: Arguments) -> None:
    """Write the folder."""
    import torch

    from glassformer.text.opening import open_tokenizer
    from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
    from glassformer.weights.hub import find_folder
    from glassformer.weights.native import KINDS

    if (arguments.folder / "config.json").exists() and not arguments.overwrite:
        raise InputError("cli.convert.exists", folder=arguments.folder)
    checkpoint = open_checkpoint(find_folder(arguments.model))
    kind = save_checkpoint(
        checkpoint.network,
        arguments.folder,
        None if checkpoint.tokenizer is None else open_tokenizer(checkpoint.tokenizer),
        getattr(torch, arguments.dtype) if arguments.dtype else None,
        generation=checkpoint.generation,
        labels=checkpoint.labels,
    )
    print(message("cli.convert.written", folder=arguments.folder, kind=kind))
    if kind in KINDS:
        print(message("cli.convert.native"))
