"""The progress of a run: a bar in a terminal, plain lines elsewhere."""

import io

import pytest

from glassformer.training.display import Display, shorten


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show_all(stream: io.StringIO, *, silent: bool = False) -> str:
    display = Display(10, stream, silent=silent)
    for step in range(1, 11):
        display.show(step, step * 100, 1 / step, 1e-3)
        if step == 5:
            display.note("A note with a [bracket] that is " + "long " * 20)
            display.pause()
    display.close()
    display.note("Done.")
    return stream.getvalue()


def test_a_terminal_has_one_moving_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    text = show_all(Terminal())
    assert "\r\x1b[2K" in text  # the line is drawn again where it stands
    assert "━" * 24 in text
    last = text.splitlines()[-2]
    assert "step 10/10  loss 0.1000, rate 1.00e-03" in last
    assert "tokens/s, 0:00:00 left" in last
    assert "A note with a [bracket]" in text
    assert text.endswith("Done.\n")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_elsewhere_there_are_plain_lines(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, and a terminal that cannot move its cursor."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = show_all(stream())
    first, note, last, done = text.splitlines()
    assert first == "step 1/10, loss 1.0000, rate 1.00e-03"
    assert note.startswith("A note with a [bracket] that is long")  # in one line, however long
    assert last.startswith("step 10/10, loss 0.1000")
    assert "tokens/s" in last
    assert done == "Done."


def test_silence() -> None:
    assert show_all(Terminal(), silent=True) == ""


def test_numbers_for_people() -> None:
    assert [shorten(number) for number in (0, 12.34, 999.4, 999.6, 1234, 5e6, 7e9)] == [
        "0", "12.3", "999", "1k", "1.23k", "5M", "7G",
    ]  # fmt: skip
