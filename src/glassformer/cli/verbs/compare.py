"""`glassformer compare`: two recordings subtracted, two models over texts, or two atlases side by side.

In:   two bundles; two models and texts; or two atlases, such as those of two checkpoints of one run.
Out:  what differs most, how tokens were aligned, which heads do the same or have another type. Bundles and
      atlases are compared without torch.
"""

from pathlib import Path

from glassformer.cli.inputs import require_model
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message

POSITION = 75
EXAMPLES = (
    "glassformer compare before.bundle after.bundle",
    "glassformer compare before.bundle after.bundle --output difference.html",
    'glassformer compare zoo/bert zoo/albert "The cat sleeps." "A dog barks."',
    "glassformer compare atlases/step-100 atlases/step-800",
)


def add_arguments(parser: Parser) -> None:
    """Two recordings, two models and texts, or two atlases."""
    parser.add_argument("first", metavar="FIRST.bundle | MODEL | ATLAS")
    parser.add_argument("second", metavar="SECOND.bundle | MODEL | ATLAS")
    parser.add_argument("texts", metavar="TEXT", nargs="*")
    parser.add_argument("--output", metavar="FILE.bundle | FILE.html", type=Path)


def run(arguments: Arguments) -> None:
    """Print the differences, first minus second; write them with --output."""
    from glassformer import bundle
    from glassformer.atlases.atlas import is_atlas, open_atlas
    from glassformer.comparison.difference import make_difference
    from glassformer.render.html.export import export

    sources, output = (arguments.first, arguments.second), arguments.output
    if arguments.texts:
        if output is not None:
            raise InputError("cli.compare.output_of_models")
        from glassformer.corpus.compare import compare  # only here, since it imports torch

        for source in sources:
            require_model(source)
        print(compare(sources, arguments.texts))
        return
    if all(map(is_atlas, sources)):
        if output is not None:
            raise InputError("cli.compare.output_of_atlases")
        print(open_atlas(sources[0]).compare(open_atlas(sources[1])))
        return
    missing = next((each for each in sources if not Path(each).is_file()), None)
    if missing is not None:
        raise InputError("cli.compare.no_texts", source=missing)
    found = make_difference(bundle.open(sources[0]), bundle.open(sources[1]))
    if output is not None and output.suffix.lower() in (".html", ".htm"):
        export(found.first, output, against=found.second)
    elif output is not None:
        found.recording.save(output)
    print(found)
    if output is not None:
        print(message("cli.compare.written", path=output, size=output.stat().st_size / 1e6))
