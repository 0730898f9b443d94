"""Tiny models of `transformers`, one for each architecture that we know, random in every number."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

GPT2 = {"vocab_size": 61, "n_positions": 16, "n_embd": 12, "n_layer": 2, "n_head": 3, "bos_token_id": 1}
GPT2 |= {"eos_token_id": 2, "pad_token_id": 0}
BERT = {"vocab_size": 61, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
BERT |= {"intermediate_size": 20, "max_position_embeddings": 16}
ALBERT = {**BERT, "embedding_size": 8}
MARIAN = {
    "vocab_size": 61,
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "max_position_embeddings": 16,
}
MARIAN |= {
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
}
MARIAN |= {
    "pad_token_id": 60,
    "decoder_start_token_id": 60,
    "eos_token_id": 0,
    "activation_function": "swish",
}

VIT = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
VIT |= {"image_size": 8, "patch_size": 4}

WHISPER = {
    **{name: value for name, value in MARIAN.items() if name != "max_position_embeddings"},
    **{"num_mel_bins": 8, "max_source_positions": 50, "max_target_positions": 16},
    **{"bos_token_id": 0, "activation_function": "gelu", "begin_suppress_tokens": None},
}

SETTINGS: dict[str, tuple[type, dict[str, Any]]] = {
    "GPT2LMHeadModel": (transformers.GPT2Config, GPT2),
    "GPT2Model": (transformers.GPT2Config, GPT2),
    "GPT2ForSequenceClassification": (transformers.GPT2Config, {**GPT2, "num_labels": 3}),
    "BertForMaskedLM": (transformers.BertConfig, BERT),
    "BertForPreTraining": (transformers.BertConfig, BERT),
    "BertModel": (transformers.BertConfig, BERT),
    "BertForSequenceClassification": (transformers.BertConfig, {**BERT, "num_labels": 3}),
    "BertForTokenClassification": (transformers.BertConfig, {**BERT, "num_labels": 3}),
    "AlbertForMaskedLM": (transformers.AlbertConfig, ALBERT),
    "AlbertForPreTraining": (transformers.AlbertConfig, ALBERT),
    "AlbertModel": (transformers.AlbertConfig, ALBERT),
    "AlbertForSequenceClassification": (transformers.AlbertConfig, {**ALBERT, "num_labels": 3}),
    "AlbertForTokenClassification": (transformers.AlbertConfig, {**ALBERT, "num_labels": 3}),
    "MarianMTModel": (transformers.MarianConfig, {**MARIAN, "scale_embedding": True}),
    "ViTForImageClassification": (transformers.ViTConfig, {**VIT, "num_labels": 3}),
    "ViTModel": (transformers.ViTConfig, VIT),
    "WhisperForConditionalGeneration": (transformers.WhisperConfig, WHISPER),
}
ARCHITECTURES = tuple(SETTINGS)

Make = Callable[..., Any]


@pytest.fixture
def make() -> Make:
    """`make("BertModel", hidden_act="relu")`: a random model in eval mode."""

    def build(architecture: str, **changes: Any) -> Any:
        kind, settings = SETTINGS[architecture]
        torch.manual_seed(3)
        model = getattr(transformers, architecture)(kind(**(settings | changes)))
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.requires_grad:  # Marian's sines stay
                    parameter.add_(torch.randn_like(parameter), alpha=0.3)
            if hasattr(model, "final_logits_bias"):
                model.final_logits_bias.normal_()
        return model.eval()

    return build


@pytest.fixture(params=ARCHITECTURES)
def architecture(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def saved(make: Make, tmp_path: Path) -> Make:
    """`saved("GPT2Model")`: the folder of such a model, written by `transformers`."""

    def save(architecture: str, **changes: Any) -> Path:
        folder = tmp_path / architecture
        make(architecture, **changes).save_pretrained(folder)
        return folder

    return save


@pytest.fixture
def answer() -> Make:
    """`answer(network_or_model)`: what it makes of a batch with padding, at real tokens."""
    ids = torch.randint(3, 60, (2, 9), generator=torch.Generator().manual_seed(5))
    target = torch.randint(3, 60, (2, 6), generator=torch.Generator().manual_seed(6))
    real = torch.arange(9) < torch.tensor([[9], [6]])
    pixels = torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(7)) * 2 - 1

    samples = torch.randn(2, 16_000, generator=torch.Generator().manual_seed(8)) / 9  # a second each
    listen = transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1)
    heard = listen(list(samples.numpy()), sampling_rate=16_000, return_tensors="pt")["input_features"]

    def ask(model: Any) -> torch.Tensor:
        theirs = hasattr(model, "from_pretrained")
        senses = {"vit": "picture", "whisper": "sound"}
        reads = senses.get(model.config.model_type, "text") if theirs else model.config.reads
        both = model.config.is_encoder_decoder if theirs else model.config.shape == "encoder-decoder"
        padded = torch.where(real, ids, 0)  # GPT-2's classifier finds padding by its id
        with torch.no_grad():
            if theirs:
                given = {"decoder_input_ids": target} if both else {}
                inputs = {
                    "text": {"input_ids": padded, "attention_mask": real.long()},
                    "picture": {"pixel_values": pixels},
                    "sound": {"input_features": heard},
                }[reads]
                output = model(**inputs, **given)
                names = ("prediction_logits", "logits", "last_hidden_state")
                result = next(output[name] for name in names if name in output)
            else:
                given = {"target": target} if both else {}
                inputs = {"text": (padded, real), "picture": (pixels,), "sound": (samples,)}[reads]
                result = model(*inputs, **given)
        return result if result.dim() == 2 or both or reads != "text" else result[real]

    return ask
