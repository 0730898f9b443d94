"""Fonts that have every letter of a figure.

In:   the texts that will be drawn.
Out:  names of installed font families, in the order to try them; characters that no font has are named in an
      error, never drawn as boxes.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.errors import InputError
from glassformer.recording.visible import make_visible

FIRST = "DejaVu Sans"  # comes with matplotlib
_GENERIC = ("serif", "sans-serif", "cursive", "fantasy", "monospace")
# Then, where letters are missing, the usual families with Chinese, before any other that has them.
_PREFERRED = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "SimHei",
    "Noto Sans CJK JP",
    "Hiragino Sans",
    "Noto Sans",
)
_BOXES = "Last Resort"  # has a box for every letter there is
_SHOWN = 8  # missing letters that are named


def choose_fonts(texts: Iterable[str], given: Sequence[str] = ()) -> list[str]:
    """The families that together have every letter; `given` ones (names, or paths of font files) go first.

    Where none is given, those of matplotlib's settings (`font.family`) do.
    """
    wanted = {ord(letter) for text in texts for letter in text if not letter.isspace()}
    first = [_add(name) for name in given] or _find_usual()
    families, missing = _cover(wanted, first)
    if missing and _rescan():
        families, missing = _cover(wanted, first)
    if missing:
        named = " ".join(make_visible(chr(code)) for code in sorted(missing)[:_SHOWN])
        code = "render.figures.no_font_for_more" if len(missing) > _SHOWN else "render.figures.no_font_for"
        raise InputError(code, letters=named, more=len(missing) - _SHOWN)
    return families


def _cover(wanted: set[int], first: Sequence[str]) -> tuple[list[str], set[int]]:
    """Families that have the letters, the first ones always among them; and the letters that none has."""
    families, missing = list(first), set(wanted)
    for family in families:
        missing -= _letters(family)
    for family in _candidates():
        if not missing:
            break
        if family not in families and missing & _letters(family):
            families.append(family)
            missing -= _letters(family)
    return families, missing


def _find_usual() -> list[str]:
    """The families that matplotlib's settings name and that are installed; of a generic one the first."""
    import matplotlib

    settings: Any = matplotlib.rcParams
    found: list[str] = []
    for name in settings["font.family"]:
        generic = "sans-serif" if name.lower().startswith("sans") else name.lower()
        named = settings[f"font.{generic}"] if generic in _GENERIC else [name]
        found += [family for family in named if family in _installed()][:1]
    return list(dict.fromkeys(found)) or [FIRST]


def _rescan() -> bool:
    """Look for fonts that were installed after matplotlib wrote its list of them; whether there are any."""
    from matplotlib import font_manager

    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    new = [path for path in font_manager.findSystemFonts() if path not in known]
    for path in new:
        with suppress(OSError, RuntimeError):  # a damaged file is no font
            font_manager.fontManager.addfont(path)
    _installed.cache_clear()
    return bool(new)


def _add(name: str) -> str:
    """The family of a font file, made known; or the name itself."""
    from matplotlib import font_manager

    if not name.lower().endswith((".ttf", ".otf", ".ttc")):
        if name not in _installed() and not (_rescan() and name in _installed()):
            raise InputError("render.figures.unknown_font", name=name)
        return name
    try:
        font_manager.fontManager.addfont(name)
    except (OSError, RuntimeError) as error:
        raise InputError("render.figures.broken_font", path=name, error=str(error)) from error
    _installed.cache_clear()
    return font_manager.FontProperties(fname=name).get_name()


def _candidates() -> list[str]:
    families = _installed()
    others = sorted(name for name in families if name not in _PREFERRED and not name.startswith(_BOXES))
    return [name for name in _PREFERRED if name in families] + others


@cache
def _installed() -> frozenset[str]:
    """The families that have a file: it may have been removed since matplotlib wrote its list."""
    from matplotlib import font_manager

    return frozenset(entry.name for entry in font_manager.fontManager.ttflist if Path(entry.fname).is_file())


@cache
def _letters(family: str) -> frozenset[int]:
    """Every code that a family has a shape for, in the file that matplotlib draws with."""
    from matplotlib import font_manager

    path = font_manager.findfont(font_manager.FontProperties(family=[family]))
    return frozenset(font_manager.get_font(path).get_charmap())
