"""Generation, recorded step by step: what eager attention gave at each step, and the whole tree of beams."""

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor

from generating_models import (
    BEAMS,
    BOTH,
    DECODERS,
    GREEDY,
    PROMPT,
    SAMPLING,
    generate_eager,
    make,
    sharpen,
    words_of,
)
from glassformer.config import ModelConfig
from glassformer.errors import InputError, RecordingError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.recorders.transformers import generation as generating
from glassformer.recorders.transformers.generation import Watcher
from glassformer.rounding import rounding
from tolerances import assert_near

FULL = GenerationSettings(max_new_tokens=7, min_new_tokens=7, no_repeat_ngram=1)


FULL_WORDS = {"max_new_tokens": 7, "min_new_tokens": 7, "no_repeat_ngram_size": 1, "do_sample": False}


TRANSLATORS = ["BART", "T5"]


@pytest.mark.parametrize("kind", DECODERS)
def test_each_row_is_what_eager_gave_at_its_step(kind: str) -> None:
    model = make(kind)
    recording = load(model).record(PROMPT, decode=FULL)
    reference = generate_eager(model, **FULL_WORDS)
    assert words_of(recording) == reference.sequences[0, len(PROMPT) :].tolist()
    assert recording.source.ids.tolist() == reference.sequences[0].tolist()
    done = 0
    for maps in reference.attentions:  # of each step, by layer
        for layer, weights in enumerate(maps):
            rows = recording.map("decoder", layer=layer).dense[:, done : done + weights.shape[2]]
            total = done + weights.shape[2]
            columns = slice(total - weights.shape[3], total)
            assert np.array_equal(rows[..., columns], weights[0].numpy())
            assert not rows[..., total:].any()
            assert not rows[..., : columns.start].any()
        done = total
    assert done == len(PROMPT) + 6


@pytest.mark.parametrize("kind", TRANSLATORS)
@pytest.mark.slow
def test_a_translator_is_recorded_with_its_cross_attention(kind: str) -> None:
    model = make(kind)
    recording = load(model).record(PROMPT, decode=FULL)
    reference = generate_eager(model, **FULL_WORDS)
    assert words_of(recording) == reference.sequences[0, 1:].tolist()
    for step, (selves, crosses) in enumerate(
        zip(reference.decoder_attentions, reference.cross_attentions, strict=True)
    ):
        for layer in range(2):
            own = recording.map("decoder", layer=layer).dense[:, step, : step + 1]
            assert np.array_equal(own, selves[layer][0, :, 0].numpy())
            assert np.array_equal(
                recording.map("decoder", "cross", layer).dense[:, step], crosses[layer][0, :, 0].numpy()
            )
    for layer, weights in enumerate(reference.encoder_attentions):
        assert np.array_equal(recording.map("encoder", layer=layer).dense, weights[0].numpy())


@pytest.mark.parametrize("kind", [*DECODERS, *TRANSLATORS])
@pytest.mark.parametrize("settings", [GREEDY, BEAMS, SAMPLING], ids=["greedy", "beams", "sampling"])
def test_the_maps_are_those_of_one_pass_over_the_text(kind: str, settings: GenerationSettings) -> None:
    model = make(kind)
    subject = load(model)
    recording = subject.record(PROMPT, decode=settings, want=("weights", "output", "hidden"))
    inputs = {"input_ids": torch.tensor([PROMPT])}
    if kind in TRANSLATORS:
        inputs["decoder_input_ids"] = torch.tensor(recording.target.ids[None])
    else:
        inputs["input_ids"] = torch.tensor(recording.source.ids[None])
    model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(**inputs, output_attentions=True)
    for each in recording.maps:
        name = {"self": f"{each.stack}_attentions", "cross": "cross_attentions"}[each.kind]
        reference = outputs[name if kind in TRANSLATORS else "attentions"][each.layer][0].numpy()
        assert_near(each.dense, reference, layers=2)
    best = outputs.logits[0].log_softmax(-1).max(-1).values.numpy()
    assert_near(recording.output.log_probabilities[:, 0], best, layers=2)
    assert any("generation steps; the largest difference" in str(note) for note in recording.evidence.notes)


def test_a_prompt_may_end_in_the_end_token() -> None:
    model = make("GPT-2")
    subject = load(model)
    one, other = (subject.record(prompt, decode=GREEDY) for prompt in (PROMPT, [*PROMPT, 2]))
    assert words_of(one) == words_of(other)
    assert one.source.ids.tolist() == other.source.ids.tolist()


