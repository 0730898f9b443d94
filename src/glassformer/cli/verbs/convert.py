"""`glassformer convert`: a model as a folder that `transformers` opens, too."""

from pathlib import Path

from glassformer.cli.inputs import add_model
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.cli.verb import Verb
from glassformer.errors import InputError
from glassformer.messages import message


def add_arguments(parser: Parser) -> None:
    """A model, a folder, and the precision."""
    add_model(parser)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help=help_text("cli.help.convert.folder"))
    parser.add_argument(
        "--dtype", choices=("float32", "float16", "bfloat16"), help=help_text("cli.help.convert.dtype")
    )
    parser.add_argument("--overwrite", action="store_true", help=help_text("cli.help.convert.overwrite"))


def run(arguments: Arguments) -> None:
    """Write the folder."""
    import torch

    from glassformer.text.opening import open_tokenizer
    from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
    from glassformer.weights.hub import find_folder

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


VERB = Verb(
    "convert",
    add_arguments,
    run,
    examples=("glassformer convert zoo/gpt2 my-folder --dtype float32",),
    position=160,
)
