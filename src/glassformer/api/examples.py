"""Example texts of atlases as recordings: their ids and files.

In:   folders of atlases; the id of an example.
Out:  the bundle. The id of an example is "ATLAS:example:NUMBER", such as "gpt2:example:0".
"""

from collections.abc import Iterable
from pathlib import Path

from glassformer.api.folders import names_folder
from glassformer.atlases.atlas import EXAMPLES, FILE


def make_example_id(atlas: str, number: int) -> str:
    """The id of a recording."""
    return f"{atlas}:example:{number}"


def read_example_id(id: str) -> tuple[str, int] | None:
    """Atlas and number of the id of an example; None for every other id."""
    atlas, _, rest = id.rpartition(":example:")
    if not atlas or not (rest.isascii() and rest.isdigit() and len(rest) <= 9):
        return None
    return (atlas, int(rest)) if make_example_id(atlas, int(rest)) == id else None


def find_atlas(folders: Iterable[Path], id: str) -> Path | None:
    """The folder of an atlas directly inside the first of some folders that has one of this name."""
    if not names_folder(id):
        return None
    return next((path for folder in folders if ((path := folder / id) / FILE).is_file()), None)


def find_example(folders: Iterable[Path], id: str) -> Path | None:
    """The bundle of an example; None where there is none."""
    parts = read_example_id(id)
    folder = None if parts is None else find_atlas(folders, parts[0])
    if parts is None or folder is None:
        return None
    path = folder / EXAMPLES / f"{parts[1]}.bundle"
    return path if path.is_file() else None
