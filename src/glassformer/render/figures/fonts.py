"""Fonts that have every letter of a figure.

In:   the texts that will be drawn.
Out:  names of installed font families, in the order to try them; letters that no font has are named in an
      error, never drawn as boxes.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from glassformer.errors import InputError
from glassformer.recording.visible import make_visible

FIRST = "DejaVu Sans"  # comes with matplotlib
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
    """The families that together have every letter; `given` ones (names, or paths of font files) go first."""
    wanted = {ord(letter) for text in texts for letter in text if not letter.isspace()}
    first = [_add(name) for name in given]
    families = first or [FIRST]
    for family in families:
        wanted -= _letters(family)
    for family in _candidates():
        if not wanted:
            break
        found = wanted & _letters(family)
        if found and family not in families:
            families.append(family)
            wanted -= found
    if wanted:
        named = " ".join(make_visible(chr(code)) for code in sorted(wanted)[:_SHOWN])
        more = f" and {len(wanted) - _SHOWN} more" if len(wanted) > _SHOWN else ""
        raise InputError(
            f"No font on this machine has the letters {named}{more}. Wanted one, so that no box is drawn "
            "in their place. Install a font that has them (fonts-noto-cjk for Chinese), or give fonts=[path]."
        )
    return families


def _add(name: str) -> str:
    """The family of a font file, made known; or the name itself."""
    from matplotlib import font_manager

    if not name.lower().endswith((".ttf", ".otf", ".ttc")):
        if name not in _paths():
            raise InputError(f"There is no font called {name!r} here. Give the path of a font file.")
        return name
    try:
        font_manager.fontManager.addfont(name)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as a font: {error}. Give a .ttf, .otf or .ttc.") from error
    _paths.cache_clear()
    return font_manager.FontProperties(fname=name).get_name()


def _candidates() -> list[str]:
    families = _paths()
    others = sorted(name for name in families if name not in _PREFERRED and not name.startswith(_BOXES))
    return [name for name in _PREFERRED if name in families] + others


@cache
def _paths() -> dict[str, str]:
    """A file for each family: the upright, regular one where there is one."""
    from matplotlib import font_manager

    entries = sorted(
        font_manager.fontManager.ttflist,
        key=lambda entry: (entry.style != "normal", abs(_weigh(entry.weight) - 400)),
    )
    paths: dict[str, str] = {}
    for entry in entries:
        paths.setdefault(entry.name, entry.fname)
    return paths


def _weigh(weight: int | str) -> int:
    return weight if isinstance(weight, int) else {"light": 300, "bold": 700, "heavy": 800}.get(weight, 400)


@cache
def _letters(family: str) -> frozenset[int]:
    """Every code that a family has a shape for."""
    from matplotlib import font_manager

    return frozenset(font_manager.get_font(_paths()[family]).get_charmap())
