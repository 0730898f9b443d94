"""`record` and `long`: what is asked for is what is kept, and nothing half-written stays."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Command
from glassformer import bundle
from glassformer.text.builders import build_words
from tolerances import assert_near

TEXT = "the animal was too tired"
STREAMED = b'"kept/decoder/self/0/queries"'  # the name of an array that was written while the model ran


def test_an_edit_is_made_and_told(decoder: Path, tmp_path: Path, run: Command) -> None:
    file = tmp_path / "cut.bundle"
    run("record", decoder, TEXT, "--edit", "zero decoder self 1 0", "--edit", "scale 0", "--output", file)
    recording = bundle.open(file)
    assert tuple(map(str, recording.evidence.edits)) == (
        "head 0 of decoder layer 1, self: silenced",
        "scores times 0 in every layer",
    )
    assert not recording.map(layer=1).weights(head=0).any()
    assert recording.map(layer=0).weights(head=0)[2, :3] == pytest.approx(1 / 3)


def test_a_decoder_writes_before_it_is_recorded(decoder: Path, run: Command, complain: Command) -> None:
    words = ("record", decoder, TEXT, "--decode", "beam", 2, "--max-new-tokens", 3, "--json")
    summary = json.loads(run(*words))
    assert 1 <= len(summary["generation"]) <= 3
    assert "'bean'" in complain("record", decoder, TEXT, "--decode", "bean", 2)
    assert "'two'" in complain("record", decoder, TEXT, "--decode", "beam", "two")
    assert "Write `sample 1`" in complain("record", decoder, TEXT, "--decode", "sample", "-1")
    assert "wrong number of parts" in complain("record", decoder, TEXT, "--decode", "beam")
    assert "would do nothing" in complain("record", decoder, TEXT, "--max-new-tokens", 3)


@pytest.mark.slow
def test_what_was_written_and_what_has_to_be_noted_is_told(
    decoder: Path, translator: Path, tmp_path: Path, run: Command
) -> None:
    lines = run("record", decoder, TEXT, "--decode", "beam", 2, "--max-new-tokens", 3).splitlines()
    assert lines[0].startswith(f"Written:  {TEXT} ")
    assert "(beam search, 3 steps, " in lines[1]
    assert "hypotheses on the way; log-probability -" in lines[1]
    assert "(greedy, " in run("record", translator, TEXT)
    assert "Written:" not in run("record", decoder, TEXT)
    transformers = pytest.importorskip("transformers")
    config = transformers.BloomConfig(vocab_size=30, hidden_size=16, n_layer=1, n_head=2)
    transformers.BloomForCausalLM(config).save_pretrained(tmp_path / "bloom")
    build_words(TEXT.split()).save(tmp_path / "bloom")
    assert "Note:  off the attention interface" in run("record", tmp_path / "bloom", TEXT)


def test_a_note_that_is_a_sentence_has_one_full_stop(run: Command) -> None:
    told = " ".join(run("record", "zoo/recurrent-fixed", "I am tired.").split())
    assert "Note: One fixed context for all tokens: this network has no attention to record." in told
    assert "record.." not in told


@pytest.mark.parametrize("words", [("record", TEXT), ("score", TEXT), ("long", "--tokens", 10)])
def test_a_device_is_chosen_or_refused(
    words: tuple[object, ...], decoder: Path, tmp_path: Path, run: Command, complain: Command
) -> None:
    verb, *rest = words
    where = [] if verb == "long" else [decoder]
    kept = ["--output", tmp_path / "x.bundle"] if verb == "long" else []
    assert run(verb, *where, *rest, *kept, "--device", "cpu")
    (tmp_path / "x.bundle").unlink(missing_ok=True)
    assert "Nothing runs on 'gpu'" in complain(verb, *where, *rest, *kept, "--device", "gpu")
    assert not (tmp_path / "x.bundle").exists()


def test_json_tells_what_was_recorded(translator: Path, run: Command) -> None:
    summary = json.loads(run("record", translator, TEXT, "--target", "the street", "--json"))
    assert summary["source"]["text"] == TEXT
    assert summary["target"]["tokens"][1:] == ["the", "street"]
    kinds = [(each["stack"], each["kind"], each["layer"]) for each in summary["maps"]]
    assert len(kinds) == 6
    assert ("decoder", "cross", 1) in kinds
    assert all(np.isfinite(each["entropy"]).all() for each in summary["maps"])
    assert summary["evidence"]["exact"] is True


def test_what_is_wanted_is_kept(decoder: Path, tmp_path: Path, run: Command, complain: Command) -> None:
    file = tmp_path / "all.bundle"
    run("record", decoder, TEXT, "--want", "weights, scores,queries,hidden", "--output", file)
    first = bundle.open(file).map(layer=0)
    assert first.queries is not None
    assert first.values is None
    assert set(bundle.open(file).hidden) == {"decoder"}
    assert "'waits'" in complain("record", decoder, TEXT, "--want", "waits")


def test_a_text_may_come_from_a_file(decoder: Path, tmp_path: Path, run: Command, complain: Command) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    assert json.loads(run("record", decoder, "--file", text, "--json"))["source"]["text"] == TEXT
    assert "There is a text and a --file" in complain("record", decoder, TEXT, "--file", text)
    assert "There is no text" in complain("record", decoder)
    assert "No such file" in complain("record", decoder, "--file", tmp_path / "none.txt")
    text.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in complain("record", decoder, "--file", text)


def test_either_kernel_gives_the_same_weights(decoder: Path, tmp_path: Path, run: Command) -> None:
    recordings = []
    for kernel in ("exact", "fast"):
        run("record", decoder, TEXT, "--kernel", kernel, "--output", tmp_path / f"{kernel}.bundle")
        recordings.append(bundle.open(tmp_path / f"{kernel}.bundle"))
    exact, fast = recordings
    assert "without the matrix" in str(fast.evidence.kernel)
    assert "without the matrix" not in str(exact.evidence.kernel)
    assert_near(exact.map(layer=1).weights(), fast.map(layer=1).weights())


def test_queries_and_keys_of_a_long_text_stream_into_the_bundle(
    build: Callable[..., Path], tmp_path: Path, run: Command
) -> None:
    model, file = build("decoder", positions="rotary", width=128, layers=1), tmp_path / "long.bundle"
    text = tmp_path / "text.txt"
    text.write_text("the animal " * 1100)
    run("record", model, "--file", text, "--output", file)
    assert STREAMED in file.read_bytes()
    assert len(bundle.open(file).source) == 2201


def test_languages_and_pairs(translator: Path, build: Callable[..., Path], run: Command) -> None:
    words = ("record", translator, TEXT, "--target", "the", "--target-language", "de", "--json")
    assert json.loads(run(*words))["source"]["tokens"][0] == ">>de<<"
    encoder = build("encoder", "masked")
    summary = json.loads(run("record", encoder, "the animal", "--second", "the street", "--json"))
    assert summary["source"]["tokens"] == ["the", "animal", "</s>", "the", "street", "</s>"]


@pytest.mark.slow
def test_a_folder_of_another_architecture_is_recorded_by_transformers(tmp_path: Path, run: Command) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = build_words(TEXT.split())
    config = transformers.T5Config(
        vocab_size=tokenizer.size, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path / "t5")
    tokenizer.save(tmp_path / "t5")
    summary = json.loads(run("record", tmp_path / "t5", TEXT, "--target", "too tired", "--json"))
    assert summary["model"] == "t5"
    assert summary["evidence"]["largest_error"] == 0.0
    assert {each["kind"] for each in summary["maps"]} == {"self", "cross"}


def test_a_place_that_cannot_be_written_is_refused_first(
    decoder: Path, tmp_path: Path, complain: Command
) -> None:
    assert "is a folder" in complain("record", decoder, TEXT, "--output", tmp_path)
    assert "could not be written" in complain(
        "record", decoder, TEXT, "--output", tmp_path / "no" / "x.bundle"
    )


def test_record_draws_and_keeps(translator: Path, tmp_path: Path, run: Command) -> None:
    file = tmp_path / "cat.bundle"
    printed = run("record", translator, TEXT, "--target", "the street", "--output", file)
    assert "cross 1" in printed
    assert "Rows: the word that is written" in printed
    assert any(line.startswith("street ") for line in printed.splitlines())
    recording = bundle.open(file)
    assert recording.source.text == TEXT
    assert recording.target is not None
    assert recording.target.text == "the street"


def test_record_draws_the_head_that_is_asked_for(decoder: Path, run: Command, complain: Command) -> None:
    assert "decoder layer 1, self, head 0" in run("record", decoder, TEXT, "--layer", 1, "--head", 0)
    assert "no layer 5" in complain("record", decoder, TEXT, "--layer", 5)
    assert "no head 2" in complain("record", decoder, TEXT, "--head", 2)


def test_a_record_that_fails_keeps_nothing(
    decoder: Path, translator: Path, tmp_path: Path, complain: Command
) -> None:
    file = tmp_path / "cat.bundle"
    complain("record", decoder, TEXT, "--layer", 5, "--output", file)
    assert "text is empty" in complain("record", translator, TEXT, "--target", " ", "--output", file)
    assert not file.exists()
