"""Languages that a vocabulary names: the first token of a source says what to translate into.

In:   a tokenizer.
Out:  ids of such tokens, and the languages there are, in the two spellings that are in use.
"""

import re

from glassformer.errors import InputError
from glassformer.text.tokenizer import Tokenizer

SPELLINGS = (">>{}<<", "<2{}>")
_NAMED = re.compile(r">>([\w-]{2,12})<<|<2([\w-]{2,12})>")
_SHOWN = 12


def find_language(tokenizer: Tokenizer | None, language: str) -> int:
    """The token that names a language; an unknown one is an error that lists those there are."""
    names = [spelling.format(language) for spelling in SPELLINGS]
    known = [] if tokenizer is None else map(tokenizer.find, names)
    found = next((token for token in known if token is not None), None)
    if found is None:
        there = [] if tokenizer is None else list_languages(tokenizer)
        shown = ", ".join(there[:_SHOWN]) + (" …" if len(there) > _SHOWN else "")
        do = (
            f"choose one of: {shown}."
            if there
            else "a model for one pair of languages needs none: leave the language out."
        )
        raise InputError(
            f"The vocabulary has no token for the language {language!r} ({' or '.join(names)}); {do}"
        )
    return found


def list_languages(tokenizer: Tokenizer) -> list[str]:
    """Every language that some special token names."""
    texts = tokenizer.display(sorted(tokenizer.special_ids))
    matches = (_NAMED.fullmatch(text.strip()) for text in texts)
    return sorted({match[1] or match[2] for match in matches if match})
