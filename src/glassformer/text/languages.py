"""Languages that a vocabulary names: the first token of a source says what to translate into.

In:   a tokenizer.
Out:  ids of such tokens, and the languages there are, in the two spellings that are in use.
"""

import re

from glassformer.errors import InputError
from glassformer.text.tokenizer import Tokenizer, check_text

SPELLINGS = (">>{}<<", "<2{}>")
_NAMED = re.compile(r">>([\w-]{2,12})<<|<2([\w-]{2,12})>")
_SHOWN = 12


def find_language(tokenizer: Tokenizer | None, language: str) -> int:
    """The token that names a language; an unknown one is an error that lists those there are."""
    check_text(language)
    names = [spelling.format(language) for spelling in SPELLINGS]
    ids = [] if tokenizer is None else map(tokenizer.find, names)
    found = next((token for token in ids if token is not None), None)
    if found is None:
        there = [] if tokenizer is None else list_languages(tokenizer)
        if not there:
            raise InputError("text.no_language.none", language=language, names=names)
        known = there[:_SHOWN] + (["…"] if len(there) > _SHOWN else [])
        raise InputError("text.no_language.one_of", language=language, names=names, known=known)
    return found


def list_languages(tokenizer: Tokenizer) -> list[str]:
    """Every language that some special token names."""
    texts = tokenizer.display(sorted(tokenizer.special_ids))
    matches = (_NAMED.fullmatch(text.strip()) for text in texts)
    return sorted({match[1] or match[2] for match in matches if match})


def names_language(text: str) -> bool:
    """Whether a token is written like one that names a language."""
    return _NAMED.fullmatch(text.strip()) is not None
