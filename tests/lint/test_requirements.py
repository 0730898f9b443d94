"""deploy/requirements.txt is in step with constraints.txt: every package of a server, with its hashes."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "deploy"))
from hashes import list_needs, read_pins  # noqa: E402

pytestmark = pytest.mark.lint

TEXT = (ROOT / "deploy/requirements.txt").read_text()


def test_every_requirement_has_the_version_that_was_tested_and_hashes() -> None:
    pins = read_pins((ROOT / "constraints.txt").read_text())
    listed = read_pins(TEXT)
    assert listed.items() <= pins.items()
    line = r"[\w.-]+==[\w.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    assert re.fullmatch(rf"#[^\n]*\n({line})+", TEXT)  # and nothing else: no option, no address
    assert TEXT.count("==") == len(listed)


@pytest.mark.skipif(sys.platform != "linux", reason="the list is that of a server on Linux")
def test_every_package_that_the_server_needs_is_required() -> None:
    assert read_pins(TEXT).keys() == list_needs()
