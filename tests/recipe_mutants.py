"""A small recipe, and what a stranger may make of it."""

import copy
import os
import random
from math import inf, nan
from pathlib import Path
from typing import Any

RECIPE: dict[str, Any] = {
    "task": {"name": "language_modelling", "path": "text.txt", "context": 16},
    "tokenizer": {"kind": "characters"},
    "model": {"layers": 1, "width": 16, "heads": 2, "feed_forward": 32, "max_length": 16},
    "batches": {"tokens": 64},
    "train": {"steps": 10, "rate": 1e-3},
    "monitor": {"every": 0},
}
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63), 2**70, 0.5, -0.0, 1e308, inf, -inf, nan),
    *("", "x", "dev", "stop", "text.txt", "*", "**", "{split}", "zoo/bert", "a" * 5000, ["a"] * 2000),
    *("/etc/passwd", "../outside/secret.txt", "out/secret.txt", "link.txt", "~root/x", "mixed", "pipe"),
    *("\0", "a\nb = 1", '"]\n[plugins]\nx = "', "\ud800", "$(touch seen)", "; touch seen", "touch seen"),
    *("http://example.org/x", "file:///etc/passwd", "zoo/../x", "mine.py", ["/etc/passwd"], [], {}, [[]]),
    *([{}], {"path": "/etc/passwd"}, [{"path": "/etc/passwd"}], [{"path": "link.txt"}], [None], [1, "a"]),
)
NAMES = (
    *("plugins", "callbacks", "path", "folder", "start", "on_alarm", "second_path", "files", "also", "name"),
    *("kind", "preset", "evaluate_on", "device", "search", "", ".", "__class__", "train.steps", "é", "size"),
)


def mutate(chance: random.Random) -> dict[str, Any]:
    """The recipe with a few values, names or tables changed, added or removed."""
    recipe: dict[str, Any] = copy.deepcopy(RECIPE)
    for _ in range(chance.randint(1, 4)):
        table = chance.choice([*recipe, *NAMES, "task", "task", "model"])
        match chance.randrange(5):
            case 0:
                recipe[table] = copy.deepcopy(chance.choice(VALUES))
            case 1:
                recipe.pop(table, None)
            case _:
                values = recipe.setdefault(table, {})
                if isinstance(values, dict):
                    key = chance.choice([*values, *NAMES])
                    values[key] = copy.deepcopy(chance.choice(VALUES))
    return recipe


def make_data(tmp_path: Path) -> Path:
    """A data folder with files, a model and links that lead out of it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (outside / "config.json").write_text("{}")
    folder = tmp_path / "data"
    (folder / "sub" / "pos").mkdir(parents=True)
    for name in ("text.txt", "train.txt", "dev.txt", "sub/pairs.tsv", "sub/pos/1.txt"):
        (folder / name).write_text("a\tb\n" * 20)
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text("{}")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "inner.txt").symlink_to(folder / "text.txt")
    (folder / "out").symlink_to(outside)
    (folder / "mixed").mkdir()
    (folder / "mixed" / "link.txt").symlink_to(outside / "secret.txt")
    os.mkfifo(folder / "pipe")
    return folder
