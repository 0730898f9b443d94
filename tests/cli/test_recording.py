"""`record` and `long`: what is asked for is what is kept, and nothing half-written stays."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glassformer import bundle
from glassformer.cli.edits import read_decoding, read_edit
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores
from glassformer.text.builders import build_words
from tolerances import assert_near

TEXT = "the animal was too tired"
STREAMED = b'"kept/decoder/self/0/queries"'  # the name of an array that was written while the model ran

Command = Callable[..., str]


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        ("zero encoder self 2 5", AblateHead("encoder", "self", 2, 5)),
        ("mean decoder cross 0 1", AblateHead("decoder", "cross", 0, 1, "mean")),
        ("cut decoder self 2 5 7 3", CutEdge("decoder", "self", 2, 5, 7, 3)),
        ("cut decoder self all all 7 3", CutEdge("decoder", "self", None, None, 7, 3)),
        ("scale 0.5", ScaleScores(0.5)),
        ("scale 2 decoder", ScaleScores(2.0, stack="decoder")),
        ("scale -1 all cross 3", ScaleScores(-1.0, layer=3, kind="cross")),
        ("first 4", FirstLayers(4)),
        ("first 1 encoder", FirstLayers(1, "encoder")),
    ],
)
def test_an_edit_reads_as_it_is_said(words: str, edit: object) -> None:
    assert read_edit(words) == edit


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "''"),
        ("zap encoder self 2 5", "'zap'"),
        ("zero encodr self 2 5", "'encodr' cannot be the STACK"),
        ("zero encoder self two 5", "'two' cannot be the LAYER"),
        ("zero encoder self all 5", "'all' cannot be the LAYER"),
        ("zero encoder self 2", "has no HEAD"),
        ("zero encoder self 2 5 6", "'6' is one part too many"),
        ("cut decoder self all -1 7 3", "'-1' cannot be the HEAD"),
        ("scale much", "'much' cannot be the FACTOR"),
        ("scale nan", "between -1,000,000 and 1,000,000"),
        ("first 0", "At least one layer"),
    ],
)
def test_an_edit_that_is_none_names_the_word(words: str, said: str, decoder: Path, complain: Command) -> None:
    assert said in complain("record", decoder, TEXT, "--edit", words)


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


@pytest.mark.parametrize(
    ("words", "beams", "sample", "seed"),
    [
        ("greedy", 1, False, None),
        ("beam 4", 4, False, None),
        ("sample", 1, True, None),
        ("sample 7", 1, True, 7),
    ],
)
def test_a_way_to_decode(words: str, beams: int, sample: bool, seed: int | None) -> None:
    chosen = read_decoding(words.split(), GenerationSettings(beams=3, max_new_tokens=9))
    assert (chosen.beams, chosen.sample, chosen.seed, chosen.max_new_tokens) == (beams, sample, seed, 9)


def test_a_decoder_writes_before_it_is_recorded(decoder: Path, run: Command, complain: Command) -> None:
    words = ("record", decoder, TEXT, "--decode", "beam", 2, "--max-new-tokens", 3, "--json")
    summary = json.loads(run(*words))
    assert 1 <= len(summary["generation"]) <= 3
    assert "'bean'" in complain("record", decoder, TEXT, "--decode", "bean", 2)
    assert "'two'" in complain("record", decoder, TEXT, "--decode", "beam", "two")
    assert "Write `sample 1`" in complain("record", decoder, TEXT, "--decode", "sample", "-1")
    assert "wrong number of parts" in complain("record", decoder, TEXT, "--decode", "beam")
    assert "would do nothing" in complain("record", decoder, TEXT, "--max-new-tokens", 3)


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


def test_a_long_recording_streams_into_its_file(
    tmp_path: Path, run: Command, complain: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "long.bundle"
    assert "3,000 tokens" in run("long", "--tokens", 3000, "--output", file)
    assert STREAMED in file.read_bytes()
    recording = bundle.open(file)
    assert len(recording.source) == 3000
    first = recording.map(layer=0)
    assert first.factors is not None  # weights follow from queries and keys
    assert_near(first.weights(0, slice(2000, 2001)).sum(), 1, layers=2)
    assert "0 tokens cannot" in complain("long", "--tokens", 0, "--output", file)

    def fail(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    before = file.read_bytes()
    monkeypatch.setattr("glassformer.render.terminal.heatmap.draw_recording", fail)  # after the model has run
    with pytest.raises(AssertionError):  # complain() wants silence on stdout, and `long` has begun to talk
        complain("long", "--tokens", 3000, "--output", file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["long.bundle"]  # no part of the second try


def test_a_place_that_cannot_be_written_is_refused_first(
    decoder: Path, tmp_path: Path, complain: Command
) -> None:
    assert "is a folder" in complain("record", decoder, TEXT, "--output", tmp_path)
    assert "could not be written" in complain(
        "record", decoder, TEXT, "--output", tmp_path / "no" / "x.bundle"
    )
