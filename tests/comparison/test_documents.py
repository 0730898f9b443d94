"""docs/how-to/compare-recordings.md: its code runs, and what it states holds."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "compare-recordings.md"


@pytest.mark.slow
def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    exec("\n".join(blocks), {})
