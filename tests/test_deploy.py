"""What lies in deploy/ works: its configuration, both proxies before it, https, the check of health."""

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
import yaml

from glassformer import bundle
from inventions import invent_decoder
from ports import hold_port

DEPLOY = Path(__file__).parents[1] / "deploy"
TOKEN = "a long secret token"
HOST = "glass.example.org"
PATIENCE = 120  # seconds, reached only by what fails

pytestmark = pytest.mark.slow


@dataclass
class Place:
    """A machine of its own, as far as a folder can be one."""

    folder: Path
    port: int  # of the server
    certificate: Path
    key: Path

    def rewrite(self, name: str) -> str:
        """A file of deploy/ with the folders, ports and names of this test instead of its own."""
        text = (DEPLOY / name).read_text()
        for ours, theirs in (
            ("/var/lib/glassformer", str(self.folder)),
            ("/etc/glassformer", str(self.folder)),
            ("127.0.0.1:5000", f"127.0.0.1:{self.port}"),
            ("port = 5000", f"port = {self.port}"),
            ("/etc/ssl/certs/glass.example.org.pem", str(self.certificate)),
            ("/etc/ssl/private/glass.example.org.key", str(self.key)),
        ):
            text = text.replace(ours, theirs)
        return text

    def open(self, port: int) -> httpx.Client:
        """A client of whatever has our certificate at this port of 127.0.0.1, asked for by its name."""
        checked = ssl.create_default_context(cafile=str(self.certificate))
        client = httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=checked, timeout=PATIENCE)
        client.headers["host"] = f"{HOST}:{port}"
        return client


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: object, **more: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [str(word) for word in words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **more},
            cwd="/",
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("machine")
    (folder / "recordings").mkdir(mode=0o700)  # with a file; the server makes what else it needs
    (folder / "token").write_text(TOKEN)
    bundle.save(invent_decoder(tokens=5), folder / "recordings" / "fox.bundle")
    place = Place(folder, hold_port(), folder / "certificate.pem", folder / "key.pem")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1",
            "-keyout", place.key, "-out", place.certificate,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    (folder / "server.toml").write_text(place.rewrite("server.toml"))
    return place


def serve(run: Callable[..., "subprocess.Popen[bytes]"], place: Place, *words: object) -> None:
    entry = json.loads(re.findall(r"^ENTRYPOINT (.*)$", (DEPLOY / "Containerfile").read_text(), re.M)[0])
    unit = re.findall(r"^ExecStart=\S+/bin/(.*)$", (DEPLOY / "glassformer.service").read_text(), re.M)[0]
    assert entry == unit.split()  # one command in the container and for systemd
    command = [word.replace("/etc/glassformer", str(place.folder)) for word in entry[1:]]
    run(sys.executable, "-m", "glassformer", *command, "--no-models", *words, HOME="/nonexistent")


