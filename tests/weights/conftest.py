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

    def ask(model: Any) -> torch.Tensor:
        both = "arian" in type(model).__name__ or getattr(model.config, "shape", "") == "encoder-decoder"
        padded = torch.where(real, ids, 0)  # GPT-2's classifier finds padding by its id
        with torch.no_grad():
            if hasattr(model, "from_pretrained"):
                given = {"decoder_input_ids": target} if both else {}
                output = model(padded, attention_mask=real.long(), **given)
                for name in ("prediction_logits", "logits", "last_hidden_state"):
                    if name in output:
                        result = output[name]
                        break
            else:
                result = model(padded, real, **({"target": target} if both else {}))
        return result if result.dim() == 2 or both else result[real]

    return ask
