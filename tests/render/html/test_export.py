"""The exported file: how large it is, what it holds, and that text stays text."""

import json
import re
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from atlases.invented import invent_atlas
from glassformer import bundle
from glassformer.api.client import InProcessClient
from glassformer.api.frames import decode_frame
from glassformer.api.library import SHIPPED
from glassformer.atlases import open_atlas
from glassformer.errors import InputError
from glassformer.messages import known_languages, read_catalogue
from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, from_arrays, measure
from glassformer.render.html import export as html
from glassformer.runlog import PROBES, Event, RunWriter, read_run
from glassformer.runlog.probes import name_probe
from inventions import invent_decoder
from unpacking import unpack

built = pytest.mark.skipif(not html.EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
pytestmark = built

HOSTILE = "</script><script>document.title='broken in'</script><img src=x onerror=alert(1)>"


def read_answers(page: bytes) -> dict[str, bytes]:
    """Every answer of the file, unpacked, by its path."""
    found = re.findall(
        rb'<script type="application/x-glassformer" data-path="([^"]*)">([^<]*)</script>', page
    )
    answers = {path.decode().replace("&amp;", "&"): unpack(body) for path, body in found}
    many = re.search(rb'<script type="application/x-glassformer-many">([^<]*)</script>', page)
    assert many is not None
    line, _, bodies = unpack(many[1]).partition(b"\n")
    for path, length in json.loads(line):
        answers[path], bodies = bodies[:length], bodies[length:]
    assert bodies == b""
    return answers


def name_tokens(recording: Recording, texts: list[str]) -> Recording:
    """The same maps over other tokens."""
    tokens = Tokens("source", tuple(texts), np.arange(len(texts)), text=" ".join(texts))
    maps = tuple(
        AttentionMap(Place("decoder", "self", each.layer), tokens, tokens, each.statistics, dense=each.dense)
        for each in recording.maps
    )
    return Recording(recording.model, recording.evidence, tokens, maps=maps)


@pytest.mark.slow
def test_a_file_has_the_templates_of_its_messages_and_no_others() -> None:
    answers = read_answers(html.render(invent_decoder()))
    messages: list[dict[str, Any]] = []

    def collect(table: dict[str, Any]) -> dict[str, Any]:
        messages.extend([table] if "code" in table else [])
        return table

    for path, body in answers.items():
        if body[:1] in (b"{", b"[") and not path.startswith("messages/"):
            json.loads(body, object_hook=collect)
    assert any(each["code"].startswith("metrics.") for each in messages)
    for language in known_languages():
        entries = json.loads(answers[f"messages/{language}"])["entries"]
        catalogue = read_catalogue(language)
        told = {each["code"] for each in messages if language not in each}  # others bring their text along
        assert {code for code in entries if not code.startswith("list.")} == told & set(catalogue)
        assert all(entries[code] == catalogue[code] for code in entries)
        assert len(entries) < len(catalogue) / 2


@pytest.mark.slow
def test_answers_are_those_of_the_server() -> None:
    recording = invent_decoder()
    answers = read_answers(html.render(recording))
    path = next(path for path in answers if path.endswith("/maps/decoder.self.1/weights?as=uint8"))
    weights = decode_frame(answers[path]).arrays["weights"]
    shown = (np.asarray(weights.array, dtype=np.float64) / 255) ** 2 * weights.maximum
    assert np.abs(shown - recording.maps[1].weights()).max() < 0.005
    with InProcessClient(recording) as client:
        score = json.loads(client.get(f"recordings/{client.id}/scores/entropy?over=head").content)
    for exact, close in ((True, 0.0), (False, 5e-5)):
        found = read_answers(html.render(recording, exact=exact)) if exact else answers
        mine = json.loads(
            next(body for path, body in found.items() if path.endswith("/scores/entropy?over=head"))
        )
        for own, sent in zip(mine.pop("parts"), score["parts"], strict=True):
            np.testing.assert_allclose(own.pop("values"), sent["values"], rtol=close, atol=0)
            assert own == {name: value for name, value in sent.items() if name != "values"}
        assert mine == {name: value for name, value in score.items() if name != "parts"}


def test_exact_weights_are_exact() -> None:
    recording = invent_decoder()
    answers = read_answers(html.render(recording, exact=True))
    path = next(path for path in answers if path.endswith("/maps/decoder.self.0/weights?as=float32"))
    np.testing.assert_array_equal(
        decode_frame(answers[path]).arrays["weights"].array, recording.maps[0].weights()
    )


@pytest.mark.slow
def test_states_and_vectors_come_along_by_choice() -> None:
    recording = invent_decoder()
    without, with_all = (
        read_answers(html.render(recording, hidden=both, vectors=both)) for both in (False, True)
    )
    histograms = ("of=hidden&", "of=queries&", "of=attention&")
    for word in ("/hidden/", "/vectors/queries", *(f"/distribution?{of}" for of in histograms)):
        assert not any(word in path for path in without)
        assert any(word in path for path in with_all)


@pytest.mark.parametrize(("layers", "length"), [(1, 1), (2, 4), (12, 8), (12, 32), (6, 128)])
@pytest.mark.slow
def test_size_is_at_most_one_and_two_fifths_of_a_byte_a_weight(layers: int, length: int) -> None:
    random = np.random.default_rng(0)
    tokens = Tokens("source", tuple(f"t{place}" for place in range(length)), np.arange(length))
    maps = []
    for layer in range(layers):
        weights = random.dirichlet(np.ones(length), size=(12, length)).astype(np.float32)  # as bad as it gets
        place = Place("encoder", "self", layer)
        maps.append(AttentionMap(place, tokens, tokens, measure(weights), dense=weights))
    stamp = Evidence("noise", "0" * 12, "eager", "float32", True)
    page = html.render(Recording("noise", stamp, tokens, maps=tuple(maps)))
    assert len(page) <= 1.4 * layers * 12 * length * length + 300_000


@pytest.mark.parametrize("name", ["01-red-car", "02-animal-street", "03-fox"])
def test_a_shipped_recording_takes_at_most_300_kb_beside_its_weights(name: str) -> None:
    """Without its trace; the first two generated a text, with all beams."""
    recording = replace(bundle.open(SHIPPED / f"{name}.bundle"), trace={})
    weights = sum(prod(each.shape) for each in recording.maps)
    assert len(html.render(recording)) <= 1.4 * weights + 300_000


def test_statistics_are_light_beside_approximate_weights_and_exact_beside_exact_ones() -> None:
    recording = invent_decoder()
    for exact, close in ((False, 1e-3), (True, 1e-6)):
        answers = read_answers(html.render(recording, exact=exact))
        body = next(
            body for path, body in answers.items() if path.endswith("/maps/decoder.self.1/statistics")
        )
        arrays = decode_frame(body).arrays
        true = recording.maps[1].statistics
        for name in ("entropy", "peak", "distance", "mass"):
            shown = np.asarray(arrays[name].array, dtype=np.float64)
            np.testing.assert_allclose(shown, getattr(true, name), rtol=close, atol=close)
        np.testing.assert_array_equal(arrays["allowed"].array, true.allowed)


def test_hostile_tokens_are_data() -> None:
    page = html.render(name_tokens(invent_decoder(tokens=2), [HOSTILE, "</title>"]), title=HOSTILE)
    text = page.decode()
    assert HOSTILE not in text
    assert text.count("<script") == text.count("</script>")
    assert "<img" not in text
    answers = read_answers(page)
    tokens = json.loads(next(body for path, body in answers.items() if path.endswith("/tokens/source")))
    assert tokens["texts"] == [HOSTILE, "</title>"]


def test_half_a_character_becomes_a_question_mark() -> None:
    assert b"<title>\xc3\xa9?</title>" in html.render(invent_decoder(tokens=2), title="é\udcff")


def test_policy_allows_the_one_script_and_the_one_style() -> None:
    text = html.render(invent_decoder(tokens=2)).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]


