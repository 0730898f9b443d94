"""Texts for people: codes with parameters, formatted in the reader's language at the edge.

In:   `message("place.map", stack="decoder", …)` wherever a text arises: errors, notes, captions.
Out:  the text in any language that has catalogues: `str(message)` in the language of this process,
      `message.text("zh")` in another. Texts are never parsed back.

A catalogue is a TOML file, `messages/LANGUAGE/AREA.toml`; the code of an entry is AREA.KEY. Adding a language
is adding a folder of catalogues: here, or in a folder that GLASSFORMER_CATALOGUES names.
"""

from glassformer.messages.catalogues import known_languages, read_catalogue
from glassformer.messages.languages import detect_language, get_language, match_language, set_language
from glassformer.messages.message import Message, as_message, literal, message

__all__ = [
    "Message",
    "as_message",
    "detect_language",
    "get_language",
    "known_languages",
    "literal",
    "match_language",
    "message",
    "read_catalogue",
    "set_language",
]
