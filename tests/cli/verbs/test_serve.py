"""`glassformer serve`: it is there at once, says where, keeps strangers out, and ends without a trace."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from glassformer import bundle, cli
from glassformer.api.jobs import JobRequest
from glassformer.api.library import Library
from glassformer.api.people import add_person, change_people
from glassformer.api.settings import Settings
from glassformer.cli.parser import Parser
from glassformer.cli.verbs import serve
from glassformer.errors import ApiError
from glassformer.workbench import LocalWorkbench
from inventions import invent_decoder
from texts import text_of

Start = Callable[..., tuple["subprocess.Popen[str]", str]]
PATIENCE = 120  # seconds, reached only by what fails


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "fox.bundle"
    bundle.save(invent_decoder(tokens=5), path)
    return path


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server; the process and the address it printed."""
    started = []
    (tmp_path / "temporary").mkdir()

    def run(*words: object, verb: str = "serve", **environment: str) -> tuple["subprocess.Popen[str]", str]:
        inherited = {name: value for name, value in os.environ.items() if name not in ("BROWSER", "DISPLAY")}
        process = subprocess.Popen(
            [sys.executable, "-m", "glassformer", *verb.split(), *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**inherited, "TMPDIR": str(tmp_path / "temporary"), **environment},
        )
        started.append(process)
        assert process.stdout is not None
        printed = ""
        while "Ctrl-C" not in printed:
            line = process.stdout.readline()
            assert line, process.communicate()
            printed += line
        return process, printed

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def find_address(printed: str) -> str:
    found = re.search(r"http://\S+", printed)
    assert found is not None
    return found.group()


def ask(address: str, path: str = "api/recordings", **words: object) -> httpx.Response:
    """Ask as soon as the server answers; limits only end a test that hangs."""
    for _ in range(20 * PATIENCE):
        try:
            return httpx.get(httpx.URL(address).join(f"/{path}"), timeout=PATIENCE, **words)  # type: ignore[arg-type]
        except httpx.ConnectError:
            time.sleep(0.05)
    raise AssertionError("the server never answered")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_it_serves_a_file_and_ends_in_order(
    start: Start, recording: Path, tmp_path: Path, end: signal.Signals
) -> None:
    process, printed = start(recording, "--port", 0, "--no-browser")
    entries = ask(find_address(printed)).json()
    assert text_of(entries[0]["title"]) == "fox"
    assert any(entry["origin"] == "shipped" for entry in entries)
    process.send_signal(end)
    _, error = process.communicate(timeout=PATIENCE)
    assert error == ""
    assert process.returncode == 0
    assert list((tmp_path / "temporary").glob("glassformer-*")) == []


@pytest.mark.slow
def test_a_log_of_json_holds_nothing_else(start: Start, tmp_path: Path) -> None:
    people, kept = tmp_path / "users.json", tmp_path / "kept"
    change_people(people, lambda each: add_person(each, "alice", "admin"), create=True)
    words = ("--users", people, "--keep", kept, "--keep-gigabytes", 1, "--log-format", "json")
    process, printed = start(*words, "--port", 0, "--no-browser")
    assert ask(find_address(printed)).status_code == 200
    process.terminate()
    said = [json.loads(line) for line in process.communicate(timeout=PATIENCE)[1].splitlines()]
    assert [each["level"] for each in said] == ["info", "info"]
    assert "users.json" in said[0]["message"]
    assert "1 GB" in said[1]["message"]


@pytest.mark.slow
def test_both_addresses_of_localhost_answer(start: Start) -> None:
    _, printed = start("--port", 0, "--no-browser", "--no-models")
    port = httpx.URL(find_address(printed)).port
    assert ask(f"http://127.0.0.1:{port}").status_code == 200
    if socket.has_ipv6 and Path("/proc/net/if_inet6").exists():
        assert ask(f"http://[::1]:{port}").status_code == 200


@pytest.mark.slow
def test_a_busy_port_is_said_and_the_next_taken(start: Start) -> None:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        line.listen()
        busy = line.getsockname()[1]
        _, printed = start("--port", busy, "--no-browser", "--no-models")
        assert printed.startswith(f"Port {busy} is in use; this is the next free one.\n")
        port = httpx.URL(find_address(printed)).port
        assert port is not None
        assert busy < port < busy + serve.TRIES


