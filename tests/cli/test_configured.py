"""Options of the server from a file and from the environment."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.cli import build_parser
from glassformer.errors import InputError


def parse(*arguments: object) -> Any:
    return build_parser().parse_args(["serve", *map(str, arguments)])


def write(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_command_line_overrides_variables_which_override_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, 'port = 8000\nhost = "0.0.0.0"\nruns = "of-the-file"\ntrain = true\n')
    monkeypatch.setenv("GLASSFORMER_SERVE_HOST", "127.0.0.1")
    monkeypatch.setenv("GLASSFORMER_SERVE_PORT", "8001")
    found = parse("--config", path, "--port", 5000)  # 5000 is also the default
    assert (found.port, found.host, found.runs, found.train) == (5000, "127.0.0.1", Path("of-the-file"), True)
    monkeypatch.setenv("GLASSFORMER_SERVE_CONFIG", str(path))
    assert parse().port == 8001
    assert parse().runs == Path("of-the-file")


def test_lists_add_up_and_switches_are_true_or_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(
        tmp_path,
        'allow-host = ["a.example.org", "b.example.org"]\nfiles = ["x.bundle"]\n'
        'offline = false\ntoken = "--dashes"\n',
    )
    monkeypatch.setenv("GLASSFORMER_SERVE_MODELS", "one, two")
    monkeypatch.setenv("GLASSFORMER_SERVE_NO_BROWSER", "yes")
    found = parse("y.bundle", "--config", path, "--allow-host", "c.example.org")
    assert found.allow_host == ["a.example.org", "b.example.org", "c.example.org"]
    assert found.files == [Path("x.bundle"), Path("y.bundle")]
    assert (found.offline, found.no_browser, found.token) == (False, True, "--dashes")
    assert found.models == [Path("one"), Path("two")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("prot = 8000", "cli.config.unknown"),
        ("help = true", "cli.config.unknown"),
        ('config = "other.toml"', "cli.config.unknown"),
        ("port 8000", "cli.config.no_toml"),
        ('train = "yes"', "cli.config.no_switch"),
        ("port = [1, 2]", "cli.config.wrong_kind"),
        ("[port]\nnumber = 1", "cli.config.wrong_kind"),
        ("allow-host = [true]", "cli.config.wrong_kind"),
    ],
)
def test_a_wrong_file_is_a_sentence(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(InputError) as error:
        parse("--config", write(tmp_path, text))
    assert error.value.message.code == code


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        parse("--config", tmp_path / "none.toml")
    assert error.value.message.code == "cli.config.unreadable"


def test_values_are_checked_as_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (("--config", write(tmp_path, 'port = "many"')), ("--config",)):
        with pytest.raises(SystemExit):
            parse(*arguments)
        assert capsys.readouterr().err.count("\n") == 1
