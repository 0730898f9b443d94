"""`glassformer evaluate`: the scores of a checkpoint on a split of the data that its run learnt from."""

from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message

POSITION = 105
EXAMPLES = (
    "glassformer evaluate runs/first/best --split test",
    "glassformer evaluate my-model --recipe my-recipe.toml --split test --json",
)


def add_arguments(parser: Parser) -> None:
    """A checkpoint, and what to evaluate it on."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--limit", metavar="N", type=int)
    parser.add_argument("--recipe", metavar="RECIPE", type=Path)
    parser.add_argument("--set", metavar="TABLE.KEY=VALUE", action="append", default=[])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """Print the scores."""
    from glassformer.render.summary import to_json
    from glassformer.training.evaluate import evaluate

    scores = evaluate(
        arguments.checkpoint,
        arguments.split,
        recipe=arguments.recipe,
        overrides=arguments.set,
        limit=arguments.limit,
        device=arguments.device,
    )
    if arguments.json:
        about = {"checkpoint": str(arguments.checkpoint), "split": arguments.split, "scores": scores}
        print(to_json(about))
        return
    for name, score in scores.items():
        print(message("cli.evaluate.score", split=arguments.split, name=name, score=score))
