"""`glassformer figure`: a recording, a training run, an atlas or a study as a figure. Torch is not needed."""

from pathlib import Path

from glassformer.cli.inputs import add_place, open_result, read_assignments, read_place
from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import known_languages, message

POSITION = 60
EXAMPLES = (
    "glassformer figure tom.bundle tom.pdf --place decoder.cross.2",
    "glassformer figure tom.bundle heads.svg --view heads --width page",
    "glassformer figure tom.bundle grid.pdf --head 0 3 encoder.self.1:2 --vmax 1",
    "glassformer figure tom.bundle change.pdf --view difference --against edited.bundle",
    "glassformer figure runs/first curves.pdf",
    "glassformer figure atlases/mine heads.pdf --metric induction",
    "glassformer figure animals effects.pdf --metric effects",
    "glassformer figure runs/first learnt.pdf --view strip --place decoder.self.1 --head 2 --width page",
)


def add_arguments(parser: Parser) -> None:
    """A recording, a run, an atlas or a study, a file, and what to draw."""
    parser.add_argument("source", metavar="FILE.bundle | RUN | ATLAS | STUDY")
    parser.add_argument("output", metavar="FILE.pdf", type=Path)
    parser.add_argument("--view")
    add_place(parser, heads=str)
    parser.add_argument("--against", metavar="OTHER.bundle", type=Path)
    parser.add_argument("--vmax", type=float, metavar="X")
    parser.add_argument("--cmap", metavar="NAME")
    parser.add_argument("--scale", choices=("linear", "root"))
    parser.add_argument("--metric")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--curve", metavar="NAME", action="append")
    parser.add_argument("--step", metavar="N", type=int, action="append")
    parser.add_argument("--text", metavar="N", type=int)
    parser.add_argument("--title")
    parser.add_argument("--width", default="column")
    parser.add_argument("--font", metavar="NAME", action="append", default=[])
    parser.add_argument("--language", choices=known_languages())


def run(arguments: Arguments) -> None:
    """Draw a figure for a paper."""
    from glassformer import bundle
    from glassformer.render.figures import figure

    source = open_result(arguments.source)
    other = None if arguments.against is None else bundle.open(arguments.against)
    drawn = figure(
        source,
        arguments.view,
        **read_place(arguments),
        metric=arguments.metric,
        parameters=read_assignments(arguments.set),
        names=arguments.curve,
        steps=arguments.step,
        text=arguments.text,
        against=other,
        vmax=arguments.vmax,
        cmap=arguments.cmap,
        scale=arguments.scale,
        title=arguments.title,
        width=arguments.width,
        fonts=arguments.font,
        language=arguments.language,
    )
    print(message("cli.figure.written", path=drawn.save(arguments.output)))
