"""`glassformer demo`."""

import pytest

from cli.conftest import Command


@pytest.mark.slow
def test_the_demonstration_translates_and_draws(run: Command) -> None:
    lines = run("demo").splitlines()
    assert "  le chat blanc suit le chien noir" in lines
    first = next(place for place, line in enumerate(lines) if line.startswith("chat "))
    keys, chat, blanc = lines[first - 2], lines[first], lines[first + 1]
    assert chat[keys.index("ca")] == "█"  # as the demonstration explains
    assert blanc.startswith("blanc")
    assert blanc[keys.index("wh")] == "█"
