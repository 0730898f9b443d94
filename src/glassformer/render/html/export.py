"""One file that shows a recording, a training run or an atlas: from disk, with no server and no network.

In:   a Recording, a run or an atlas, and what to include.
Out:  an HTML file: the page's own code, and the responses to all its requests, in data blocks.

Data blocks are text (packing.py) that no browser runs, names are in escaped attributes, and the content
security policy allows one script by its hash: tokens cannot inject code.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

import numpy as np

from glassformer import bundle
from glassformer.api.client import InProcessClient
from glassformer.api.examples import make_example_id
from glassformer.api.frames import MAGIC, Frame, FrameArray, decode_frame, encode_frame, shrink
from glassformer.api.probes import make_id
from glassformer.api.settings import STATIC
from glassformer.atlases import Atlas
from glassformer.comparison.difference import make_difference
from glassformer.errors import InputError
from glassformer.lessons.schema import read_defaults
from glassformer.messages import known_languages, message, read_catalogue
from glassformer.metrics import METRICS
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.axes import RowSide, find_parts, find_side
from glassformer.render.files import write_whole
from glassformer.render.html.packing import pack
from glassformer.runlog import Probe, RunIndex, RunLog, find_probes
from glassformer.walk import list_arrays

if TYPE_CHECKING:
    from httpx import Response

EMBEDDED = STATIC / "embedded" / "embedded.js"
LIGHT = EMBEDDED.with_name("file.js")  # the same without the views whose numbers a file lacks
WALK = EMBEDDED.with_name("walk.js")  # with lessons, pictures and sounds
RUN = EMBEDDED.with_name("run.js")  # with the views of training runs
ATLAS = EMBEDDED.with_name("atlas.js")  # with the atlas
LOADER = EMBEDDED.with_name("loader.js")  # unpacks the code: the one script that runs by itself
CELLS = 4_000_000  # weights in one response
LONGEST = 2048  # tokens of a map whose weights are included
WIDEST = 8192  # tokens of a side
SMALL = 4096  # bytes of a response that shares a block with others, so that they compress better
MEGABYTES = 8.0  # of the recordings of a run, about
CURVE, LOOKS = 2000, 1000  # points of a curve of a run, and of a statistic of its heads; see still_runs.ts
MEDIA = ("picture", "sound")  # that the tokens of a side were cut from
BINS = 64  # of the histograms that the page draws
UNESCAPED = "!'()*"  # in paths, as encodeURIComponent does

_STYLE = "html,body{margin:0;height:100%}[data-glassformer-file]{display:block;height:100%}"
_KIND = "application/x-glassformer"
_DIGITS = 5  # of the numbers of scores and outputs beside approximate weights


def export(
    source: Recording | RunLog | RunIndex | Atlas,
    path: str | Path,
    *,
    hidden: bool = False,
    vectors: bool = False,
    exact: bool = False,
    title: str | None = None,
    megabytes: float | None = None,
    against: Recording | None = None,
) -> Path:
    """Write one HTML file; `hidden` states, query, key and value `vectors` and `exact` weights by choice.

    Of a run (`read_run`, `open_run`): its curves, heads, alarms and recipe, and the texts that were recorded
    while it trained, at so many steps as `megabytes` have room for (8 by default).
    Of an atlas (`gf.open_atlas`): its maps, cards and the recordings of its examples.
    With `against`, a second recording: the file has both and their difference, first minus second.

    >>> gf.export(gf.record("zoo/bert", "The cat sleeps."), "cat.html").name  # opens without a server
    'cat.html'
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError("render.wrong_suffix", name=target.name, suffixes=(".html",))
    if isinstance(source, (RunLog, RunIndex)):
        most = MEGABYTES if megabytes is None else megabytes
        page = render_run(
            source.folder, hidden=hidden, vectors=vectors, exact=exact, title=title, megabytes=most
        )
        return write_whole(target, page)
    if megabytes is not None:
        raise InputError("render.megabytes_of_runs")
    if not isinstance(source, (Recording, Atlas)):
        raise InputError("render.not_a_recording", type=type(source).__name__)
    if isinstance(source, Atlas):
        page = render_atlas(source, hidden=hidden, vectors=vectors, exact=exact, title=title)
        return write_whole(target, page)
    page = render(source, hidden=hidden, vectors=vectors, exact=exact, title=title, against=against)
    return write_whole(target, page)