@pytest.mark.slow
def test_a_browser_opens_the_page(start: Start, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o755)
    _, printed = start("--port", 0, "--no-models", BROWSER=f"{browser} %s")
    for _ in range(20 * PATIENCE):
        if seen.exists():
            break
        time.sleep(0.05)
    assert seen.read_text() == find_address(printed)


@pytest.mark.slow
def test_where_others_reach_it_a_token_is_needed(start: Start) -> None:
    _, printed = start("--host", "0.0.0.0", "--port", 0, "--no-browser", "--no-models")
    address = httpx.URL(find_address(printed))
    token = address.params["token"]
    assert len(token) >= 32
    here = f"http://127.0.0.1:{address.port}"
    assert ask(here).status_code == 401
    assert ask(here, headers={"x-glassformer-token": token}).status_code == 200
    assert ask(here, headers={"x-glassformer-token": token, "host": "evil.example"}).status_code == 421


@pytest.mark.slow
def test_a_token_may_be_given(start: Start) -> None:
    _, printed = start("--token", "a/b c, sixteen or more", "--port", 0, "--no-browser", "--no-models")
    address = find_address(printed)
    assert address.endswith("?token=a%2Fb%20c%2C%20sixteen%20or%20more")
    assert ask(address).status_code == 401
    assert ask(address, headers={"x-glassformer-token": "a/b c, sixteen or more"}).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("from_file", [True, False])
def test_a_token_that_is_kept_somewhere_is_not_printed(start: Start, tmp_path: Path, from_file: bool) -> None:
    token = "0123456789abcdef"
    (tmp_path / "token.txt").write_text(f"{token}\n")
    words = ["--port", 0, "--no-browser", "--no-models"]
    if from_file:
        _, printed = start(*words, "--token-file", tmp_path / "token.txt")
    else:
        _, printed = start(*words, GLASSFORMER_TOKEN=token)
    assert token not in printed
    address = find_address(printed)
    assert ask(address).status_code == 401
    assert ask(address, headers={"x-glassformer-token": token}).status_code == 200


@pytest.mark.slow
def test_what_is_made_can_be_kept(start: Start, recording: Path, tmp_path: Path) -> None:
    process, printed = start("--keep", tmp_path / "kept", "--port", 0, "--no-browser", "--no-models")
    address = find_address(printed)
    ask(address)
    place = httpx.URL(address).join("/api/recordings")
    added = httpx.post(place, content=recording.read_bytes(), timeout=PATIENCE)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    _, printed = start("--keep", tmp_path / "kept", "--port", 0, "--no-browser", "--no-models")
    assert added.json()["id"] in {entry["id"] for entry in ask(find_address(printed)).json()}