def wait_for(check: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if check():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError("it did not start")


@pytest.fixture(scope="module")
def server(run: Callable[..., "subprocess.Popen[bytes]"], place: Place) -> Place:
    """The server of deploy/server.toml, once it is ready."""
    serve(run, place)
    wait_for(lambda: httpx.get(f"http://127.0.0.1:{place.port}/readyz").status_code == 200)
    return place


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxied(
    request: pytest.FixtureRequest, server: Place, run: Callable[..., "subprocess.Popen[bytes]"]
) -> Iterator[httpx.Client]:
    """A client of the server behind a proxy with the configuration of deploy/."""
    name: str = request.param
    path = "/usr/sbin:/sbin:" + os.environ.get("PATH", "")
    program = shutil.which(name, path=path)
    if program is None:
        pytest.skip(f"{name} is not installed")
    port, folder = hold_port(), server.folder / name
    folder.mkdir()
    if name == "nginx":
        block = server.rewrite("nginx.conf").replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        kept = " ".join(
            f"{each}_temp_path {folder}/{each};"
            for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        text = f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\n"
        text += f"http {{ access_log off; {kept}\n{block} }}"
        (folder / "nginx.conf").write_text(text)
        run(program, "-p", folder, "-c", folder / "nginx.conf")
    else:
        block = server.rewrite("Caddyfile").replace(
            f"{HOST} {{", f"https://{HOST}:{port} {{\n bind 127.0.0.1\n tls {server.certificate} {server.key}"
        )
        text = f"{{\n admin off\n auto_https disable_redirects\n default_sni {HOST}\n}}\n{block}"
        (folder / "Caddyfile").write_text(text)
        words = ("run", "--adapter", "caddyfile", "--config", folder / "Caddyfile")
        run(program, *words, XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder))
    with server.open(port) as client:
        wait_for(lambda: client.get("/glass/healthz").status_code == 200)
        yield client


def test_the_page_and_its_interface_behind_a_proxy(proxied: httpx.Client, server: Place) -> None:
    moved = proxied.get("/glass")
    assert (moved.status_code, httpx.URL(moved.headers["location"]).path) == (308, "/glass/")
    assert proxied.get("/glass/").status_code == 401
    given = {"authorization": f"Bearer {TOKEN}"}
    for path in (
        "metrics",
        "glass/metrics",
        "%6Detrics",
        "./metrics",
        "/metrics",
        "metrics?",
        "glass/healthz",
    ):
        assert proxied.get(f"/glass/{path}", headers=given).status_code == 404, path  # also with the token
    signed = proxied.get("/glass/", params={"token": TOKEN})
    assert (signed.status_code, signed.headers["location"]) == (303, "/glass/")
    cookie = signed.headers["set-cookie"]
    assert "Path=/glass/" in cookie
    assert "Secure" in cookie  # https, as the proxy says
    page = proxied.get("/glass/", headers=given)
    for asset in re.findall(r"""(?:src|href)="([^"#]+)""", page.text):  # all below the path of the proxy
        assert proxied.get(str(page.url.join(asset).path), headers=given).status_code == 200
    listed = proxied.get("/glass/api/recordings", headers=given)
    assert listed.status_code == 200
    id = next(each["id"] for each in listed.json() if each["origin"] == "made")
    first = proxied.get(f"/glass/api/recordings/{id}", headers=given)
    known = {**given, "if-none-match": first.headers["etag"]}
    assert (first.status_code, proxied.get(f"/glass/api/recordings/{id}", headers=known).status_code) == (
        200,
        304,
    )
    own = {**given, "origin": f"https://{proxied.headers['host']}"}
    again = proxied.post("/glass/api/recordings", headers=own, content=b"no bundle")
    assert again.status_code == 422
    foreign = {**given, "origin": "https://elsewhere.example"}
    assert proxied.post("/glass/api/recordings", headers=foreign, content=b"x").status_code == 403
    training = proxied.get("/glass/api/runs", headers=given).json()[0]["id"]
    with proxied.stream("GET", f"/glass/api/runs/{training}/events", headers=given) as stream:
        assert next(stream.iter_lines()) == "event: news"  # at once, not when a buffer is full


def test_the_health_check_of_the_container(server: Place) -> None:
    text = (DEPLOY / "Containerfile").read_text()
    words = json.loads(re.findall(r"^  CMD (\[.*\])$", text, re.M)[0])
    command = [sys.executable, *(word.replace(":5000/", f":{server.port}/") for word in words[1:])]
    assert subprocess.run(command, capture_output=True).returncode == 0
    command[-1] = command[-1].replace("/readyz", "/api/recordings")  # asks for a token
    assert subprocess.run(command, capture_output=True).returncode != 0


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (DEPLOY / "glassformer.service").read_text()
    (tmp_path / "glassformer.service").write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", unit))
    command = [program, "verify", "--man=no", tmp_path / "glassformer.service"]
    told = subprocess.run(command, capture_output=True, text=True).stderr
    assert "glassformer.service" not in told  # it warns of what it ignores


def test_containers_have_the_same_proxy_and_check_of_health_as_machines() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    proxy, server = services["services"]["proxy"], services["services"]["glassformer"]
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in proxy["volumes"]
    [(name, address)] = proxy["environment"].items()
    assert f"reverse_proxy {{${name}:127.0.0.1:5000}}" in (DEPLOY / "Caddyfile").read_text()
    assert address.split(":")[0] in services["services"]
    assert "ports" not in server  # reached by the proxy alone, whose network is the only one believed
    assert server["read_only"]
    [network] = services["networks"]["inner"]["ipam"]["config"]
    assert network["subnet"] in server["command"]
    [check] = re.findall(r"^  CMD (\[.*\])$", (DEPLOY / "Containerfile").read_text(), re.M)
    assert server["healthcheck"]["test"] == ["CMD", *json.loads(check)]


def test_https_without_a_proxy(run: Callable[..., "subprocess.Popen[bytes]"], place: Place) -> None:
    port = hold_port()
    files = ("--tls-certificate", place.certificate, "--tls-key", place.key)
    serve(run, place, "--port", port, "--keep", place.folder / "second", *files)
    with place.open(port) as client:
        wait_for(lambda: client.get("/readyz").status_code == 200)
        assert "Secure" in client.get("/", params={"token": TOKEN}).headers["set-cookie"]
        assert client.get("/api/about", headers={"x-glassformer-token": TOKEN}).status_code == 200


def test_the_bill_of_materials_names_what_is_installed() -> None:
    command = [sys.executable, DEPLOY / "sbom.py"]
    first, second = (subprocess.run(command, check=True, capture_output=True).stdout for _ in range(2))
    assert first == second
    found = {each["name"]: each for each in json.loads(first)["components"]}
    assert found["fastapi"]["version"] == version("fastapi")
    assert len({each["hashes"][0]["content"] for each in found.values()}) > len(found) / 2
