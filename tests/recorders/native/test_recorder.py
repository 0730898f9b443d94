"""Recording our networks: the numbers are theirs, the maps are where they belong, nothing is left behind."""

import threading
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.errors import InputError, RecordingError
from glassformer.loaded.opening import load
from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.recorders.edits import AblateHead
from glassformer.recorders.request import WANTS
from glassformer.recording import Recording
from our_networks import TEXT, WORDS, build, build_recurrent, names, state_of, watch
from tolerances import assert_near


def test_an_encoder_decoder_shows_three_kinds_of_maps() -> None:
    network = build()
    recording = load(network, WORDS, name="tiny").record(TEXT, "le chat voit", want=WANTS)
    assert recording.target is not None
    assert recording.source.texts == ("the", "cat", "sees", "the", "big", "dog", "</s>")
    assert recording.target.texts == ("<s>", "le", "chat", "voit")
    assert recording.target.special.tolist() == [True, False, False, False]
    assert names(recording) == [
        *("encoder layer 0, self", "encoder layer 1, self"),
        *("decoder layer 0, self", "decoder layer 1, self"),
        *("decoder layer 0, cross", "decoder layer 1, cross"),
    ]
    for each in recording.maps:
        assert each.query is (recording.source if each.stack == "encoder" else recording.target)
        assert each.key is (
            recording.target if (each.stack, each.kind) == ("decoder", "self") else recording.source
        )
    # The same numbers as through windows that this test opens itself.
    network.eval()
    assert network.encoder is not None
    assert network.decoder is not None
    attentions = {("encoder", "self", layer): network.encoder.block(layer).attention for layer in range(2)}
    for layer in range(2):
        attentions["decoder", "self", layer] = network.decoder.block(layer).attention
        cross = network.decoder.block(layer).cross
        assert cross is not None
        attentions["decoder", "cross", layer] = cross  # type: ignore[assignment]
    windows = ("queries", "keys", "values", "scores", "pattern")
    seen = {
        place: {name: watch(getattr(each, name)) for name in windows} for place, each in attentions.items()
    }
    source = torch.tensor([recording.source.ids.tolist()])
    target = torch.tensor([recording.target.ids.tolist()])
    with torch.no_grad():
        logits = network(source, target=target)
    for each in recording.maps:
        expected = seen[each.stack, each.kind, each.layer]
        assert_near(each.weights(), expected["pattern"][0])
        for name in ("queries", "keys", "values"):
            assert_near(getattr(each, name), expected[name][0])
        allowed = np.isfinite(each.scores())
        assert_near(each.scores()[allowed], expected["scores"][0].numpy()[allowed], layers=2)
        assert each.scale == pytest.approx(8**-0.5)
    assert recording.output is not None
    best = torch.log_softmax(logits[0], -1).topk(10)
    assert recording.output.ids.tolist() == best.indices.tolist()
    assert_near(recording.output.log_probabilities, best.values, layers=2)
    assert recording.output.stack == "decoder"
    assert recording.output.texts(0)[0] == WORDS.display([int(best.indices[0, 0])])[0]


def test_a_missing_target_is_generated() -> None:
    network = build()
    subject = load(network, WORDS)
    for settings in (None, GenerationSettings(beams=3, max_new_tokens=4, alternatives=2)):
        recording = subject.record(TEXT, decode=settings)
        source = torch.tensor([recording.source.ids.tolist()])
        expected = generate(network, source, None, settings or GenerationSettings())[0]
        assert recording.target is not None
        assert tuple(recording.target.ids.tolist()) == (2, *expected.words)
        generation = recording.generation
        assert generation is not None
        assert tuple(step.token for step in generation.steps) == expected.ids
        assert all(step.alternatives for step in generation.steps)
        assert generation.method == ("beam" if settings else "greedy")
        assert len(generation.nodes) == (len(expected.tree.nodes) if settings else 0)
        for step in generation.nodes:
            assert step.score is not None
            parent = None if step.parent is None else generation.nodes[step.parent].score
            assert_near(step.score, (parent or 0.0) + step.log_probability, layers=2)
        # What was generated step by step is what the recorded run finds likeliest.
        if settings is None:
            assert recording.output is not None
            assert recording.output.ids[:, 0].tolist()[: len(expected.ids)] == list(expected.ids)


