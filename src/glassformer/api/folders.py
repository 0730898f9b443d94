"""Folders of a server: clients know what is in them by name, and are never told where they are.

In:   a message, and folders; a name from an address.
Out:  the message without their places; whether a folder can have the name.
"""

from collections.abc import Iterable
from pathlib import Path

from glassformer.messages import Message

LONGEST_NAME = 255  # bytes, of most file systems


def hide_folders(text: Message, folders: Iterable[Path]) -> Message:
    """The message with the mere names of these folders."""
    places = {
        str(place): place.name
        for folder in folders
        for place in (folder.expanduser().absolute(), folder.expanduser().resolve())
        if len(place.parts) > 2  # the name of "/models" hides nothing, and may be part of an address
    }
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place])
    return text


def names_folder(id: str) -> bool:
    """Whether an id from an address can be the name of a folder; a path cannot."""
    plain = not any(each in id for each in "/\\\0") and id not in ("", ".", "..")
    return plain and len(id.encode("utf-8", "surrogatepass")) <= LONGEST_NAME
