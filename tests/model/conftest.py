"""Pairs of networks with the same random weights, theirs and ours, whose answers vary in words and length."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.model.hypotheses import Hypothesis
from glassformer.model.prompt import pad_left
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.weights.checkpoint import adopt
from tolerances import assert_near

VOCABULARY = 43
PADDING, START, END = 0, 1, 2
LIMIT = 40
LENGTHS = (3, 7, 5, 9, 4)


@dataclass(frozen=True)
class Pair:
    """A `transformers` model, our network with its weights, and a padded batch for both."""

    theirs: Any
    ours: Transformer
    ids: Tensor
    real: Tensor

    def ask_theirs(self, **words: Any) -> Any:
        """What `transformers` generates, with its scores; padding is never an answer."""
        return self.theirs.generate(
            input_ids=self.ids,
            attention_mask=self.real.long(),
            do_sample=False,
            bad_words_ids=[[PADDING]],
            output_scores=True,
            return_dict_in_generate=True,
            **words,
        )

    def answer(self, sequence: Tensor) -> list[int]:
        """The new tokens of a row of theirs, up to the end token."""
        start = 1 if self.theirs.config.is_encoder_decoder else self.ids.shape[1]
        ids = sequence[start:].tolist()
        return ids[: ids.index(END) + 1] if END in ids else [token for token in ids if token != PADDING]

    def row(self, row: int) -> Tensor:
        """One text of the batch alone, without padding."""
        return self.ids[row : row + 1, self.real[row]]


def build_gpt2() -> Any:
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=LIMIT,
        n_embd=32,
        n_layer=2,
        n_head=4,
        bos_token_id=START,
        eos_token_id=END,
        pad_token_id=PADDING,
    )
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(16)  # fresh weights make flat distributions
        vector = model.transformer.wte.weight[END]
        model.transformer.ln_f.bias.copy_(
            2 * vector / vector.norm() ** 2
        )  # two more for the logit of the end
    return model


def build_marian() -> Any:
    config = transformers.MarianConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        max_position_embeddings=LIMIT,
        scale_embedding=True,
        pad_token_id=PADDING,
        bos_token_id=START,
        eos_token_id=END,
        decoder_start_token_id=PADDING,
        forced_eos_token_id=None,
    )
    torch.manual_seed(0)
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2 and "positions" not in name:
                parameter.mul_(10 if "shared" in name else 30 if ".fc" in name else 8)
        model.final_logits_bias[0, END] = 2.0
    return model


@functools.cache
def build_pair(family: str) -> Pair:
    theirs = {"gpt2": build_gpt2, "marian": build_marian}[family]()
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randint(3, VOCABULARY, (length,), generator=generator).tolist() for length in LENGTHS]
    ids, real = pad_left(rows, PADDING)
    if family == "marian":  # theirs knows padding on the right only
        order = real.long().argsort(dim=1, descending=True, stable=True)
        ids, real = ids.gather(1, order), real.gather(1, order)
    return Pair(theirs, adopt(theirs), ids, real)


@pytest.fixture(params=["gpt2", "marian"])
def pair(request: pytest.FixtureRequest) -> Pair:
    return build_pair(request.param)


KINDS: dict[str, dict[str, Any]] = {
    "decoder": {"shape": "decoder", "positions": "learned", "norm_position": "pre"},
    "rotary": {"shape": "decoder", "positions": "rotary"},
    "relative": {"shape": "decoder", "positions": "relative"},
    "alibi": {"shape": "decoder", "positions": "alibi"},
    "grouped": {
        "shape": "decoder",
        "positions": "rotary",
        "heads": 4,
        "key_heads": 2,
        "query_key_norm": True,
    },
    "one key head, window": {
        "shape": "decoder",
        "positions": "rotary",
        "heads": 4,
        "key_heads": 1,
        "window": 3,
    },
    "window, alibi, scale": {"shape": "decoder", "positions": "alibi", "window": 2, "score_scale": 0.7},
    "hard in a window": {"shape": "decoder", "best_keys": 2, "window": 4, "heads": 4, "key_heads": 2},
    "grouped translator": {
        "shape": "encoder-decoder",
        "positions": "alibi",
        "heads": 4,
        "key_heads": 2,
        "query_key_norm": True,
        "window": 3,
        "similarity": "bilinear",
    },
    "no positions": {"shape": "decoder", "positions": "none", "share_layers": True, "embedding_width": 8},
    "additive": {"shape": "decoder", "positions": "sinusoidal", "similarity": "additive"},
    "hard": {"shape": "decoder", "positions": "rotary", "best_keys": 2},
    "batch norm": {"shape": "decoder", "positions": "sinusoidal", "norm": "batch"},
    "translator": {"shape": "encoder-decoder", "decoder_layers": 1},
    "relative translator": {"shape": "encoder-decoder", "positions": "relative", "similarity": "cosine"},
    "basic translator": {"shape": "encoder-decoder", "basic_attention": True, "tie_embeddings": False},
}
RECURRENT: dict[str, dict[str, Any]] = {
    "gru, attention": {"context": "attention", "cell": "gru"},
    "lstm, fixed": {"context": "fixed", "cell": "lstm"},
}


@functools.cache
def build_network(kind: str) -> Transformer | RecurrentTranslator:
    """One of ours, random, with distributions that are not flat."""
    torch.manual_seed(3)
    ids = {"padding_id": PADDING, "start_id": START, "end_id": END, "max_length": LIMIT}
    network: Transformer | RecurrentTranslator
    if kind in RECURRENT:
        words = {"vocabulary_size": VOCABULARY, "width": 16, "embedding_width": 12, **RECURRENT[kind], **ids}
        network = RecurrentTranslator(RecurrentConfig(**words))
    else:
        words = {"vocabulary_size": VOCABULARY, "layers": 2, "width": 16, "heads": 2, "feed_forward": 32}
        network = Transformer(ModelConfig(**{**words, **KINDS[kind]}, **ids))
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() >= 2:
                parameter.mul_(
                    1.0 if kind == "batch norm" else 2.5
                )  # that norm has seen no batch: it does nothing
    return network.eval()


@pytest.fixture(params=[*KINDS, *RECURRENT])
def network(request: pytest.FixtureRequest) -> Transformer | RecurrentTranslator:
    return build_network(request.param)


@pytest.fixture
def decoder() -> Transformer:
    network = build_network("decoder")
    assert isinstance(network, Transformer)
    return network


@pytest.fixture
def translator() -> Transformer:
    network = build_network("translator")
    assert isinstance(network, Transformer)
    return network


@pytest.fixture
def rows() -> list[list[int]]:
    """Texts of different length."""
    generator = torch.Generator().manual_seed(5)
    return [torch.randint(3, VOCABULARY, (length,), generator=generator).tolist() for length in (4, 9, 2)]


@pytest.fixture
def check_same() -> Callable[[Hypothesis, Hypothesis], None]:
    """Holds two hypotheses to the same tokens, the same reason, and the same numbers to rounding."""

    def check(first: Hypothesis, second: Hypothesis) -> None:
        assert (first.ids, first.stopped) == (second.ids, second.stopped)
        assert_near(first.score, second.score, layers=2, scores=100)  # some have sharp attention
        assert_near(first.log_probabilities, second.log_probabilities, layers=2, scores=100)

    return check
