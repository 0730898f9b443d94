"""Where the folders of a server lie is no business of its clients.

In:   a message, and folders.
Out:  the message without their places.
"""

from collections.abc import Iterable
from pathlib import Path

from glassformer.messages import Message


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