def render(
    recording: Recording,
    *,
    hidden: bool = False,
    vectors: bool = False,
    exact: bool = False,
    title: str | None = None,
    against: Recording | None = None,
) -> bytes:
    """The bytes of the file."""
    if hidden and recording.hidden:
        code = _read_code(EMBEDDED)
    else:
        code = _read_code(WALK if recording.trace or _has_media(recording) else LIGHT)
    loader = _read_code(LOADER).decode()
    with InProcessClient(recording) as client:
        shown = {client.id: recording}
        if against is not None:
            other = client.add(against)
            difference = make_difference(recording, against)
            shown |= {other: against, f"{client.id}~{other}": difference.recording}
        paths = [
            path
            for id, each in shown.items()
            for path in list_paths(each, id, hidden=hidden, vectors=vectors, exact=exact)
        ]
        found = _ask(client, dict.fromkeys(paths))
    if not exact and all(_fits(part) for each in shown.values() for part in each.maps):
        found = [(path, _lighten(path, body)) for path, body in found]
    heading = title or f"{recording.model}: {' '.join(recording.source.texts[:12]).strip()[:80]}"
    return _assemble(found, code, loader, heading)


def render_run(
    run: Path, *, hidden: bool, vectors: bool, exact: bool, title: str | None, megabytes: float
) -> bytes:
    """The bytes of the file of a training run."""
    code, loader = _read_code(RUN), _read_code(LOADER).decode()
    with InProcessClient(run) as client:
        address = f"runs/{_quote(client.id)}"
        chosen = choose_probes(find_probes(run), megabytes * 1e6, exact=exact)
        described = client.get(address).json()
        statistics = dict.fromkeys(name for each in described["maps"] for name in each["statistics"])
        paths = [
            *("metrics", "runs", address, f"{address}/series?points={CURVE}"),
            *(f"{address}/heads?statistic={_quote(name)}&points={LOOKS}" for name in statistics),
        ]
        found = [(path, _keep_chosen(path, body, client.id, chosen)) for path, body in _ask(client, paths)]
        found.append(("recordings", b"[]"))
        for probe in chosen:
            id = make_id(client.id, probe.step, probe.text)
            wanted = list_paths(bundle.open(probe.path), id, hidden=hidden, vectors=vectors, exact=exact)
            for path, body in _ask(client, (path for path in wanted if path.startswith("recordings/"))):
                kept = _keep_chosen(path, body, client.id, chosen)
                found.append((path, kept if exact else _lighten(path, kept)))
    return _assemble(found, code, loader, title or run.name)


def render_atlas(atlas: Atlas, *, hidden: bool, vectors: bool, exact: bool, title: str | None) -> bytes:
    """The bytes of the file of an atlas."""
    code, loader = _read_code(ATLAS), _read_code(LOADER).decode()
    with InProcessClient(atlas) as client:
        address = f"atlases/{_quote(client.id)}"
        found = _ask(client, ("metrics", "atlases", address))
        found = [
            (path, json.dumps([each for each in json.loads(body) if each["id"] == client.id]).encode())
            if path == "atlases"
            else (path, body)
            for path, body in found
        ]
        found.append(("recordings", b"[]"))
        numbers = map(int, client.get(address).json()["examples"])
        for number in numbers:
            id = make_example_id(client.id, number)
            wanted = list_paths(atlas.open_example(number), id, hidden=hidden, vectors=vectors, exact=exact)
            for path, body in _ask(client, (path for path in wanted if path.startswith("recordings/"))):
                found.append((path, body if exact else _lighten(path, body)))
    return _assemble(found, code, loader, title or f"{atlas.body.model.name}: atlas")


def choose_probes(probes: Sequence[Probe], most: float, *, exact: bool) -> list[Probe]:
    """So many as there is room for, evenly over the run: of each text the same share of its steps."""
    if not probes:
        return []
    sizes = [probe.path.stat().st_size for probe in probes]
    share = 1.0 if exact else 0.5  # of a recording that is packed: weights are bytes, statistics half as long
    room = most / (share * sum(sizes))
    chosen: list[Probe] = []
    for text in dict.fromkeys(probe.text for probe in probes):
        steps = [probe for probe in probes if probe.text == text]
        count = min(len(steps), max(1, int(room * len(steps))))
        places = np.linspace(len(steps) - 1, 0, count).round().astype(int)[::-1]  # the last one first
        chosen += [steps[place] for place in places.tolist()]
    return chosen


def _keep_chosen(path: str, body: bytes, run: str, chosen: Sequence[Probe]) -> bytes:
    """A response that names no other run, and no recording that is not in the file."""
    if not _is_json(body) or path == "metrics":
        return body
    answer = json.loads(body)
    if path == "runs":
        return json.dumps([entry for entry in answer if entry["id"] == run]).encode()
    ids = {make_id(run, probe.step, probe.text) for probe in chosen}
    if "probes" in answer:
        answer["probes"] = [step for step in answer["probes"] if step["id"] in ids]
    elif answer.get("probe"):
        for text in answer["probe"]["texts"]:
            text["steps"] = [step for step in text["steps"] if step["id"] in ids]
    else:
        return body
    return json.dumps(answer, ensure_ascii=False).encode()


