"""What figures with Chinese need."""

import pytest

from glassformer.errors import InputError
from glassformer.render.figures.fonts import choose_fonts


@pytest.fixture
def chinese_font() -> list[str]:
    """Skips the test where no font has Chinese."""
    try:
        return choose_fonts(["汤姆追逐杰瑞"])
    except InputError:
        pytest.skip("no font with Chinese is installed (fonts-noto-cjk)")
