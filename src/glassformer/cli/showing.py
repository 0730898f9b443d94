"""Verbs that show what was recorded: in the terminal, as one HTML file, as a figure.

In:   a bundle (or the folder of a training run, for a figure).
Out:  text in colour; an .html; a .pdf, .svg or .png. Torch is not needed for any of them.
"""

import os
import sys
from pathlib import Path

from glassformer.cli.verb import Arguments, Parser, count_columns, read_assignments
from glassformer.errors import InputError


def add_show(parser: Parser) -> None:
    """The words of `show`."""
    _add_bundle(parser)
    _add_place(parser)


def run_show(arguments: Arguments) -> None:
    """Draw a recording in the terminal."""
    from glassformer import bundle
    from glassformer.render.terminal.colours import wants_colour
    from glassformer.render.terminal.heatmap import draw_recording

    print(
        draw_recording(
            bundle.open(arguments.file),
            part=arguments.part,
            layer=arguments.layer,
            head=arguments.head,
            columns=count_columns(),
            colour=wants_colour(sys.stdout, os.environ),
        )
    )


def add_export(parser: Parser) -> None:
    """The words of `export`."""
    _add_bundle(parser)
    parser.add_argument("output", metavar="FILE.html", type=Path, nargs="?", help="(beside the bundle)")
    parser.add_argument("--hidden", action="store_true", help="take hidden states along")
    parser.add_argument("--vectors", action="store_true", help="take queries, keys and values along")
    parser.add_argument("--exact", action="store_true", help="weights as floats, four times as large")
    parser.add_argument("--title", help="of the page")


def run_export(arguments: Arguments) -> None:
    """Write one HTML file that needs no server and no network."""
    from glassformer import bundle
    from glassformer.render.html.export import export

    recording = bundle.open(arguments.file)
    place = export(
        recording,
        arguments.output or Path(arguments.file).with_suffix(".html"),
        hidden=arguments.hidden,
        vectors=arguments.vectors,
        exact=arguments.exact,
        title=arguments.title,
    )
    print(f"Wrote {place}, {place.stat().st_size / 1e6:.1f} MB: open it in a browser.")


def add_figure(parser: Parser) -> None:
    """The words of `figure`."""
    parser.add_argument("source", metavar="FILE.bundle | RUN", help="a recording, or the folder of a run")
    parser.add_argument("output", metavar="FILE.pdf", type=Path, help=".pdf, .svg or .png")
    parser.add_argument("--view", help="heatmap, heads, lines or bars; curves for a run")
    _add_place(parser, several=True)
    parser.add_argument("--metric", default="entropy", help="for bars (entropy)")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the metric"
    )
    parser.add_argument("--curve", metavar="NAME", action="append", help="a curve of the run, as loss")
    parser.add_argument("--title", help="above the figure; otherwise what it shows")
    parser.add_argument("--width", default="column", help="column (3.4 inches), page (7) or inches")
    parser.add_argument("--font", metavar="NAME", action="append", default=[], help="a font, or its file")


def run_figure(arguments: Arguments) -> None:
    """Draw a figure for a paper."""
    from glassformer import bundle
    from glassformer.render.figures import figure
    from glassformer.runlog import is_run, read_run

    thing = read_run(arguments.source) if is_run(arguments.source) else bundle.open(arguments.source)
    drawn = figure(
        thing,
        arguments.view,
        part=arguments.part,
        layer=arguments.layer,
        head=arguments.head,
        metric=arguments.metric,
        parameters=read_assignments(arguments.set),
        names=arguments.curve,
        title=arguments.title,
        width=_read_width(arguments.width),
        fonts=arguments.font,
    )
    print(f"Wrote {drawn.save(arguments.output)}.")


def _read_width(word: str) -> str | float:
    if word in ("column", "page"):
        return word
    try:
        return float(word)
    except ValueError:
        raise InputError(f"The width is {word!r}. Wanted column, page or a number of inches.") from None


def _add_bundle(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE.bundle", type=Path, help="what `record --output` wrote")


def _add_place(parser: Parser, *, several: bool = False) -> None:
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help="a head of this part")
    parser.add_argument("--layer", type=int, metavar="N", help="of this layer, from 0")
    more = "; several for lines" if several else ""
    parser.add_argument(
        "--head",
        type=int,
        metavar="N",
        nargs="+" if several else None,
        help=f"this one, from 0; otherwise the most focused{more}",
    )
