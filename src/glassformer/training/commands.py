"""Commands that continue a run, for advice: what is printed can be pasted into a terminal.

In:   the folder of a run.
Out:  the text of a command.
"""

import shlex
from itertools import count
from pathlib import Path


def resume_command(run: Path) -> str:
    """The command that continues a run from its newest checkpoint."""
    return _join("--resume", "--name", run.name, *_folder(run))


def fork_command(run: Path, step: int, **settings: object) -> str:
    """The command that starts a run at a checkpoint of another one, with other settings of training."""
    names = (f"{run.name}-{number}" for number in count(2))
    name = next(name for name in names if not (run.parent / name).exists())
    changes = [word for key, value in settings.items() for word in ("--set", f"train.{key}={value}")]
    return _join("--fork", name, "--from", run.name, "--step", str(step), *_folder(run), *changes)


def _folder(run: Path) -> tuple[str, ...]:
    return () if run.parent == Path("runs") else ("--folder", str(run.parent))


def _join(*words: str) -> str:
    return shlex.join(("glassformer", "train", *words))