def test_without_a_cache_the_same_is_written() -> None:
    for kind in ("GPT-2", "BART"):
        subject = load(make(kind))
        cached = subject.record(PROMPT, decode=GREEDY)
        plain = subject.record(PROMPT, decode=GenerationSettings(max_new_tokens=7, cache=False))
        assert words_of(cached) == words_of(plain)
        for one, other in zip(cached.maps, plain.maps, strict=True):
            assert_near(one.dense, other.dense, layers=2)


def test_a_translator_without_a_target_writes_one_as_its_folder_says() -> None:
    model = make("BART")
    model.generation_config.num_beams = 2
    model.generation_config.max_new_tokens = 4
    recording = load(model).record(PROMPT)
    assert recording.generation.method == "beam"
    assert len(recording.generation.steps) <= 4
    assert recording.target.ids[0] == 3
    assert len(recording.generation.steps[0].alternatives) == 5


@pytest.mark.parametrize("kind", [*DECODERS[:1], *TRANSLATORS])
@pytest.mark.parametrize("settings", [FULL, BEAMS], ids=["greedy", "beams"])
def test_a_given_prefix_is_continued_and_steps_are_reported(kind: str, settings: GenerationSettings) -> None:
    model = load(make(kind))
    seen: list[Any] = []
    recording = model.record(PROMPT, decode=settings, prefix=[7, 9], on_step=seen.append)
    assert recording.generation is not None
    assert seen == [*(recording.generation.nodes or recording.generation.steps), None]
    written = recording.source if recording.target is None else recording.target
    start = len(PROMPT) if recording.target is None else 1
    assert written.ids.tolist()[start : start + 2] == [7, 9]
    assert written.ids.tolist()[start + 2 :][:3] == words_of(recording)[:3]
    whole = model.record(PROMPT, written.ids[1:]) if start == 1 else model.record(written.ids)
    for each, other in zip(recording.maps, whole.maps, strict=True):
        assert_near(each.weights(), other.weights(), layers=2, scores=16)


def test_a_prefix_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="writes nothing here"):
        load(make(DECODERS[0])).record(PROMPT, prefix=[7])


def test_rules_are_passed_on() -> None:
    model = make("GPT-2")
    subject = load(model)
    free = words_of(subject.record(PROMPT, decode=GREEDY))
    settings = GenerationSettings(
        max_new_tokens=7, forbidden=(free[0],), no_repeat_ngram=1, repetition_penalty=1.3
    )
    bound = words_of(subject.record(PROMPT, decode=settings))
    assert free[0] not in bound
    assert len(set(bound) | set(PROMPT)) == len(bound) + len(PROMPT)


def test_generation_stops_where_positions_end() -> None:
    model = make("GPT-2")
    recording = load(model).record([7] * 60, decode=GenerationSettings(max_new_tokens=50, min_new_tokens=4))
    assert len(recording.generation.steps) == 4
    with pytest.raises(InputError, match="The prompt fills all 64 positions"):
        load(model).record([7] * 64, decode=GREEDY)


@pytest.mark.parametrize("settings", [FULL, BEAMS], ids=["greedy", "beams"])
@pytest.mark.parametrize("kind", ["Llama", "GPT-2", "T5", "BART"])
def test_a_long_prompt_is_watched_by_its_peaks(
    kind: str, settings: GenerationSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(kind)
    exact = load(model).record(PROMPT, decode=settings)
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LONGEST_DENSE", 3)
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 3)
    calls: list[int] = []
    receive = Watcher._measure

    def count(self: Watcher, call: Any, **settings: bool) -> Tensor:
        calls.append(call.queries.shape[2])
        return receive(self, call, **settings)

    monkeypatch.setattr(Watcher, "_measure", count)
    long = load(model).record(PROMPT, decode=settings)
    assert words_of(long) == words_of(exact)
    assert calls.count(1) >= len(long.generation.steps) - 1  # every step with its cache
    [note] = [note for note in long.evidence.notes if note.code == "recorders.notes.one_pass_compared"]
    steps = len(long.generation.steps)
    assert note.parameters["steps"] == steps
    assert note.parameters["error"] < rounding(layers=2)
    assert long.maps[0].dense is None
    for seen, wanted in zip(long.maps, exact.maps, strict=True):
        assert_near(seen.weights(), wanted.dense, layers=2)