def _quote(text: str) -> str:
    return quote(text, safe=UNESCAPED)


def _ask(client: InProcessClient, paths: Iterable[str]) -> list[tuple[str, bytes]]:
    """Paths and the responses to them."""
    asked = [(path, client.start(path)) for path in paths]
    return [(path, response.content) for path, each in asked if _take(path, response := each.result())]


def _assemble(found: list[tuple[str, bytes]], code: bytes, loader: str, heading: str) -> bytes:
    """The file: the page's code, and responses by their paths."""
    found = [*found, *_list_messages([body for _, body in found])]
    with ThreadPoolExecutor(2) as workers:
        alone = [(path, body) for path, body in found if not _is_small(body)]
        blocks = list(workers.map(lambda pair: _block(f'" data-path="{escape(pair[0])}', pair[1]), alone))
        blocks.append(_pack_together({path: body for path, body in found if _is_small(body)}))
    opening, scripts_off = (
        "".join(
            f'<p lang="{language}">{escape(message(f"render.{code}").text(language))}</p>'
            for language in known_languages()
        )
        for code in ("opening_file", "needs_javascript")
    )
    head = "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(loader))}">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            '<meta name="generator" content="glassformer">',
            f"<title>{escape(heading)}</title><style>{_STYLE}</style></head><body>",
            f"<div data-glassformer-file>{opening}</div>",  # hidden once the page stands there
            f"<noscript>{scripts_off}</noscript>",
        )
    )
    tail = f'<script type="module">{loader}</script></body></html>'
    return b"".join((head.encode(errors="replace"), _pack_code(code), *blocks, tail.encode()))


def _take(path: str, response: "Response") -> bool:
    """Whether a response goes into the file: not what a recording lacks; anything else is an error."""
    if response.status_code not in (200, 404, 422):
        raise InputError("render.export_failed", path=path, status=response.status_code)
    return response.status_code == 200


def _lighten(path: str, body: bytes) -> bytes:
    """Beside approximate weights: statistics that are drawn, in half precision; other numbers rounded.

    Those of the walk are not: the page computes with them.
    """
    if _is_json(body) and not path.endswith("/walk"):
        rounded = json.loads(body, parse_float=lambda number: float(f"{float(number):.{_DIGITS}g}"))
        return json.dumps(rounded, ensure_ascii=False, separators=(",", ":")).encode()
    if not path.endswith("/statistics"):
        return body
    frame = decode_frame(body)
    planes = {name: _halve(plane) for name, plane in frame.arrays.items() if name != "peak_key"}
    return encode_frame(Frame(planes, frame.meta))


def _halve(plane: FrameArray) -> FrameArray:
    if plane.array.dtype.kind == "f":
        return shrink(plane.array, "float16")
    return replace(plane, array=plane.array.astype(np.uint16)) if plane.array.dtype.kind == "i" else plane


def list_paths(recording: Recording, id: str, *, hidden: bool, vectors: bool, exact: bool) -> Iterator[str]:
    """The requests that a page may make about a recording, in their order."""
    here = f"recordings/{quote(id, safe=UNESCAPED)}"
    yield from ("recordings", "metrics", here)
    yield from (f"{here}/{path}" for path in _list_sides(recording))
    if not all(_fits(each) for each in recording.maps):  # otherwise drawn from the weights
        yield from (f"{here}/thumbnails?how=mean", f"{here}/thumbnails?how=max")
    for each in recording.maps:
        there = f"{here}/maps/{quote(each.place.address, safe=UNESCAPED)}"
        yield f"{there}/statistics"
        yield from _list_weights(each, there, exact)
        if vectors:
            for head in range(each.heads):
                yield from (f"{there}/vectors/{what}?head={head}" for what in ("queries", "keys", "values"))
            yield from (f"{here}/distribution?{of}" for of in _list_distributions(each))
    if recording.trace:
        yield f"{here}/walk"
        yield from (f"{here}/trace/{name}" for name in list_arrays(recording, CELLS))
        yield from ("playground", *(f"playground/{name}" for name in read_defaults().results))
    yield from _list_scores(here)
    for stack, kind in dict.fromkeys((each.stack, each.kind) for each in recording.maps):
        yield f"{here}/average?how=model&stack={stack}&kind={kind}"
    for stack, states in recording.hidden.items() if hidden else ():
        yield from (f"{here}/hidden/{stack}/activations?by={by}" for by in ("norm", "change"))
        layers = range(states.shape[0])
        yield from (f"{here}/hidden/{stack}/{layer}" for layer in layers)
        spread = f"{here}/distribution?of=hidden&stack={stack}"
        yield from (f"{spread}&layer={layer}&bins={BINS}" for layer in layers)


