"""`glassformer branch`: go back to a step of a generated text and go on in another way.

In:   the bundle of a generated text, a step (or a hypothesis of a beam search), what changes from there on.
Out:  both texts in the terminal, or JSON; a bundle.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.cli.edits import read_edit
from glassformer.cli.output import escape_controls
from glassformer.cli.parser import Arguments, Parser
from glassformer.cli.verbs.record import WANTED
from glassformer.errors import InputError
from glassformer.messages import message

if TYPE_CHECKING:
    from glassformer.recorders.store import ArrayStore
    from glassformer.recording import Recording

POSITION = 33
EXAMPLES = (
    'glassformer branch root.bundle 1 --token " he" --name he --output he.bundle',
    'glassformer branch he.bundle 4 --edit "block decoder self 0 3" --output quiet.bundle',
)


def add_arguments(parser: Parser) -> None:
    """A recording, a step, what changes, where it is kept."""
    parser.add_argument("file", metavar="FILE.bundle", type=Path)
    parser.add_argument("step", metavar="STEP", type=int, nargs="?")
    parser.add_argument("--token", metavar="TEXT")
    parser.add_argument("--edit", metavar="EDIT", action="append", default=[])
    parser.add_argument("--temperature", type=float, metavar="X")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--max-new-tokens", type=int, metavar="N")
    parser.add_argument("--node", type=int, metavar="N")
    parser.add_argument("--name", default="")
    parser.add_argument("--model", metavar="MODEL")
    parser.add_argument("--device")
    parser.add_argument("--want", metavar="NAMES", default=WANTED)
    parser.add_argument("--output", metavar="FILE.bundle", type=Path)
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """Branch off from a recording, draw both texts, keep the new one."""
    import sys

    from glassformer import bundle
    from glassformer.recorders.store import writing_to
    from glassformer.recording import tree
    from glassformer.render.summary import summarise, to_json

    _check(arguments)
    parent = bundle.open(arguments.file)
    kept = writing_to(arguments.output) if arguments.output else nullcontext()
    with kept as destination:
        made = _make(arguments, parent, None if destination is None else destination.store)
        printed = to_json(summarise(made)) if arguments.json else str(tree([parent, made]))
        if destination is not None:
            destination.finish(made)
    print(printed if arguments.json else escape_controls(printed, sys.stdout))
    if arguments.output and not arguments.json:
        print(f"\n{message('cli.record.kept', path=arguments.output)}")


def _check(arguments: Arguments) -> None:
    if (arguments.step is None) == (arguments.node is None):
        raise InputError("cli.branch.step_or_node")
    changes = (arguments.token, arguments.temperature, arguments.seed, arguments.max_new_tokens)
    if arguments.node is not None and (arguments.edit or any(each is not None for each in changes)):
        raise InputError("cli.branch.node_alone")


def _make(arguments: Arguments, parent: "Recording", keep: "ArrayStore | None") -> "Recording":
    from glassformer.loaded.opening import load
    from glassformer.recorders.branch import branch, open_hypothesis
    from glassformer.recorders.request import check_want

    want = check_want([name.strip() for name in arguments.want.split(",") if name.strip()])
    edits = [read_edit(edit) for edit in arguments.edit]
    model = load(arguments.model or parent.model, device=arguments.device)
    if arguments.node is not None:
        return open_hypothesis(parent, arguments.node, name=arguments.name, model=model, want=want, keep=keep)
    return branch(
        parent,
        arguments.step,
        token=arguments.token,
        edits=edits,
        temperature=arguments.temperature,
        seed=arguments.seed,
        max_new_tokens=arguments.max_new_tokens,
        name=arguments.name,
        model=model,
        want=want,
        keep=keep,
    )
