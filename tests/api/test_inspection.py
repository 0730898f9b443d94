"""Files of strangers are looked at elsewhere: what takes too long or too much ends that process alone."""

import json
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from glassformer import bundle
from glassformer.api.inspection import Inspector, list_facts
from glassformer.errors import BundleError
from glassformer.messages import literal, message
from inventions import invent_captioner, invent_listener


@pytest.fixture(scope="module")
def inspector():
    made = Inspector(seconds=600.0)
    yield made
    made.close()


def write_header(path: Path, text: bytes) -> Path:
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    return path


@pytest.mark.slow
def test_facts_of_a_bundle_and_faults_of_others(
    inspector: Inspector, invented: dict[str, Path], tmp_path: Path
) -> None:
    facts = inspector.inspect(invented["decoder"])
    assert (facts.model, facts.shape, facts.source_tokens) == ("invented decoder", "decoder", 24)
    (tmp_path / "x.bundle").write_bytes(b"?")
    with pytest.raises(BundleError, match=r"x\.bundle is no Glassformer recording"):
        inspector.inspect(tmp_path / "x.bundle")


def test_a_list_tells_an_edited_recording_from_a_clean_one(invented: dict[str, Path]) -> None:
    clean = bundle.open(invented["decoder"])
    edited = replace(clean, evidence=replace(clean.evidence, edits=(message("metrics.no_rows"),)))
    assert list_facts(clean).mark is None
    assert list_facts(edited).mark == edited.evidence.mark


def test_pictures_and_sounds_are_named_by_what_they_are_and_not_by_names_of_patches(
    invented: dict[str, Path], site: Any
) -> None:
    picture, sound = list_facts(invent_captioner()).title, list_facts(invent_listener()).title
    assert (picture.text("en"), sound.text("en")) == ("Picture, 3 × 5 patches", "Sound, 1.00 s")
    assert (picture.text("zh"), sound.text("zh")) == ("图片，3 × 5 个图块", "声音，1.00 秒")
    text = list_facts(bundle.open(invented["decoder"]))
    assert text.title == literal(text.excerpt)
    assert site.library.entry(site.library.add(invent_captioner())).title == picture


@pytest.mark.slow
def test_a_header_of_many_values_is_refused_before_it_is_read(inspector: Inspector, tmp_path: Path) -> None:
    text = b'{"a":[' + b"[]," * 20_000_000 + b"[]]}"
    with pytest.raises(BundleError, match="values, more than"):
        inspector.inspect(write_header(tmp_path / "many.bundle", text))


@pytest.mark.slow
def test_what_takes_too_long_or_too_much_ends_the_process_only(
    invented: dict[str, Path], tmp_path: Path
) -> None:
    large = write_header(tmp_path / "large.bundle", json.dumps({"a": [[]] * 2_000_000}).encode())
    small = Inspector(seconds=600.0, memory=20 << 20)
    hasty = Inspector(seconds=0.0)
    try:
        with pytest.raises(BundleError, match="takes more than"):
            small.inspect(large)
        with pytest.raises(BundleError, match="takes more than 0 seconds"):
            hasty.inspect(invented["decoder"])
        hasty.seconds = 600.0
        assert hasty.inspect(invented["decoder"]).source_tokens == 24
    finally:
        small.close()
        hasty.close()


@pytest.mark.slow
def test_a_process_that_has_grown_is_replaced_before_the_next_file(invented: dict[str, Path]) -> None:
    inspector = Inspector(seconds=600.0, small=0)  # whatever it takes, it ends after each file
    try:
        for _ in range(4):
            assert inspector.inspect(invented["decoder"]).source_tokens == 24
    finally:
        inspector.close()


@pytest.mark.slow
def test_a_long_description_is_refused_before_the_server_pays_for_it(
    invented: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vocabulary of a million words, 14 MB of JSON, takes 350 MB once it is read."""
    monkeypatch.setenv("RUST_BACKTRACE", "1")  # an operator's environment
    content = invented["decoder"].read_bytes()
    data = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(content[8:data])
    start, stop = table["recording"]["data_offsets"]
    words = ",".join(f'[{number},"x"]' for number in range(1_000_000, 2_000_000))
    text = content[data + start : data + stop].replace(
        b'"vocabulary":{"pairs":[', b'"vocabulary":{"pairs":[' + words.encode() + b",", 1
    )
    table["recording"] = {"dtype": "U8", "shape": [len(text)], "data_offsets": [start, start + len(text)]}
    header = json.dumps(table).encode()
    path = tmp_path / "words.bundle"
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[data : data + start] + text)
    made = Inspector()
    try:
        assert made.inspect(invented["decoder"]).source_tokens == 24
        process = made._process
        assert process is not None
        with pytest.raises(BundleError, match="takes more than"):
            made.inspect(path)
        assert process.returncode != -SIGKILL, "it ends by itself, before its time is over"
        assert made.inspect(invented["decoder"]).source_tokens == 24
    finally:
        made.close()