@pytest.mark.slow
def test_long_maps_leave_their_weights_behind() -> None:
    tokens = Tokens("source", ("a",) * 2100, np.arange(2100))
    weights = np.zeros((1, 2100, 2100), dtype=np.float32)
    weights[:, :, 0] = 1
    each = AttentionMap(Place("encoder", "self", 0), tokens, tokens, measure(weights), dense=weights)
    stamp = Evidence("long", "0" * 12, "eager", "float32", True)
    answers = read_answers(html.render(Recording("long", stamp, tokens, maps=(each,))))
    assert not any("/weights" in path for path in answers)
    assert any("/thumbnails" in path for path in answers)


def test_files_are_named_html_and_written_whole(tmp_path: Path) -> None:
    recording = invent_decoder(tokens=2)
    assert html.export(recording, tmp_path / "a.html").stat().st_size > 10_000
    with pytest.raises(InputError, match=r"Expected \.html"):
        html.export(recording, tmp_path / "a.txt")
    with pytest.raises(InputError, match="cannot be written"):
        html.export(recording, tmp_path / "missing" / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.slow
def test_nothing_that_was_asked_for_is_left_out() -> None:
    """However many questions there are: those of a large model are more than a server lets wait."""
    recording = invent_decoder(tokens=3, layers=9, heads=9)
    answers = read_answers(html.render(recording, hidden=True, vectors=True))
    id = next(path for path in answers if re.fullmatch("recordings/[^/]+", path)).partition("/")[2]
    asked = set(html.list_paths(recording, id, hidden=True, vectors=True, exact=False))
    assert len(asked) > 600
    assert asked | {f"messages/{language}" for language in known_languages()} == set(answers)


@pytest.mark.slow
def test_an_answer_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.api.routes.maps.frame_statistics", lambda *_: 1 / 0)
    with pytest.raises(InputError, match=r"statistics could not be computed \(status 500\)"):
        html.render(invent_decoder(tokens=2))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with the probes of two texts, beside another run."""
    for name in ("first", "secret"):
        with RunWriter(tmp_path / name) as writer:
            writer.write_event(Event(0, "started", "It began."))
            writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 20))
            writer.write_heads(10, {Place("encoder", "self", 0): {"entropy_share": [0.5, 0.25]}})
    (tmp_path / "first" / PROBES).mkdir()
    for step in (0, 1, 2, 5, 10, 19):
        for text in (0, 1):
            weights = np.random.default_rng(step).dirichlet(np.ones(12), (2, 12)).astype(np.float32)
            path = tmp_path / "first" / PROBES / name_probe(step, text)
            bundle.save(from_arrays(weights, [f"t{place}" for place in range(12)]), path)
    return tmp_path / "first"


@pytest.mark.slow
def test_a_file_of_a_run_has_its_curves_heads_and_recordings(run: Path) -> None:
    page = html.render_run(run, hidden=False, vectors=False, exact=False, title=None, megabytes=8)
    answers = read_answers(page)
    assert [entry["id"] for entry in json.loads(answers["runs"])] == ["first"], "no word of other runs"
    assert b"secret" not in b"".join(answers.values())
    described = json.loads(answers["runs/first"])
    loss = json.loads(answers["runs/first/series?points=2000"])["series"]["loss"]
    assert loss["first"] == list(range(1, 20))
    heads = json.loads(answers["runs/first/heads?statistic=entropy_share&points=1000"])["series"]
    assert heads["encoder.self.0"]["mean"] == [[0.5, 0.25]]
    assert [step["step"] for step in described["probes"]] == [0, 1, 2, 5, 10, 19]
    for step in described["probes"]:
        recording = json.loads(answers[f"recordings/{quote(step['id'], safe=html.UNESCAPED)}"])
        assert recording["probe"]["step"] == step["step"]
        weights = f"recordings/{quote(step['id'], safe=html.UNESCAPED)}/maps/encoder.self.0/weights?as=uint8"
        assert decode_frame(answers[weights]).arrays["weights"].array.shape == (2, 12, 12)
    weights_bytes = 12 * 2 * 12 * 12
    numbers = sum(len(body) for path, body in answers.items() if not path.startswith("messages/"))
    assert len(page) <= 1.4 * weights_bytes + 0.5 * numbers + 300_000


@pytest.mark.slow
def test_a_file_of_a_run_keeps_to_its_size_and_names_only_what_it_has(run: Path) -> None:
    sizes = sum(path.stat().st_size for path in (run / PROBES).glob("*.bundle"))
    page = html.render_run(
        run, hidden=False, vectors=False, exact=False, title="Mine", megabytes=sizes / 1e6 / 4
    )
    answers = read_answers(page)
    steps = [step["step"] for step in json.loads(answers["runs/first"])["probes"]]
    assert 2 <= len(steps) < 6
    assert (steps[0], steps[-1]) == (0, 19)
    probe = json.loads(answers[f"recordings/{quote('first:19:1', safe=html.UNESCAPED)}"])["probe"]
    for text in probe["texts"]:
        assert [step["step"] for step in text["steps"]] == steps
    assert b"<title>Mine</title>" in page


@pytest.mark.slow
def test_a_limit_is_for_runs_and_both_kinds_are_exported(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        html.export(invent_decoder(), tmp_path / "x.html", megabytes=1)
    assert caught.value.message.code == "render.megabytes_of_runs"
    assert html.export(read_run(run), tmp_path / "run.html").read_bytes().startswith(b"<!doctype html>")


@pytest.mark.slow
@pytest.mark.skipif(not html.EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
def test_the_file_of_an_atlas_has_its_cards_examples_and_words(tmp_path: Path) -> None:
    folder = invent_atlas(layers=1, heads=2).save(tmp_path / "mine")
    invent_atlas(layers=1, heads=2).save(tmp_path / "another")
    answers = read_answers(html.export(open_atlas(folder), tmp_path / "mine.html").read_bytes())
    assert [each["id"] for each in json.loads(answers["atlases"])] == ["mine"]
    assert len(json.loads(answers["atlases/mine"])["heads"]) == 4
    assert json.loads(answers["recordings/mine%3Aexample%3A1"])["maps"]
    words = json.loads(answers["messages/zh"])["entries"]
    assert "atlases.detectors.dependent" in words
    assert "atlases.relations.obj" in words