@pytest.mark.slow
def test_a_page_built_elsewhere(start: Start, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("here it is")
    for words, environment in ((("--static", tmp_path), {}), ((), {"GLASSFORMER_STATIC": str(tmp_path)})):
        _, printed = start(*words, "--port", 0, "--no-browser", "--no-models", **environment)
        assert ask(find_address(printed), "").text == "here it is"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.bundle"], "missing.bundle"),
        (["--port", "70000"], "no port 70000"),
        (["--host", "nowhere.invalid"], "cannot listen at"),
        (["--token", " "], "token has 0 characters"),
        (["--token", "swordfish"], "token has 9 characters. Expected at least 16"),
        (["--token-file", "nowhere.txt"], "cannot be read from nowhere.txt"),
        (["--no-token", "--host", "0.0.0.0"], "behind a proxy"),
        (["--keep-gigabytes", "5"], "together with --keep"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_is_one_sentence(
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "_run_server", lambda *_: pytest.fail("it must not serve"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["serve", "--no-browser", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_without_a_verb_it_serves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served = []
    monkeypatch.setattr(
        serve, "_run_server", lambda config, sockets, address: served.append((config.app.build(), address))
    )
    monkeypatch.setattr(serve, "PORT", 0)
    assert cli.main([]) == 0
    assert served[0][0].title == "Glassformer"
    assert served[0][1] in capsys.readouterr().out


@pytest.mark.slow
def test_nothing_of_the_server_loads_torch() -> None:
    question = (
        "import sys, glassformer.cli.verbs.serve, glassformer.api.app, glassformer.workbench; "
        "print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.4.5.6", "::1"])
def test_only_this_machine(host: str) -> None:
    assert serve._is_loopback(host)
    assert not serve._is_loopback("0.0.0.0")
    assert not serve._is_loopback("example.org")


def test_a_folder_of_models_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--models", str(tmp_path / "none"), "--no-browser", "--port", "0"]) == 2
    assert "to take models from" in capsys.readouterr().err


def test_sockets_name_their_protocol_so_that_small_answers_are_not_held_back() -> None:
    sockets, _ = serve._listen("127.0.0.1", 0)
    assert {each.proto for each in sockets} == {socket.IPPROTO_TCP}  # asyncio sets TCP_NODELAY for these only
    for each in sockets:
        each.close()


def read_settings(*words: str) -> Settings:
    parser = Parser(prog="glassformer")
    serve.add_arguments(parser)
    return serve._build_settings(parser.parse_args(list(words)))


def test_where_a_proxy_brings_others_a_token_is_needed_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GLASSFORMER_TOKEN", raising=False)
    assert read_settings().token is None
    proxied = read_settings("--allow-host", "lab.example")
    assert len(proxied.token or "") >= 32
    assert proxied.share(proxied.uploads) == 2  # one client does not lock the others out
    assert read_settings("--allow-host", "lab.example", "--no-token").token is None
    (tmp_path / "token.txt").write_text("0123456789abcdef\n")
    assert read_settings("--token-file", str(tmp_path / "token.txt")).token == "0123456789abcdef"
    monkeypatch.setenv("GLASSFORMER_TOKEN", "fedcba9876543210")
    assert read_settings().token == "fedcba9876543210"


def test_what_a_job_made_counts_against_the_storage_of_its_owner(recording: Path, tmp_path: Path) -> None:
    """How large it is, is known only when the job has run."""
    parser = Parser(prog="glassformer")
    serve.add_arguments(parser)
    library = Library(tmp_path / "kept", shipped=None)
    most = recording.stat().st_size + 4096  # of one, with its card
    bench = serve._open_workbench(parser.parse_args(["--quota-storage", str(most / 1e9)]), library)
    request = JobRequest(kind="record", model="zoo/gpt2", text="x")

    def make(tokens: int, owner: str | None) -> str:
        path = tmp_path / "made.bundle"
        bundle.save(invent_decoder(tokens=tokens), path)
        assert isinstance(bench, LocalWorkbench)
        return bench.add(path, request, owner)

    try:
        make(5, "rita")
        with pytest.raises(ApiError) as refused:
            make(4, "rita")
        assert refused.value.message.code == "api.storage_left"
        make(5, "rob")
        make(4, None)
        make(3, None)
        assert (library.count(), len(list(library.folder.glob("*.bundle")))) == (4, 4)
        assert not (tmp_path / "made.bundle").exists()
    finally:
        bench.close()
        library.close()


def test_users_and_the_header_of_a_proxy(capsys: pytest.CaptureFixture[str]) -> None:
    settings = read_settings("--proxy", "10.0.0.1", "--proxy", "10.1.0.0/16")
    assert settings.proxies == ("10.0.0.1", "10.1.0.0/16")
    assert read_settings("--host", "0.0.0.0", "--users", "users.json").token is None  # people have their own
    for wrong in (
        ("--user-header", "X-User"),
        ("--user-header", "X-User", "--users", "users.json"),
        ("--user-header", "X-User", "--proxy", "10.0.0.1"),
        ("--user-header", "X User", "--proxy", "10.0.0.1", "--users", "users.json"),
        ("--header-role", "viewer", "--users", "users.json"),
        ("--users", "missing.json"),
    ):
        assert cli.main(["serve", *wrong, "--no-browser", "--port", "0"]) == 2, wrong
    assert "missing.json" in capsys.readouterr().err


def test_a_proxy_is_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--proxy", "nginx", "--no-browser", "--port", "0"]) == 2
    assert "no address" in capsys.readouterr().err
