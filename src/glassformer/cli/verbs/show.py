"""`glassformer show`: a recording in the terminal. Torch is not needed."""

from glassformer.cli.drawing import draw_recording
from glassformer.cli.inputs import add_bundle, add_place
from glassformer.cli.parser import Arguments, Parser
from glassformer.cli.verb import Verb


def add_arguments(parser: Parser) -> None:
    """A recording, and one of its heads."""
    add_bundle(parser)
    add_place(parser)


def run(arguments: Arguments) -> None:
    """Draw a recording in the terminal."""
    from glassformer import bundle

    recording = bundle.open(arguments.file)
    print(draw_recording(recording, part=arguments.part, layer=arguments.layer, head=arguments.head))


VERB = Verb(
    "show",
    add_arguments,
    run,
    examples=("glassformer show tom.bundle --part cross --layer 2 --head 1",),
    position=40,
)