def change_peaks(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """The steps of a generation report other peaks than they had."""
    choose = generating.Watcher.choose

    def choose_changed(passes: Any, rows: Any, prompt: int) -> Any:
        steps, peaks = choose(passes, rows, prompt)
        return steps, {place: [change(peak) for peak in found] for place, found in peaks.items()}

    monkeypatch.setattr(generating.Watcher, "choose", choose_changed)


def test_a_text_that_grows_long_is_held_to_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LONGEST_DENSE", len(PROMPT))
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", len(PROMPT))
    model = make("Llama")
    recording = load(model).record(PROMPT, decode=FULL)
    assert recording.maps[0].dense is None
    assert any(note.code == "recorders.notes.one_pass_compared" for note in recording.evidence.notes)
    change_peaks(monkeypatch, lambda peak: peak * 0.5)
    with pytest.raises(RecordingError, match="The attention of single steps differs"):
        load(model).record(PROMPT, decode=FULL)


@pytest.mark.parametrize(
    ("precision", "off", "fits"), [("half", 0.01, True), ("half", 0.05, False), ("float", 0.01, False)]
)
def test_half_precision_has_a_wider_seam(
    precision: str, off: float, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = getattr(make("GPT-2"), precision)()
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LONGEST_DENSE", len(PROMPT))
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", len(PROMPT))
    change_peaks(monkeypatch, lambda peak: peak + off)
    refusal = nullcontext() if fits else pytest.raises(RecordingError, match="The attention of single steps")
    with refusal:
        recording = load(model).record(PROMPT, decode=FULL)
        assert any(note.code == "recorders.notes.one_pass_compared" for note in recording.evidence.notes)


@pytest.mark.parametrize("beams", [1, 3])
def test_what_is_off_the_interface_writes_first_and_is_read_then(beams: int) -> None:
    torch.manual_seed(0)
    model = sharpen(
        hf.BloomForCausalLM(hf.BloomConfig(vocab_size=30, hidden_size=32, n_layer=2, n_head=4)), 4.0
    )
    recording = load(model).record(PROMPT, decode=GenerationSettings(max_new_tokens=5, beams=beams))
    assert recording.source.ids.tolist()[: len(PROMPT)] == PROMPT
    assert len(recording.maps) == 2
    assert recording.generation.method == ("beam" if beams > 1 else "greedy")


def test_speech_is_written_down() -> None:
    torch.manual_seed(0)
    config = hf.WhisperConfig(**BOTH, num_mel_bins=20, max_source_positions=30, max_target_positions=40)
    model = sharpen(hf.WhisperForConditionalGeneration(config), 3.0)
    recording = load(model).record(
        {"input_features": torch.randn(1, 20, 60)}, decode=GenerationSettings(max_new_tokens=4)
    )
    assert recording.source.texts[0] == "0.00"
    assert recording.map("decoder", "cross", 1).shape == (4, len(recording.target), 30)


def test_an_encoder_cannot_write() -> None:
    model = hf.BertModel(
        hf.BertConfig(vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=4)
    )
    with pytest.raises(InputError, match="cannot generate"):
        load(model).record(PROMPT, decode=GREEDY)


@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("settings", [GREEDY, BEAMS, SAMPLING], ids=["greedy", "beams", "sampling"])
def test_our_networks_record_the_text_they_write(shape: Any, settings: GenerationSettings) -> None:
    torch.manual_seed(3)
    config = ModelConfig(
        vocabulary_size=30, shape=shape, layers=2, width=32, heads=4, feed_forward=32, max_length=32,
        start_id=3, end_id=2,
    )  # fmt: skip
    subject = load(sharpen(Transformer(config), 2.0))
    recording = subject.record(PROMPT, decode=settings)
    words = [step.token for step in recording.generation.steps]
    read = words[:-1] if words[-1] == 2 else words
    tokens = recording.source if shape == "decoder" else recording.target
    assert tokens.ids.tolist() == ([*PROMPT, *read] if shape == "decoder" else [3, *read])
    again = subject.record([*PROMPT, *read]) if shape == "decoder" else subject.record(PROMPT, read)
    for one, other in zip(recording.maps, again.maps, strict=True):
        assert_near(one.dense, other.dense, layers=2)
    logarithms = again.output
    for place, step in enumerate(recording.generation.steps[: len(read)]):
        if settings.sample:
            continue  # temperature and top-k have changed what it was drawn from
        row = place + (len(PROMPT) - 1 if shape == "decoder" else 0)
        known = dict(
            zip(logarithms.ids[row].tolist(), logarithms.log_probabilities[row].tolist(), strict=True)
        )
        assert_near(step.log_probability, known.get(step.token, step.log_probability), layers=2)
    assert bool(recording.generation.nodes) == (settings.beams > 1)
    assert all(math.isfinite(step.log_probability) for step in recording.generation.steps)
