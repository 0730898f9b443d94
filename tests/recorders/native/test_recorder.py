"""Recording our networks: the numbers are theirs, the maps are where they belong, nothing is left behind."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import glassformer
from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import CheckpointError, InputError, RecordingError
from glassformer.loaded.identity import Identity
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.messages import Message, message
from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.place import Place
from glassformer.recorders.edits import AblateHead, Edit, Scores, Weights
from glassformer.recorders.native import recorder as ours
from glassformer.recorders.record import record
from glassformer.recorders.request import WANTS
from glassformer.recording import Recording
from glassformer.rounding import rounding
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import save_checkpoint
from tolerances import assert_near, largest

ENGLISH = ["the", "cat", "sees", "dog", "red", "big"]
WORDS = build_words([*ENGLISH, "le", "chat", "voit", ">>fr<<"])
TEXT = "the cat sees the big dog"


def build(**words: Any) -> Transformer:
    """A tiny network whose heads differ: far from uniform, so that a mix-up shows."""
    settings: dict[str, Any] = {
        "layers": 2,
        "width": 16,
        "heads": 2,
        "feed_forward": 24,
        "max_length": 20,
        "start_id": 2,
        "end_id": 3,
        "dropout": 0.3,
        "attention_dropout": 0.3,
    }
    torch.manual_seed(1)
    network = Transformer(ModelConfig(vocabulary_size=WORDS.size, **{**settings, **words}))
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "attention.qkv" in name or "cross.q" in name or "cross.kv" in name:
                parameter.mul_(4)
    return network


def build_recurrent(context: str = "attention") -> RecurrentTranslator:
    torch.manual_seed(1)
    config = RecurrentConfig(
        vocabulary_size=WORDS.size,
        context=context,  # type: ignore[arg-type]
        width=8,
        embedding_width=6,
        layers=2,
        max_length=20,
        start_id=2,
        end_id=3,
    )
    return RecurrentTranslator(config)


def watch(window: nn.Module) -> list[Tensor]:
    seen: list[Tensor] = []
    window.register_forward_hook(lambda module, inputs, output: seen.append(output.detach()[0]))
    return seen


def names(recording: Recording) -> list[str]:
    return [each.name for each in recording.maps]


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


def test_scores_are_masked_and_explain_the_weights() -> None:
    recording = load(build(shape="decoder"), WORDS).record(TEXT, want=("weights", "scores"))
    assert names(recording) == ["decoder layer 0, self", "decoder layer 1, self"]
    for each in recording.maps:
        scores, statistics = each.scores(), each.statistics
        assert np.isneginf(scores[:, *np.triu_indices(7, 1)]).all()
        explained = np.exp(scores.astype(np.float64) - statistics.log_sum_exp[..., None])
        assert_near(each.weights(), explained)
        assert statistics.allowed[0].tolist() == [1, 2, 3, 4, 5, 6, 7]
        assert_near(statistics.mass, each.weights().sum(axis=1), layers=2)


def test_hidden_states_are_one_more_than_layers() -> None:
    for norm_position in ("pre", "post"):
        network = build(norm_position=norm_position).eval()
        recording = load(network, WORDS).record(TEXT, "le chat", want=("hidden",))
        source, target = (torch.tensor([side.ids.tolist()]) for side in (recording.source, recording.target))  # type: ignore[union-attr]
        with torch.no_grad():
            memory = network.encode(source)
            embedded = network.embeddings(source, network.positions(source, None))
            decoded = network.decode(target, memory=memory)
        assert recording.hidden["encoder"].shape == (3, 7, 16)
        assert recording.hidden["decoder"].shape == (3, 3, 16)
        assert_near(recording.hidden["encoder"][0], embedded[0])
        assert_near(recording.hidden["encoder"][-1], memory[0], layers=2)
        assert_near(recording.hidden["decoder"][-1], decoded[0], layers=2)
        assert not np.allclose(recording.hidden["encoder"][1], recording.hidden["encoder"][2])


def test_a_shared_block_is_numbered_by_its_calls() -> None:
    network = build(shape="encoder", layers=3, share_layers=True, head="masked", segments=2)
    recording = load(network, WORDS).record(TEXT, second_text="the cat", want=("weights", "hidden", "output"))
    assert names(recording) == [f"encoder layer {layer}, self" for layer in range(3)]
    assert recording.hidden["encoder"].shape == (4, 10, 16)
    assert not np.allclose(recording.maps[0].weights(), recording.maps[2].weights())
    assert recording.source.text == f"{TEXT}\nthe cat"
    assert recording.output is not None
    assert (recording.output.stack, recording.output.ids.shape) == ("encoder", (10, 10))
    alone = load(network, WORDS).record(f"{TEXT} </s> the cat", want=("weights",))
    assert alone.source.ids.tolist() == recording.source.ids.tolist()  # only the segments differ
    assert not np.allclose(alone.maps[0].weights(), recording.maps[0].weights())


def test_a_classifier_names_its_classes(tmp_path: Path) -> None:
    network = build(shape="encoder", head="classes", classes=3)
    save_checkpoint(network, tmp_path / "model", WORDS, labels=("bad", "fair", "good"))
    recording = load(tmp_path / "model").record(TEXT)
    assert recording.output is not None
    assert recording.output.kind == "classes"
    assert sorted(recording.output.texts(0)) == ["bad", "fair", "good"]
    assert_near(recording.output.probabilities.sum(), 1.0)
    nameless = load(network, WORDS).record(TEXT).output
    assert nameless is not None
    assert set(nameless.texts(0)) == {"class 0", "class 1", "class 2"}


def test_a_network_without_a_head_has_no_output() -> None:
    assert load(build(shape="encoder", head="none"), WORDS).record(TEXT).output is None


def test_recurrent_attention_is_one_cross_map() -> None:
    network = build_recurrent()
    recording = load(network, WORDS).record(TEXT, "le chat voit", want=WANTS)
    assert names(recording) == ["decoder layer 0, cross"]
    attention_map = recording.maps[0]
    assert attention_map.shape == (1, 4, 7)
    attention = network.eval().decoder.attention
    assert attention is not None
    seen, queries, keys = watch(attention.pattern), watch(attention.queries), watch(attention.keys)
    network(
        torch.tensor([recording.source.ids.tolist()]), target=torch.tensor([recording.target.ids.tolist()])
    )  # type: ignore[union-attr]
    assert_near(attention_map.weights(), torch.cat(seen, dim=1))
    assert_near(attention_map.queries, torch.cat(queries, dim=1))
    assert_near(attention_map.keys, keys[0])
    assert attention_map.scale is None
    assert recording.hidden["encoder"].shape == (1, 7, 8)
    assert recording.hidden["decoder"].shape == (1, 4, 8)
    assert tuple(map(str, recording.evidence.notes)) == (
        "Hidden states are those of the top recurrent layer.",
    )
    assert recording.output is not None


def test_a_fixed_context_has_nothing_to_show_and_says_so() -> None:
    recording = load(build_recurrent("fixed"), WORDS).record(TEXT, "le chat")
    assert recording.maps == ()
    assert "no attention to record" in str(recording.evidence.notes[0])
    assert recording.output is not None


KINDS: list[dict[str, Any]] = [
    *({"similarity": name} for name in ("dot", "cosine", "bilinear", "additive")),
    {"basic_attention": True},
    {"best_keys": 2},
    {"positions": "rotary"},
    {"positions": "relative"},
    {"norm": "batch"},
]


@pytest.mark.parametrize("words", KINDS, ids=str)
def test_every_kind_of_attention_is_recorded(words: dict[str, Any]) -> None:
    recording = load(build(**words), WORDS).record(TEXT, "le chat voit", want=("weights", "scores"))
    multipliers = {"similarity": None if words.get("similarity") == "additive" else 1.0}
    for each in recording.maps:
        shifted = each.scores().astype(np.float64) - each.statistics.log_sum_exp[..., None]
        explained = np.where(each.weights() > 0, np.exp(shifted), 0)
        assert_near(each.weights(), explained)
        assert each.scale == (multipliers["similarity"] if "similarity" in words else pytest.approx(8**-0.5))
    if "best_keys" in words:
        assert (recording.maps[0].weights() > 0).sum(axis=-1).max() == 2


def test_only_what_is_wanted_is_kept() -> None:
    subject = load(build(), WORDS)
    bare = subject.record(TEXT, "le chat", want=())
    assert bare.output is None
    assert not bare.hidden
    assert all(not each.has_weights and not each.has_scores and each.queries is None for each in bare.maps)
    assert bare.maps[0].statistics.entropy.shape == (2, 7)
    full = subject.record(TEXT, "le chat", want=WANTS)
    np.testing.assert_array_equal(full.maps[3].statistics.entropy, bare.maps[3].statistics.entropy)
    assert subject.record(TEXT, "le chat", want="keys").maps[0].keys is not None
    with pytest.raises(InputError, match="Did you mean 'weights'"):
        subject.record(TEXT, want=("weight",))


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


def test_ids_need_no_tokenizer() -> None:
    recording = record(build(), [5, 6, 7], [8, 9])
    assert recording.source.texts == ("5", "6", "7")
    assert recording.target is not None
    assert recording.target.texts == ("2", "8", "9")
    assert recording.model == "Transformer"
    with pytest.raises(InputError, match="without a tokenizer"):
        record(build(), TEXT)
    with pytest.raises(InputError, match="give both as text"):
        record(build(shape="encoder"), [5, 6], second_text="x")


def test_a_language_is_named_in_front() -> None:
    recording = load(build(), WORDS).record(TEXT, "le chat", target_language="fr")
    assert recording.source.texts[:2] == (">>fr<<", "the")
    assert recording.source.special[:2].tolist() == [True, False]
    assert recording.source.offsets is not None
    assert recording.source.offsets[1].tolist() == [0, 3]
    with pytest.raises(InputError, match="no token for the language 'de'"):
        load(build(), WORDS).record(TEXT, target_language="de")
    with pytest.raises(InputError, match="leave `source_language` out"):
        load(build(), WORDS).record(TEXT, source_language="en")


def state_of(network: nn.Module) -> list[tuple[bool, int, int]]:
    return [
        (each.training, len(each._forward_hooks), len(each._forward_pre_hooks)) for each in network.modules()
    ]


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


def test_a_compiled_network_is_recorded() -> None:
    network = build(shape="decoder").eval()
    expected = load(network, WORDS).record(TEXT)
    compiled = torch.compile(network, backend="aot_eager")
    with torch.no_grad():
        compiled(torch.tensor([[5, 6, 7]]))
    recording = load(compiled, WORDS).record(TEXT)
    assert np.array_equal(recording.maps[1].weights(), expected.maps[1].weights())


def test_recording_is_deterministic_and_without_dropout() -> None:
    network = build().train()
    subject = load(network, WORDS)
    one, two = subject.record(TEXT, "le chat"), subject.record(TEXT, "le chat")
    for first, second in zip(one.maps, two.maps, strict=True):
        np.testing.assert_array_equal(first.weights(), second.weights())
        assert_near(first.weights().sum(-1), 1, layers=2)


def test_evidence_says_which_model_and_how() -> None:
    network = build()
    subject = load(network, WORDS, name="tiny")
    recording = subject.record(TEXT, "le chat", want=("weights", "scores"))
    evidence = recording.evidence
    assert (evidence.model, str(evidence.kernel), evidence.dtype, evidence.exact) == (
        "tiny",
        "explicit",
        "float32",
        True,
    )
    assert evidence.largest_error is not None
    sharpest = max(largest(each.scores()) for each in recording.maps)
    assert evidence.largest_error < rounding(layers=2, summands=network.config.width, scores=sharpest)
    assert str(evidence.reference) == "the explicit path (weights of 7 tokens)"
    assert evidence.versions["torch"] == torch.__version__
    assert len(evidence.model_hash) == 64
    assert load(build(), WORDS).record(TEXT, "le chat").evidence.model_hash == evidence.model_hash


def test_the_self_check_sees_a_path_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    network = build()
    fused = network.encoder.block(0).attention._fused  # type: ignore[union-attr]
    monkeypatch.setattr(network.encoder.block(0).attention, "_fused", lambda *inputs: fused(*inputs) + 1)  # type: ignore[union-attr]
    evidence = load(network, WORDS).record(TEXT, "le chat").evidence
    assert evidence.largest_error is not None
    assert evidence.largest_error > 0.01
    assert not evidence.exact
    assert load(build(), WORDS).record(TEXT, "le chat").evidence.exact


def test_a_tokenizer_of_another_size_is_noted() -> None:
    network = build(shape="decoder")
    assert load(network, WORDS).record(TEXT).evidence.notes == ()
    [note] = load(network, build_words(["cat", "dog"])).record("the cat").evidence.notes
    assert f"the model {WORDS.size}: it may belong to another model" in str(note)
    [note] = load(network, build_words([*ENGLISH, *"abcdefgh"])).record("the cat").evidence.notes
    assert "it may belong to another model" in str(note)
    assert load(network).record([5, 6]).evidence.notes == ()


def test_the_hash_follows_every_change_of_the_weights() -> None:
    network = build()
    identity = Identity(network)
    first = identity.hash()
    weight = network.embeddings.tokens.weight
    original = weight.detach().clone()
    with torch.no_grad():
        weight[3, 3] += 1
    second = identity.hash()
    assert second != first
    weight.data.mul_(2)  # a change that torch does not count
    third = identity.hash()
    assert third not in (first, second)
    assert identity.hash() == third
    with torch.no_grad():
        weight.copy_(original)
    assert identity.hash() == first
    assert Identity(build(layers=1)).hash() != first


def test_the_hash_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = Identity(build())
    first = identity.hash()
    monkeypatch.setattr("glassformer.loaded.identity._hash", lambda weights: pytest.fail("read again"))
    assert identity.hash() == first


class Halve(Edit):
    """An edit after the softmax: half of everything."""

    changes = frozenset({"weights"})

    def change_weights(self, weights: Weights) -> None:
        for head in range(weights.heads):
            weights.replace(head, weights.rows(head) / 2)

    def as_message(self) -> Message:
        return message("toy.halve", default="every weight halved")


class Cut(Edit):
    """An edit before the softmax: nobody sees the first key of the source."""

    changes = frozenset({"scores"})

    def touches(self, place: Place) -> bool:
        return place == ("encoder", "self", 0, None)

    def change_scores(self, scores: Scores) -> None:
        scores.hide(key=0)

    def as_message(self) -> Message:
        return message("toy.cut", default="the first source token cut off")


def test_edits_act_and_are_stamped() -> None:
    network = build()
    subject = load(network, WORDS)
    before = state_of(network)
    plain = subject.record(TEXT, "le chat")
    halved = subject.record(TEXT, "le chat", edits=[Halve()])
    assert_near(halved.maps[0].weights(), plain.maps[0].weights() / 2)
    assert tuple(map(str, halved.evidence.edits)) == ("every weight halved",)
    assert str(halved.maps[0].relaxed) == "every weight halved"
    cut = subject.record(TEXT, "le chat", edits=[Cut()], want=("weights", "scores"))
    first = cut.maps[0]
    assert first.weights()[:, :, 0].max() == 0
    assert first.statistics.allowed.max() == 6
    assert first.relaxed is None
    assert_near(first.weights().sum(-1), 1, layers=2)
    assert cut.maps[1].statistics.allowed.max() == 7
    assert state_of(network) == before
    assert cut.evidence.largest_error == plain.evidence.largest_error  # the check is of the unedited model


def test_a_folder_is_loaded_with_its_tokenizer(tmp_path: Path) -> None:
    network = build()
    settings = GenerationSettings(beams=2, max_new_tokens=5)
    save_checkpoint(network, tmp_path / "tiny", WORDS, generation=settings)
    recording = record(tmp_path / "tiny", TEXT)
    assert recording.model == "tiny"
    assert recording.generation is not None
    assert recording.generation.method == "beam"  # as the folder says
    again = load(network, WORDS).record(TEXT, decode=replace(settings, alternatives=5))
    assert again.target is not None
    assert recording.target is not None
    assert recording.target.ids.tolist() == again.target.ids.tolist()
    assert recording.evidence.model_hash == again.evidence.model_hash
    assert load(str(tmp_path / "tiny"), name="mine").name == "mine"
    with pytest.raises(InputError, match="brings its own tokenizer"):
        load(tmp_path / "tiny", WORDS)
    with pytest.raises(CheckpointError, match="There is no folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match="zoo"):
        load("zoo/nothing-of-this-name")


def test_what_cannot_be_loaded_is_said() -> None:
    with pytest.raises(InputError, match="cannot be made of type dict"):
        load({})
    subject = load(build(), WORDS)
    assert isinstance(subject, LoadedModel)
    assert load(subject) is subject
    assert glassformer.load is load


@pytest.mark.parametrize("text", ["", "   ", "</s>"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="The text is empty"):
        load(build(), WORDS).record(text)


def test_bad_input_is_refused_in_words() -> None:
    subject = load(build(), WORDS)
    with pytest.raises(InputError, match=r"21 tokens, but this network has positions for 20"):
        subject.record("cat " * 20, "le")
    with pytest.raises(InputError, match=r"21 tokens, but this network has positions for 20"):
        subject.record("cat", "le " * 20)
    with pytest.raises(InputError, match="Does the tokenizer belong"):
        load(build(), build_words([*"abcdefghijklmnop"])).record("o p")
    with pytest.raises(InputError, match="Does the tokenizer belong"):
        load(build(), build_words([*"abcdefghijklmnop"])).record("a", "p")
    with pytest.raises(InputError, match="nothing to decode"):
        subject.record(TEXT, "le", decode=GenerationSettings())
    with pytest.raises(InputError, match="one stack and no target side"):
        load(build(shape="decoder"), WORDS).record(TEXT, "le")
    with pytest.raises(InputError, match=r"\(encoder\) cannot generate"):
        load(build(shape="encoder"), WORDS).record(TEXT, decode=GenerationSettings())
    with pytest.raises(InputError, match="segments"):
        load(build(shape="encoder", segments=1), WORDS).record(TEXT, second_text="cat")
    with pytest.raises(InputError, match="start_id"):
        load(build(start_id=None), WORDS).record(TEXT, "le")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (None, "of type NoneType"),
        (7, "of type int"),
        (b"cat", "of type bytes"),
        ({"ids": [1]}, "The inputs are named ids; expected `input_ids`"),
        (["cat"], "Among the token ids is 'cat'"),
        ([1.5], r"Among the token ids is '1\.5'"),
        ([True], "Among the token ids is 'True'"),
        (torch.tensor([[5, 6], [7, 8]]), "There are 2 rows of token ids"),
        ([-1], "Token id -1 is not in any vocabulary"),
        ([2**70], "is not in any vocabulary"),
    ],
)
def test_what_is_neither_text_nor_ids_is_said(inputs: Any, message: str) -> None:
    for subject in (load(build(shape="decoder"), WORDS), load(build(shape="decoder"))):
        with pytest.raises(InputError, match=message):
            subject.record(inputs)


def test_ids_may_be_an_array_and_special() -> None:
    subject = load(build(shape="decoder"), WORDS)
    for ids in ((5, 6), np.array([5, 6]), torch.tensor([5, 6])):
        assert subject.record(ids).source.ids.tolist() == [5, 6]
    end = WORDS.roles["end"]
    assert subject.record([end]).source.ids.tolist() == [end]  # who gives ids means these


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"want": None}, "`want` is None"),
        ({"want": 3}, "`want` is 3"),
        ({"edits": None}, "`edits` is None"),
        ({"edits": "zero"}, "`edits` is 'zero'"),
        ({"edits": AblateHead("decoder", "self", 0, 0)}, "give a list of edits, also for a single one"),
        ({"edits": [None]}, "None is not an edit"),
    ],
)
def test_requests_that_are_no_lists_are_said(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(build(shape="decoder"), WORDS).record(TEXT, **words)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_named(wrong: float) -> None:
    network = build()
    subject = load(network, WORDS)
    subject.record(TEXT, "le")
    with torch.no_grad():
        network.decoder.block(1).feed_forward.expand.weight[0, 0] = wrong  # type: ignore[union-attr]
    with pytest.raises(
        RecordingError, match=r"decoder\.layers\.1\.feed_forward\.expand\.weight holds 1 of 384"
    ):
        subject.record(TEXT, "le")


def test_maps_that_no_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = load(build(shape="decoder"), WORDS)
    monkeypatch.setattr(ours, "LARGEST_MAPS", 4 * 2 * 7 * 7)  # bytes of one layer's weights
    assert subject.record(TEXT, want=()).maps
    with pytest.raises(InputError, match="leave weights and scores out"):
        subject.record(TEXT)
