"""Prompts: padded, checked, and refused with a sentence."""

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.generate import generate, stream
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.prompt import pad_left
from glassformer.model.transformer import Transformer

START = 1


@pytest.mark.parametrize(
    ("ids", "real", "message"),
    [
        (torch.zeros(1, 0, dtype=torch.long), None, "Is the text empty"),
        (torch.tensor([5, 6]), None, "expected .batch, token."),
        (torch.tensor([[5, 99]]), None, "Token id 99 is not in the vocabulary"),
        (torch.tensor([[5, 6]]), torch.tensor([[1, 1]]), "expected booleans"),
        (torch.tensor([[5, 6]]), torch.tensor([[True]]), "with the shape of the ids"),
        (torch.tensor([[5, 6], [7, 8]]), torch.tensor([[True] * 2, [False] * 2]), "nothing but padding"),
        (torch.tensor([[5, 6]]), torch.tensor([[True, False]]), "Pad prompts on the left"),
    ],
)
def test_a_prompt_that_cannot_be_read_is_refused(
    decoder: Transformer, ids: Tensor, real: Tensor | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        generate(decoder, ids, real)
    with pytest.raises(InputError, match=message):
        next(stream(decoder, ids, real))


def test_rows_without_tokens_are_refused() -> None:
    for rows in ([], [[]], [[3], []]):
        with pytest.raises(InputError, match="prompt is empty"):
            pad_left(rows)


def test_prefixes_are_checked(decoder: Transformer, translator: Transformer) -> None:
    ids = torch.tensor([[5, 6]])
    with pytest.raises(InputError, match="one prefix for each source"):
        generate(translator, ids, prefix=torch.tensor([[START], [START]]))
    with pytest.raises(InputError, match="Token id 50"):
        generate(translator, ids, prefix=torch.tensor([[50]]))
    with pytest.raises(InputError, match="Put the prefix into the prompt"):
        generate(decoder, ids, prefix=torch.tensor([[START]]))


def test_networks_that_cannot_generate_are_refused() -> None:
    ids = torch.tensor([[5, 6]])
    tiny: dict[str, Any] = {"vocabulary_size": 9, "width": 8, "heads": 2, "feed_forward": 8, "layers": 1}
    with pytest.raises(InputError, match="needs a decoder with head = 'language'"):
        generate(Transformer(ModelConfig(**tiny, shape="encoder", head="masked")), ids)
    with pytest.raises(InputError, match="needs a decoder with head = 'language'"):
        generate(Transformer(ModelConfig(**tiny, shape="decoder", head="none")), ids)
    with pytest.raises(InputError, match="has no start_id"):
        generate(Transformer(ModelConfig(**tiny, shape="encoder-decoder")), ids)
    settings = GenerationSettings(forbidden=(9,))
    with pytest.raises(InputError, match="contains token 9"):
        generate(Transformer(ModelConfig(**tiny, shape="decoder")), ids, settings=settings)
