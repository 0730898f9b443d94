"""Fonts: one that is installed, or removed, after matplotlib wrote its list of fonts."""

from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.ttLib.tables._g_l_y_f import Glyph
from matplotlib import font_manager

from drawings import make_recording
from glassformer.errors import InputError
from glassformer.render.figures import figure, fonts
from glassformer.render.figures.figure import Choice, Sheet

LETTER = "𒀀"  # that no usual font has


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where matplotlib looks for fonts, and none elsewhere but its own."""
    manager = font_manager.fontManager
    own = [entry for entry in manager.ttflist if entry.name == fonts.FIRST]
    monkeypatch.setattr(manager, "ttflist", own)
    monkeypatch.setattr(font_manager, "X11FontDirectories", [str(tmp_path)])
    monkeypatch.setattr(font_manager, "OSXFontDirectories", [])
    monkeypatch.setattr(font_manager, "_get_fontconfig_fonts", list)
    for function in (fonts._installed, fonts._letters):
        monkeypatch.setattr(fonts, function.__name__, fonts.cache(function.__wrapped__))
    return tmp_path


def install(path: Path, family: str = "Test Cuneiform") -> Path:
    """Write a font that has one letter."""
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "letter"])
    builder.setupCharacterMap({ord(LETTER): "letter"})
    builder.setupGlyf({".notdef": Glyph(), "letter": Glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "letter": (500, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return path


def test_a_font_installed_later_is_found(folder: Path) -> None:
    with pytest.raises(InputError, match=f"No font .* {LETTER}"):
        fonts.choose_fonts(["a", LETTER])
    install(folder / "cuneiform.ttf")
    (folder / "damaged.ttf").write_bytes(b"no font")
    assert fonts.choose_fonts(["a", LETTER]) == [fonts.FIRST, "Test Cuneiform"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_font_for_a_language_english_is_named(folder: Path, language: str) -> None:
    sheet = Sheet(None, None, Choice(), 3.0, language)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"No font .* {LETTER}") as caught:
        sheet.choose_fonts(LETTER)
    assert ("--language en" in str(caught.value)) == (language != "en")
    sheet.fonts = ("Test Cuneiform",)
    with pytest.raises(InputError, match="no font called 'Test Cuneiform'") as caught:
        sheet.choose_fonts("a")
    assert "--language" not in str(caught.value)


def test_a_font_installed_later_is_found_by_its_name(folder: Path) -> None:
    with pytest.raises(InputError, match="no font called 'Test Cuneiform'"):
        fonts.choose_fonts(["a"], ["Test Cuneiform"])
    install(folder / "cuneiform.ttf")
    assert fonts.choose_fonts(["a"], ["Test Cuneiform"])[0] == "Test Cuneiform"


def test_a_font_that_was_removed_is_not_used(folder: Path) -> None:
    path = install(folder / "cuneiform.ttf")
    font_manager.fontManager.addfont(path)
    path.unlink()
    with pytest.raises(InputError, match=f"No font .* {LETTER}"):
        fonts.choose_fonts([LETTER])


@pytest.mark.slow
def test_chinese_is_drawn_with_a_font_that_has_it(chinese_font):
    assert len(chinese_font) > 1
    drawn = figure(make_recording(queries=("汤姆", "追逐"), keys=("Tom", "chases")))
    for kind in ("pdf", "svg", "png"):
        drawn.encode(kind)  # a missing glyph would be a warning, and warnings are errors here


def test_letters_without_a_font_are_named():
    with pytest.raises(InputError, match=r"No font .* 𒀀"):
        figure(make_recording(queries=("𒀀",)))