def _list_sides(recording: Recording) -> Iterator[str]:
    """The tokens of each side, and what they were cut from."""
    for side in get_args(RowSide):
        tokens = find_side(recording, side)
        if tokens is not None and len(tokens) <= WIDEST:
            yield f"tokens/{side}"
        if tokens is not None and side != "written":
            yield from (f"{kind}?side={side}" for kind in MEDIA if getattr(tokens, kind) is not None)


def _list_distributions(each: AttentionMap) -> Iterator[str]:
    """Histograms of what a map kept: of all heads, and of each."""
    kept = {
        "queries": each.peek("queries") is not None,
        "keys": each.peek("keys") is not None,
        "values": each.peek("values") is not None,
        "scores_unscaled": each.has_scores,
        "scores": each.has_scores,
        "attention": each.has_weights,
    }
    place = quote(each.place.address, safe=UNESCAPED)
    for of in (name for name in kept if kept[name]):
        yield f"of={of}&bins={BINS}&place={place}"
        yield from (f"of={of}&bins={BINS}&head={head}&place={place}" for head in range(each.heads))


def _list_messages(bodies: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """The templates of the messages in these responses, in each language; "list." has the words of lists."""
    found = [json.loads(body) for body in bodies if _is_json(body)]
    codes = set(_find_codes(found))
    for language in known_languages():
        catalogue = read_catalogue(language)
        entries = {code: catalogue[code] for code in catalogue if code in codes or code.startswith("list.")}
        answer = {"language": language, "entries": entries}
        yield f"messages/{language}", json.dumps(answer, ensure_ascii=False).encode()


def _find_codes(value: Any) -> Iterator[str]:
    """The codes of messages in a response."""
    if isinstance(value, dict) and isinstance(value.get("code"), str):
        yield value["code"]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _find_codes(each)


def _fits(each: AttentionMap) -> bool:
    """Whether the weights of a map are included."""
    return each.has_weights and max(each.shape[1:]) <= LONGEST


def _list_weights(each: AttentionMap, there: str, exact: bool) -> Iterator[str]:
    if not _fits(each):
        return
    heads, queries, keys = each.shape
    how = "float32" if exact else "uint8"
    if heads * queries * keys <= CELLS:
        yield f"{there}/weights?as={how}"
    else:
        yield from (f"{there}/weights?head={head}&as={how}" for head in range(heads))


def _list_scores(here: str) -> Iterator[str]:
    """Every metric that needs no more than statistics, at the levels that the page draws."""
    for name in METRICS:
        metric = METRICS[name]
        if metric.needs == "statistics" and metric.rule != "none":
            yield from (f"{here}/scores/{name}?over={level}" for level in ("head", "layer", "model"))


def _is_small(body: bytes) -> bool:
    """JSON and small frames."""
    return _is_json(body) or len(body) <= SMALL


def _is_json(body: bytes) -> bool:
    return not body.startswith((MAGIC, b"\x89PNG", b"RIFF"))


def _has_media(recording: Recording) -> bool:
    sides = (recording.source, recording.target, *find_parts(recording).values())
    return any(getattr(side, kind, None) is not None for side in sides for kind in MEDIA)


@lru_cache(2)
def _pack_code(code: bytes) -> bytes:
    """The page's code, the same in every file: most of the time that a small file takes."""
    return _block("-code", code, 9)


def _pack_together(bodies: dict[str, bytes]) -> bytes:
    """Many responses in one block: a line that says how long each of them is, then one after the other.

    Those of a kind stand together, which compresses better: JSON, then frames by their names.
    """

    def kind(path: str) -> tuple[bool, bool, str]:
        frame = not _is_json(bodies[path])
        return frame, path.startswith("recordings"), path.rpartition("/")[2] if frame else ""

    paths = sorted(bodies, key=kind)
    line = json.dumps([[path, len(bodies[path])] for path in paths], ensure_ascii=True)
    return _block("-many", b"".join((line.encode(), b"\n", *(bodies[path] for path in paths))), 9)


def _block(rest: str, data: bytes, level: int = 1) -> bytes:
    return b"".join((f'<script type="{_KIND}{rest}">'.encode(), pack(data, level), b"</script>"))


def _policy(loader: str) -> str:
    script, style = (base64.b64encode(sha256(each.encode()).digest()).decode() for each in (loader, _STYLE))
    return (
        f"default-src 'none'; script-src 'sha256-{script}' blob:; style-src 'sha256-{style}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _read_code(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError("render.not_built", file=path.name) from error
