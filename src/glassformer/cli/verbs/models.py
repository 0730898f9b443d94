"""`glassformer models`: what can be opened."""

import json
from dataclasses import asdict

from glassformer.cli.output import count_columns, has_colour
from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message
from glassformer.render.terminal.text import wrap

POSITION = 170
EXAMPLES = ("glassformer models",)


def add_arguments(parser: Parser) -> None:
    """Output for programs."""
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """List the models that ship with the package, and the published sizes."""
    from glassformer.render.terminal.tables import draw_table
    from glassformer.weights.hub import ZOO
    from glassformer.weights.presets import PRESETS

    shipped = [f"zoo/{name}" for name in sorted(path.parent.name for path in ZOO.glob("*/config.json"))]
    if arguments.json:
        sizes = {name: asdict(config) for name, config in PRESETS.items()}
        print(json.dumps({"shipped": shipped, "published": sizes}))
        return
    columns = count_columns()
    lines = [message("cli.models.about")]
    if shipped:
        lines.append(message("cli.models.shipped", names="  ".join(shipped)))
    lines.append(message("cli.models.published"))
    print("\n".join(wrap(str(line), columns) for line in lines), end="\n\n")
    headers = ("name", "shape", "layers", "width", "heads", "vocabulary")
    rows = [tuple(str(message(f"cli.models.columns.{name}")) for name in headers)]
    for name, config in PRESETS.items():
        shown = f"({name})" if config.shape == "encoder-decoder" else name
        numbers = (config.layers, config.width, config.heads, config.vocabulary_size)
        rows.append((shown, config.shape, *map(str, numbers)))
    print(draw_table(rows, right={2, 3, 4, 5}, columns=columns, colour=has_colour()))
