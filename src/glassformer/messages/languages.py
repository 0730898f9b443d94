"""The language of this process.

In:   GLASSFORMER_LANGUAGE, or the locale of the terminal.
Out:  the code of a language that has catalogues ("en", "zh").
"""

import os

from glassformer.messages.catalogues import FALLBACK, known_languages

_current: str | None = None


def get_language() -> str:
    """The language of `str(message)`: what was set, else GLASSFORMER_LANGUAGE, else English."""
    if _current is not None:
        return _current
    wish = os.environ.get("GLASSFORMER_LANGUAGE")
    return (match_language(wish) if wish else None) or FALLBACK


def set_language(language: str | None) -> None:
    """Set the language of this process; None: as the environment says."""
    global _current
    _current = language


def detect_language() -> str:
    """The language that a terminal asks for: GLASSFORMER_LANGUAGE first, then the locale."""
    for name in ("GLASSFORMER_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        wish = os.environ.get(name)
        if wish:
            return match_language(wish) or FALLBACK
    return FALLBACK


def match_language(wish: str) -> str | None:
    """zh for zh_CN.UTF-8 or zh-Hans; None where there are no catalogues."""
    language = wish.replace("-", "_").split(".")[0].split("_")[0].lower()
    return language if language in known_languages() else None
