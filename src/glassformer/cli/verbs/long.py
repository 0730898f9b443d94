"""`glassformer long`: a recording of a very long text, as an example."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.output import draw_recording
from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message
from glassformer.place import name_term

if TYPE_CHECKING:
    from glassformer.recorders.store import ArrayStore

POSITION = 90
EXAMPLES = ("glassformer long --tokens 20000 --output long.bundle",)


def add_arguments(parser: Parser) -> None:
    """How long, and where to write."""
    parser.add_argument("--tokens", type=int, metavar="N", default=100_000)
    parser.add_argument("--output", metavar="FILE.bundle", type=Path, default=Path("long.bundle"))
    parser.add_argument("--device")


def run(arguments: Arguments) -> None:
    """Record a small rotary model on a text of any length."""
    from glassformer.lessons.long_text import invent_text, open_rotary
    from glassformer.loaded.opening import check_device
    from glassformer.recorders.store import writing_to

    check_device(arguments.device)
    model = open_rotary()
    if arguments.device is not None:
        model.to(arguments.device)
    text = invent_text(model, arguments.tokens)
    print(message("cli.long.begin", model=model.name, count=arguments.tokens), flush=True)
    start = time.monotonic()
    with writing_to(arguments.output) as destination:
        recording = model.record(text, keep=_reporting(destination.store))
        picture = draw_recording(recording)
        destination.finish(recording)
    size = arguments.output.stat().st_size / 2**20
    seconds = time.monotonic() - start
    print(f"\n{picture}\n")
    print(message("cli.long.end", path=arguments.output, size=size, seconds=seconds))


def _reporting(keep: "ArrayStore") -> "ArrayStore":
    """The same, and a line on the terminal for each layer that is done."""

    def keep_and_report(name: str, tensor: Any) -> Any:
        if name.endswith("/keys") and sys.stderr.isatty():
            _, stack, _, layer, _ = name.split("/")
            print(message("cli.long.layer", stack=name_term(stack), layer=int(layer)), file=sys.stderr)
        return keep(name, tensor)

    return keep_and_report
