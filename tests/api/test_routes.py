"""What the server says about recordings, beside what the recordings say themselves."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import zstandard
from starlette.testclient import TestClient

from glassformer import bundle
from glassformer.api.app import create_app
from glassformer.api.encodings import REVALIDATE
from glassformer.api.frames import dequantise
from glassformer.api.index import FILE
from glassformer.api.jobs import Preset, Sight
from glassformer.api.library import Library
from glassformer.api.routes.recordings import find_request
from glassformer.messages import literal
from glassformer.metrics import METRICS, PANEL, score
from glassformer.recording import tile
from inventions import invent_decoder
from texts import text_of
from tolerances import assert_near


def test_about(site: Any, build_site: Any) -> None:
    about = site.json("/api/about")
    assert about["workbench"] is True
    assert about["why_no_workbench"] is None
    assert about["limits"]["queue"] == 8
    bare = build_site(workbench=False).json("/api/about")
    assert bare["workbench"] is False
    assert "runs no models" in text_of(bare["why_no_workbench"])
    assert "不运行模型" in text_of(bare["why_no_workbench"], "zh")


def test_the_list(site: Any) -> None:
    entries = {entry["id"]: entry for entry in site.json("/api/recordings")}
    assert set(entries) == set(site.ids.values())
    translation = entries[site.ids["translation"]]
    assert translation["shape"] == "encoder-decoder"
    assert (translation["source_tokens"], translation["target_tokens"]) == (6, 9)
    assert entries[site.ids["decoder"]]["shape"] == "decoder"


def test_a_description(site: Any) -> None:
    said = site.json(site.of("decoder"))
    recording = site.recordings["decoder"]
    assert said["source"]["text"] == recording.source.text
    assert [each["place"]["layer"] for each in said["maps"]] == [0, 1, 2]
    first = said["maps"][0]
    assert first["causal"] is True
    assert all(first[name] for name in ("has_scores", "has_values", "dense"))
    assert (first["heads"], first["queries"], first["keys"], first["head_width"]) == (4, 24, 24, 8)
    assert said["hidden"] == [{"stack": "decoder", "side": "source", "layers": 4, "tokens": 24, "width": 16}]
    assert said["output"]["positions"][3][0]["log_probability"] == pytest.approx(np.log(0.5))
    assert said["generation"]["steps"][1]["text"] == "␣animal"
    summary = said["evidence"]["messages"]["summary"]
    assert " · ".join(map(text_of, summary)) == str(recording.evidence)
    assert said["request"] is None


def test_the_sides_of_a_translation(site: Any) -> None:
    said = site.json(site.of("translation"))
    cross = next(each for each in said["maps"] if each["place"]["kind"] == "cross")
    assert (cross["query_side"], cross["key_side"], cross["causal"]) == ("target", "source", False)
    assert {each["stack"]: each["side"] for each in said["hidden"]} == {
        "encoder": "source",
        "decoder": "target",
    }
    assert [node["parent"] for node in said["generation"]["nodes"]] == [None, None, 0, 0]
    assert site.json(site.of("translation") + "/tokens/target?start=2&stop=4")["ids"] == [2, 3]
    assert site.refusal(site.of("decoder") + "/tokens/target", 404)["code"] == "no_side"


def test_tokens_show_what_is_invisible(site: Any) -> None:
    said = site.json(site.of("decoder") + "/tokens/source?start=1&stop=8")
    assert said["start"] == 1
    assert said["shown"] == ["␣animal", "␣didn't", "␣cross", "⏎", "␣街道", "␣שלום", "‹E6›"]
    assert said["texts"][0] == " animal"
    assert said["offsets"][0] == [3, 10]
    assert site.refusal(site.of("decoder") + "/tokens/source?start=30", 422)["code"] == "out_of_range"
    assert len(site.json(site.of("long") + "/tokens/source")["texts"]) == 3000


@pytest.mark.parametrize("name", ["decoder", "translation", "single", "long"])
def test_thumbnails(site: Any, name: str) -> None:
    for how in ("mean", "max"):
        frame = site.frame(site.of(name) + f"/thumbnails?how={how}")
        for each in site.recordings[name].maps:
            known = each.statistics.thumbnail_mean if how == "mean" else each.statistics.thumbnail_max
            seen = dequantise(frame.arrays[each.place.address])
            assert seen.shape == known.shape
            assert np.abs(seen - known).max() <= 0.005 * known.max()


def test_weights(site: Any) -> None:
    known = site.recordings["decoder"].maps[1]
    address = site.of("decoder") + "/maps/1/weights"
    exact = site.frame(f"{address}?head=2&queries=3:9&keys=0:5&as=float32")
    assert np.array_equal(exact.arrays["weights"].array, known.weights(2)[3:9, :5])
    assert exact.meta["queries"] == [3, 9]
    every = site.frame(address).arrays["weights"]
    assert every.maximum == 1.0
    assert np.abs(dequantise(every) - known.weights()).max() < 0.005
    mean = site.frame(f"{address}?head=mean&as=float32").arrays["weights"].array
    assert np.allclose(mean, known.weights().mean(axis=0), atol=1e-7)
    half = site.frame(f"{address}?head=0&as=float16").arrays["weights"].array
    assert half.dtype == np.float16
    assert site.refusal(f"{address}?head=9", 422)
    assert site.refusal(f"{address}?queries=3:99", 422)["code"] == "out_of_range"
    assert site.refusal(f"{address}?queries=x", 422)["code"] == "malformed"
    assert site.refusal(site.of("decoder") + "/maps/17/weights", 404)["code"] == "no_map"


def test_too_many_weights_are_refused_and_tiles_are_not(site: Any) -> None:
    known = site.recordings["long"].maps[0]
    assert site.refusal(site.of("long") + "/maps/0/weights?head=0", 422)["code"] == "too_many_cells"
    for level, row, column in ((0, 3, 2), (2, 1, 0), (4, 0, 0)):
        address = site.of("long") + f"/maps/0/tiles/0/{level}/{row}/{column}"
        seen = site.frame(f"{address}?as=float32&how=max").arrays["tile"].array
        assert np.array_equal(seen, tile(known, 0, level, row, column, how="max"))
        shown = site.frame(address).arrays["tile"]
        exact = tile(known, 0, level, row, column)
        assert shown.maximum == pytest.approx(float(exact.max()))
        assert np.abs(dequantise(shown) - exact).max() <= 0.005 * exact.max()
    assert site.refusal(site.of("long") + "/maps/0/tiles/0/0/99/0", 422)


def test_scores_and_vectors(site: Any) -> None:
    known = site.recordings["decoder"].maps[0]
    seen = site.frame(site.of("decoder") + "/maps/0/scores?head=1").arrays["scores"].array
    assert np.array_equal(seen, known.scores(1))
    assert np.isneginf(seen[0, 1])
    for what in ("queries", "keys", "values"):
        vectors = site.frame(site.of("decoder") + f"/maps/0/vectors/{what}?head=3").arrays[what].array
        assert np.array_equal(vectors, getattr(known, what)[3])
    assert site.refusal(site.of("long") + "/maps/0/vectors/values?head=0", 404)["code"] == "not_recorded"


def test_statistics(site: Any) -> None:
    frame = site.frame(site.of("decoder") + "/maps/2/statistics")
    known = site.recordings["decoder"].maps[2].statistics
    for name in ("entropy", "peak", "peak_key", "above", "distance", "allowed", "mass", "rows"):
        assert np.allclose(frame.arrays[name].array, getattr(known, name)), name
    assert frame.meta["threshold"] == 0.01


def test_the_average_of_a_model(site: Any) -> None:
    seen = site.frame(site.of("decoder") + "/average?stack=decoder&as=float32").arrays["weights"].array
    known = np.mean([each.weights().mean(axis=0) for each in site.recordings["decoder"].maps], axis=0)
    assert np.allclose(seen, known, atol=1e-7)
    assert site.refusal(site.of("decoder") + "/average?stack=encoder", 404)["code"] == "no_map"
    assert site.refusal(site.of("long") + "/average?stack=decoder", 422)["code"] == "too_long"


def test_hidden_states(site: Any) -> None:
    known = site.recordings["decoder"].hidden["decoder"]
    address = site.of("decoder") + "/hidden/decoder"
    assert np.array_equal(site.frame(f"{address}/2?as=float32").arrays["states"].array, known[2])
    part = site.frame(f"{address}/0?tokens=4:10&every=3").arrays["states"].array
    assert np.array_equal(part, known[0, 4:10:3].astype(np.float16))
    norms = site.frame(f"{address}/activations").arrays["activations"].array
    assert_near(norms, np.linalg.norm(known, axis=2), operations=1)
    change = site.frame(f"{address}/activations?by=change").arrays["activations"].array
    assert (change[0] == 0).all()
    assert_near(change[1:], np.linalg.norm(np.diff(known, axis=0), axis=2), operations=1)
    neuron = site.frame(f"{address}/activations?by=neuron&neuron=5").arrays["activations"].array
    assert np.array_equal(neuron, known[:, :, 5])
    assert site.refusal(f"{address}/activations?by=neuron&neuron=99", 422)["code"] == "out_of_range"
    assert site.refusal(f"{address}/9", 422)["code"] == "out_of_range"
    assert site.refusal(site.of("long") + "/hidden/decoder/0", 404)["code"] == "not_recorded"


def test_metrics_of_the_panel_come_first(site: Any) -> None:
    said = site.json("/api/metrics")
    assert [each["name"] for each in said[: len(PANEL)]] == list(PANEL)
    assert all(each["panel"] == (each["name"] in PANEL) for each in said)
    sparsity = next(each for each in said if each["name"] == "overall_sparsity")
    assert "threshold" in {each["name"] for each in sparsity["parameters"]}


def test_scores_of_metrics(site: Any) -> None:
    recording = site.recordings["translation"]
    for over in ("head", "layer", "model"):
        said = site.json(site.of("translation") + f"/scores/entropy?over={over}")
        known = score(recording, "entropy", over=over)  # type: ignore[arg-type]
        assert len(said["parts"]) == len(known.parts)
        for seen, part in zip(said["parts"], known.parts, strict=True):
            assert seen["values"] == pytest.approx(part.values.reshape(-1).tolist())
    heads = site.json(site.of("translation") + "/scores/entropy?over=head")
    assert [part["place"]["address"] for part in heads["parts"]] == [
        each.place.address for each in recording.maps
    ]
    queries = site.json(site.of("translation") + "/scores/entropy?over=query")["parts"][2]
    assert (queries["axes"], queries["shape"]) == (["head", "query"], [3, 9])
    strict = site.json(site.of("decoder") + "/scores/overall_sparsity?threshold=0.2")
    assert strict["parameters"]["threshold"] == 0.2
    assert (
        strict["parts"][0]["values"]
        != site.json(site.of("decoder") + "/scores/overall_sparsity")["parts"][0]["values"]
    )
    assert site.refusal(site.of("decoder") + "/scores/entropie", 404)["code"] == "no_metric"
    assert (
        "threshold"
        in site.refusal(site.of("decoder") + "/scores/overall_sparsity?threshold=x", 422)["sentence"]
    )
    assert site.refusal(site.of("decoder") + "/scores/entropy?frob=1", 422)


@pytest.mark.slow
def test_every_metric_answers_or_says_why(site: Any) -> None:
    for each in site.json("/api/metrics"):
        for name in ("decoder", "translation", "single"):
            answer = site.client.get(site.of(name) + f"/scores/{each['name']}")
            assert answer.status_code in (200, 422), (each["name"], answer.text)
            if answer.status_code == 200:
                for part in answer.json()["parts"]:
                    assert (None in part["values"]) == bool(part["undefined"])
    assert {each["name"] for each in site.json("/api/metrics")} <= set(METRICS)


def test_rollout(site: Any) -> None:
    frame = site.frame(site.of("decoder") + "/flow?stack=decoder")
    known = score(site.recordings["decoder"], "rollout").parts
    assert_near(frame.arrays["rollout"].array, np.stack([part.values for part in known]), operations=1)
    assert frame.meta == {"stack": "decoder", "layers": [0, 1, 2], "residual": 0.5}
    last = site.frame(site.of("translation") + "/flow?stack=decoder&layers=false&residual=0")
    assert last.arrays["rollout"].array.shape == (1, 9, 9)
    assert site.refusal(site.of("long") + "/flow", 422)
    assert site.refusal(site.of("decoder") + "/flow?stack=encoder", 404)["code"] == "no_map"


def test_a_bundle_goes_out_and_comes_in(site: Any, tmp_path: Path) -> None:
    answer = site.client.get(site.of("translation") + "/bundle")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["cache-control"] == "private, no-cache"  # no cache on the way gives it to others
    site.client.delete(site.of("translation"))
    assert site.refusal(site.of("translation"), 404)["code"] == "no_recording"
    added = site.client.post("/api/recordings", content=answer.content)
    assert added.status_code == 201
    said = site.json(f"/api/recordings/{added.json()['id']}")
    assert said["model"] == "invented translator"
    path = tmp_path / "back.bundle"
    path.write_bytes(answer.content)
    assert bundle.open(path).model == "invented translator"


def test_what_is_no_bundle_is_refused_without_a_trace(site: Any) -> None:
    for body in (b"", b"hello", b"\x08\0\0\0\0\0\0\0" + b"{}      "):
        error = site.refusal("/api/recordings", 422, method="POST", content=body)
        assert error["code"] == "not_a_bundle"
        assert str(site.library.folder) not in error["sentence"]
    picture = site.refusal("/api/recordings", 422, method="POST", content=b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert picture["sentence"].startswith("upload.bundle is no Glassformer recording.")
    assert site.refusal("/api/recordings", 415, method="POST", files={"file": b"x"})["code"] == "form"
    assert [each.name for each in site.library.folder.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "accepted", ["zstd", "gzip", "identity", "gzip, deflate, br, zstd", "zstd;q=0, gzip"]
)
def test_answers_are_compressed_as_the_client_likes(site: Any, accepted: str) -> None:
    plain = site.client.get(site.of("decoder") + "/thumbnails").content
    with site.client.stream(
        "GET", site.of("decoder") + "/thumbnails", headers={"accept-encoding": accepted}
    ) as answer:
        raw = b"".join(answer.iter_raw())
        encoding = answer.headers.get("content-encoding", "identity")
    assert encoding == ("gzip" if "q=0" in accepted else "zstd" if "zstd" in accepted else accepted)
    if encoding == "zstd":
        assert zstandard.ZstdDecompressor().decompress(raw) == plain
    assert (len(raw) < len(plain)) == (encoding != "identity")


def test_what_is_known_is_not_sent_again(site: Any) -> None:
    address = site.of("decoder") + "/maps/0/weights"
    first = site.client.get(address)
    assert "immutable" in first.headers["cache-control"]
    again = site.client.get(address, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert site.client.get(address + "?head=1").headers["etag"] != first.headers["etag"]
    site.client.delete(site.of("decoder"))
    assert site.client.get(address, headers={"if-none-match": first.headers["etag"]}).status_code == 404


def test_a_shipped_recording_may_change_under_its_id(tmp_path: Path) -> None:
    address, marks = "/api/recordings/fox/maps/0/weights", list[str]()
    (tmp_path / "fox.toml").write_text('id = "fox"')
    for tokens in (5, 6):
        bundle.save(invent_decoder(tokens=tokens), tmp_path / "fox.bundle")
        library = Library(shipped=tmp_path)
        with TestClient(create_app(library), "http://localhost:5000") as client:
            answer = client.get(address, headers={"if-none-match": "".join(marks)})
            assert (answer.status_code, answer.headers["cache-control"]) == (200, REVALIDATE)
            marks.append(answer.headers["etag"])
            again = client.get(address, headers={"if-none-match": marks[-1]})
            assert (again.status_code, again.headers["cache-control"]) == (304, REVALIDATE)
        library.close()


@pytest.mark.slow
def test_the_documents_name_every_address_and_nobody_else(site: Any) -> None:
    page = site.client.get("/api/docs").text
    schema = site.json("/api/openapi.json")
    assert all(path in page for path in schema["paths"])
    assert "http://" not in page
    assert "https://" not in page
    for methods in schema["paths"].values():
        for operation in methods.values():
            assert operation.get("description"), operation["operationId"]
            assert "4XX" in operation["responses"]


def test_parameters_that_a_metric_has_not(site: Any) -> None:
    """Also those that are called as arguments of ours are."""
    for word in ("recording", "name", "metric", "self", "given"):
        error = site.refusal(f"{site.of('decoder')}/scores/entropy?{word}=x", 422)
        assert f"no parameter called '{word}'" in error["sentence"]


def test_tiles_far_above_the_map_are_one_pixel(site: Any) -> None:
    for level in (12, 20, 31):
        for name in ("decoder", "long"):
            made = site.frame(f"{site.of(name)}/maps/0/tiles/0/{level}/0/0")
            assert made.arrays["tile"].array.shape == (1, 1)


@pytest.mark.slow
def test_every_metric_is_measured_at_every_level_that_it_names(site: Any) -> None:
    for metric in site.json("/api/metrics"):
        for level in metric["levels"]:
            answer = site.client.get(f"{site.of('decoder')}/scores/{metric['name']}?over={level}")
            possible = answer.status_code == 200 or answer.json()["error"]["code"] == "cannot_be"
            assert possible, (metric["name"], level, answer.text)


def test_metrics_are_described_in_both_languages(site: Any) -> None:
    def is_chinese(text: str) -> bool:
        return any("\u4e00" <= letter <= "\u9fff" for letter in text)

    for metric in site.json("/api/metrics"):
        phrases = [metric["label"], metric["caption"], *(knob["label"] for knob in metric["parameters"])]
        phrases += [phrase for phrase in (metric["lower"], metric["higher"]) if phrase is not None]
        for phrase in phrases:
            assert is_chinese(text_of(phrase, "zh")), (metric["name"], phrase)
            assert not is_chinese(text_of(phrase, "en")), (metric["name"], phrase)


def test_the_request_of_a_shipped_recording_is_that_of_its_preset() -> None:
    said = literal("x")
    words = {"model": "zoo/translator", "task": "translation", "text": "我爱你", "target_language": "en"}
    sights = (Sight(title=said, selection={"view": "lines"}),)  # for the page: not part of a request
    preset = Preset(id="x", title=said, point=said, selection={}, recording="x-1", also=sights, **words)
    library = SimpleNamespace(request=lambda id: None, preset=lambda id: "x")
    context = SimpleNamespace(library=library, workbench=SimpleNamespace(presets=lambda: [preset]))
    request = find_request(cast(Any, context), "x-1")
    assert request is not None
    assert request.model_dump(include=set(words)) == words


def test_what_each_row_writes_is_a_side_of_its_own(site: Any) -> None:
    description = site.json(site.of("translation"))
    target, written = (site.json(f"{site.of('translation')}/tokens/{side}") for side in ("target", "written"))
    assert description["written"]["count"] == len(written["texts"]) == len(target["texts"])
    assert written["texts"][:-1] == target["texts"][1:]
    assert {
        (each["place"]["kind"], each["row_side"])
        for each in description["maps"]
        if each["query_side"] == "target"
    } == {
        ("cross", "written"),
        ("self", "target"),
    }
    site.refusal(f"{site.of('decoder')}/tokens/written", 404)


@pytest.mark.parametrize(("method", "called"), [("GET", "count"), ("DELETE", "remove")])
def test_the_index_is_used_in_threads(
    site: Any, monkeypatch: pytest.MonkeyPatch, method: str, called: str
) -> None:
    """Never by the event loop, which all clients share."""
    threads: list[str] = []
    wanted = getattr(site.library, called)

    def note(*words: Any) -> Any:
        threads.append(threading.current_thread().name)
        return wanted(*words)

    monkeypatch.setattr(site.library, called, note)
    address = "/api/recordings" if method == "GET" else site.of("decoder")
    assert site.client.request(method, address).is_success
    assert [name.partition("_")[0] for name in threads] == ["answer"]


def test_a_list_has_pages_and_a_search(site: Any) -> None:
    whole = site.client.get("/api/recordings")
    assert whole.headers["x-total-count"] == str(len(whole.json())) == "4"
    parts = [site.json(f"/api/recordings?origin=file&start={start}&count=2") for start in (0, 2, 4)]
    assert [each["id"] for part in parts for each in part] == [each["id"] for each in whole.json()]
    found = site.client.get("/api/recordings?search=invented%20translator")
    assert [each["id"] for each in found.json()] == [site.ids["translation"]]
    assert found.headers["x-total-count"] == "1"
    site.refusal("/api/recordings?count=0", 422)


@pytest.mark.parametrize("wanted", ["bytes=", "bytes=x-y", "lines=1-2", "bytes=9-3", "bytes=99999999999-"])
def test_a_range_that_cannot_be_is_refused_as_every_error_is(site: Any, wanted: str) -> None:
    address = f"{site.of('decoder')}/bundle"
    assert site.refusal(address, 416, headers={"range": wanted})["code"] == "out_of_range"
    part = site.client.get(address, headers={"range": "bytes=0-7"})
    assert (part.status_code, len(part.content)) == (206, 8)