def test_a_decoder_goes_on_writing_only_when_asked() -> None:
    network = build(shape="decoder")
    subject = load(network, WORDS)
    assert subject.record("the cat").source.ids.tolist() == [5, 6, 3]
    settings = GenerationSettings(max_new_tokens=3, min_new_tokens=3, sample=True, seed=4)
    recording = subject.record("the cat", decode=settings)
    assert recording.target is None
    assert recording.source.ids[:2].tolist() == [5, 6]
    assert len(recording.source) == 5  # the prompt without its end token, and three words
    assert recording.generation is not None
    assert recording.generation.method == "sampling"
    assert recording.maps[0].shape == (2, 5, 5)


@pytest.mark.parametrize("fails", [False, True], ids=["well", "with an error"])
@pytest.mark.parametrize("network", [build(), build_recurrent()], ids=["transformer", "recurrent"])
def test_the_network_is_left_as_it_was_found(
    network: Transformer | RecurrentTranslator, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    network.train()
    network.encoder.eval()  # type: ignore[union-attr]  # frozen, as people do
    handle = network.register_forward_hook(lambda module, inputs, output: None)
    before, weights = state_of(network), {name: each.clone() for name, each in network.state_dict().items()}
    random = torch.get_rng_state()
    subject = load(network, WORDS)
    if fails:

        def refuse(*_: Any, **__: Any) -> None:
            raise RecordingError("nothing fits")

        monkeypatch.setattr("glassformer.recorders.native.windows.measure", refuse)
        with pytest.raises(RecordingError, match="nothing fits"):
            subject.record(TEXT, "le chat", want=WANTS)
    else:
        subject.record(TEXT, want=WANTS)
    assert state_of(network) == before
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
    assert all(parameter.requires_grad and parameter.grad is None for parameter in network.parameters())
    assert all(torch.equal(weights[name], each) for name, each in network.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)
    handle.remove()


def test_threads_that_record_one_network_at_once_wait_for_each_other() -> None:
    subject = load(build(shape="decoder"), WORDS)
    texts = ["the cat", "the big dog sees", "red", "the cat sees the big red dog"]
    alone = [subject.record(text) for text in texts]
    found: dict[tuple[int, int], Recording] = {}
    barrier = threading.Barrier(len(texts))

    def work(number: int) -> None:
        barrier.wait()
        for turn in range(5):
            edits = [AblateHead("decoder", "self", 0, 1)] if turn == 2 else []
            recording = subject.record(texts[number], edits=edits)
            if not edits:
                found[number, turn] = recording

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 * len(texts)
    for (number, _), recording in found.items():
        for seen, wanted in zip(recording.maps, alone[number].maps, strict=True):
            assert np.array_equal(seen.weights(), wanted.weights())


@pytest.mark.slow
def test_a_compiled_network_is_recorded() -> None:
    network = build(shape="decoder").eval()
    expected = load(network, WORDS).record(TEXT)
    compiled = torch.compile(network, backend="aot_eager")
    with torch.no_grad():
        compiled(torch.tensor([[5, 6, 7]]))
    recording = load(compiled, WORDS).record(TEXT)
    assert np.array_equal(recording.maps[1].weights(), expected.maps[1].weights())


def test_the_self_check_sees_a_path_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    network = build()
    fused = network.encoder.block(0).attention._fused  # type: ignore[union-attr]
    monkeypatch.setattr(network.encoder.block(0).attention, "_fused", lambda *inputs: fused(*inputs) + 1)  # type: ignore[union-attr]
    evidence = load(network, WORDS).record(TEXT, "le chat").evidence
    assert evidence.largest_error is not None
    assert evidence.largest_error > 0.01
    assert not evidence.exact
    assert load(build(), WORDS).record(TEXT, "le chat").evidence.exact


def test_maps_that_no_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = load(build(shape="decoder"), WORDS)
    one_layer = 4 * 2 * 7 * 7  # bytes of its weights
    monkeypatch.setattr("glassformer.recorders.request.LARGEST_MAPS", one_layer)
    assert subject.record(TEXT, want=()).maps
    with pytest.raises(InputError, match="leave weights and scores out"):
        subject.record(TEXT)
